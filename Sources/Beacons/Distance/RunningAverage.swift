/// The average of what was measured lately, without the extremes (dossier 5.1).
///
/// Of `n` samples `n / 10 + 1` are left out at either end when there are more than two. Twenty seconds of samples make it
/// lag by as much; take five where movement matters.
public struct RunningAverage: Sendable, Hashable {
    /// How old a sample may be.
    public let window: Duration
    /// The most samples that are kept; older ones go first.
    public static let mostSamples = 256

    private var samples: [Sample] = []
    /// Where the first sample that counts is; those before it go together, now and then.
    private var first = 0

    private struct Sample: Sendable, Hashable {
        let time: Timestamp
        let rssi: RSSI
    }

    public init(window: Duration = .seconds(20)) {
        self.window = window
    }

    /// Takes a sample. Times must not go back; ``Ranging`` sees to that.
    public mutating func add(_ rssi: RSSI, at time: Timestamp) {
        samples.append(Sample(time: time, rssi: rssi))
        dropOld(at: time)
    }

    /// The average in dBm; nil when all samples are too old.
    public mutating func value(at time: Timestamp) -> Double? {
        dropOld(at: time)
        let count = samples.count - first
        guard count > 0 else { return nil }
        // A count for each of 127 values is quicker than sorting.
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
        while first < samples.count, samples[first].time < oldest || samples.count - first > Self.mostSamples {
            first += 1
        }
        if first > Self.mostSamples / 2 {
            samples.removeFirst(first)
            first = 0
        }
    }
}
