/// A measured signal strength, from -127 to -1 dBm (dossier 2.3).
public struct RSSI: Sendable, Hashable, Comparable {
    /// Decibels over one milliwatt.
    public let dBm: Int8

    /// Takes a receiver's value; nil when it is no measurement.
    ///
    /// 127 means "not available" and 0 "unknown"; other positive values and those below -127 are implausible.
    public init?(_ reported: Int) {
        guard (-127 ... -1).contains(reported) else { return nil }
        dBm = Int8(reported)
    }

    /// The value for "no measurement".
    public static let notAvailable = 127

    public static func < (left: RSSI, right: RSSI) -> Bool { left.dBm < right.dBm }
}

extension RSSI: CustomStringConvertible {
    public var description: String { "\(dBm) dBm" }
}
