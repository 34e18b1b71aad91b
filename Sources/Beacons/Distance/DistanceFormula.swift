#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Estimates a distance from a signal strength (dossier 5.2). Use it for order and ``Proximity``, not as metres.
public enum DistanceFormula: Sendable, Hashable {
    /// The logarithmic model: `10 ^ ((power − rssi) / (10 · exponent))`. The exponent is 2.0 in free space, 2.5 as a
    /// rule, 3 to 4 in crowded rooms.
    case logDistance(exponent: Double)
    /// `(rssi / power) ^ 10` below a ratio of 1, and `a · ratio ^ b + c` from there on.
    case curveFit(a: Double, b: Double, c: Double)

    /// Logarithmic with an exponent of 2.5.
    public static let standard = DistanceFormula.logDistance(exponent: 2.5)
    /// AltBeacon's current curve.
    public static let altBeacon = DistanceFormula.curveFit(a: 0.42093, b: 6.9476, c: 0.54992)

    /// The signal strength at 1 m that is assumed of senders that state none: −59 dBm.
    ///
    /// Phones and adapters differ from it by 10 dB and more, which is a factor of 2.5 in the distance.
    static let nominalPower = RSSI(-59)

    /// A rough distance in metres, for a sender that states no power at 1 m. Use it for order and ``Proximity`` only.
    ///
    /// - Parameter rssi: dBm, as filtered; nil when it was not measured.
    /// - Returns: nil when unknown.
    package func roughMetres(rssi: Double?) -> Double? {
        rssi.flatMap { metres(rssi: $0, powerAtOneMetre: Self.nominalPower) }
    }

    /// The distance in metres.
    ///
    /// - Parameters:
    ///   - rssi: dBm, as filtered.
    ///   - power: the expected signal strength at 1 m; nil when the beacon is not calibrated.
    /// - Returns: nil when unknown: without a power, with an `rssi` of 0 or above, or when the formula gives no number.
    public func metres(rssi: Double, powerAtOneMetre power: RSSI?) -> Double? {
        guard let power, rssi < 0 else { return nil }
        let reference = Double(power.dBm)
        let metres: Double
        switch self {
        case .logDistance(let exponent):
            guard exponent > 0 else { return nil }
            metres = pow(10, (reference - rssi) / (10 * exponent))
        case .curveFit(let a, let b, let c):
            let ratio = rssi / reference
            metres = ratio < 1 ? pow(ratio, 10) : a * pow(ratio, b) + c
        }
        return metres.isFinite && metres >= 0 ? metres : nil
    }
}
