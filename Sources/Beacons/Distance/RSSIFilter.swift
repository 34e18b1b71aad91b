/// Smooths fluctuating signal strengths (dossier 5.1).
public enum RSSIFilter: Sendable, Hashable {
    case runningAverage(RunningAverage)
    case autoregressive(AutoregressiveAverage)

    /// The average of the last twenty seconds.
    public static let standard = RSSIFilter.runningAverage(RunningAverage())
    /// The average of the last five seconds, for moving beacons.
    public static let quick = RSSIFilter.runningAverage(RunningAverage(window: .seconds(5)))

    /// Adds a sample.
    mutating func add(_ rssi: RSSI, at time: Timestamp) {
        switch self {
        case .runningAverage(var average):
            // Released first, so that the samples are not copied.
            self = .autoregressive(AutoregressiveAverage())
            average.add(rssi, at: time)
            self = .runningAverage(average)
        case .autoregressive(var average):
            average.add(rssi)
            self = .autoregressive(average)
        }
    }

    /// The filtered signal strength in dBm; nil without a recent sample.
    mutating func value(at time: Timestamp) -> Double? {
        switch self {
        case .runningAverage(var average):
            self = .autoregressive(AutoregressiveAverage())
            defer { self = .runningAverage(average) }
            return average.value(at: time)
        case .autoregressive(let average): return average.value
        }
    }
}
