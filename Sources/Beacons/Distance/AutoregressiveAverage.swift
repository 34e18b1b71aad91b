/// A moving average that follows each sample by a part of the difference (dossier 5.1, ARMA).
///
/// Kept as a floating-point number: as an integer it would never fall by less than 10 dB.
public struct AutoregressiveAverage: Sendable, Hashable {
    /// The part of the difference that is followed, from 0 to 1; 0.25 to 0.5 suits slow senders.
    public let coefficient: Double
    /// The average in dBm; nil before the first sample.
    public private(set) var value: Double?

    /// - Parameter coefficient: more than 0 and at most 1; the nearest of these is taken, 0.1 for what is no number.
    public init(coefficient: Double = 0.1) {
        self.coefficient = coefficient.isNaN ? 0.1 : min(max(coefficient, 0.001), 1)
    }

    /// Takes a sample; the first is the average.
    public mutating func add(_ rssi: RSSI) {
        let sample = Double(rssi.dBm)
        value = value.map { $0 - coefficient * ($0 - sample) } ?? sample
    }
}
