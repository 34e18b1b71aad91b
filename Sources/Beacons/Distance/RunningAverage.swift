/// The average of recent samples without the extremes (dossier 5.1).
///
/// Of `n` samples, `n / 10 + 1` are dropped at either end if there are more than two. The average lags by the length of
/// the window; use five seconds where movement matters.
public struct RunningAverage: Sendable, Hashable {
    /// The maximum age of a sample.
    public let window: Duration
    /// The maximum number of samples; the oldest are dropped first.
    public static let maximumSamples = 256

    private var samples: [Sample] = []
    /// The index of the first valid sample; expired ones before it are removed in batches.
    private var first = 0

    private struct Sample: Sendable, Hashable {
        let time: Timestamp
        let rssi: RSSI
    }

    public init(window: Duration = .seconds(20)) {
        self.window = window
    }

    /// Adds a sample. Times must not decrease; ``Ranging`` ensures that.
    public mutating func add(_ rssi: RSSI, at time: Timestamp) {
        samples.append(Sample(time: time, rssi: rssi))
        dropOld(at: time)
    }

    /// The average in dBm; nil when all samples have expired.
    public mutating func value(at time: Timestamp) -> Double? {
        dropOld(at: time)
        let count = samples.count - first
        guard count > 0 else { return nil }
        // Counting 127 values is faster than sorting.
        var counts = [Int](repeating: 0, count: 128)
        for sample in samples[first...] { counts[Int(sample.rssi.dBm) + 128] += 1 }
        let dropped = count > 2 ? count / 10 + 1 : 0
        var left = dropped
        var kept = count - 2 * dropped
        var sum = 0
        for value in counts.indices where counts[value] > 0 {
            let skipped = min(left, counts[value])
            left -= skipped
            let taken = min(kept, counts[value] - skipped)
            kept -= taken
            sum += taken * (value - 128)
        }
        return Double(sum) / Double(count - 2 * dropped)
    }

    private mutating func dropOld(at time: Timestamp) {
        let oldest = time.advanced(by: .zero - window)
        while first < samples.count, samples[first].time < oldest || samples.count - first > Self.maximumSamples {
            first += 1
        }
        if first > Self.maximumSamples / 2 {
            samples.removeFirst(first)
            first = 0
        }
    }
}
