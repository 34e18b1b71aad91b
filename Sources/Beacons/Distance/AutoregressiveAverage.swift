/// An autoregressive moving average (dossier 5.1, ARMA). It moves towards each sample by a fraction of the difference.
///
/// A floating-point number: an integer would never fall by less than 10 dB.
public struct AutoregressiveAverage: Sendable, Hashable {
    /// The fraction of the difference, from 0 to 1; 0.25 to 0.5 suits slow senders.
    public let coefficient: Double
    /// The average in dBm; nil before the first sample.
    public private(set) var value: Double?

    /// Creates an average without a sample.
    ///
    /// - Parameter coefficient: more than 0 and at most 1; clamped to that range, and 0.1 for NaN.
    public init(coefficient: Double = 0.1) {
        self.coefficient = coefficient.isNaN ? 0.1 : min(max(coefficient, 0.001), 1)
    }

    /// Adds a sample; the first one is the average.
    public mutating func add(_ rssi: RSSI) {
        let sample = Double(rssi.dBm)
        value = value.map { $0 - coefficient * ($0 - sample) } ?? sample
    }
}
