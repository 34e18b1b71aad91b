#if Server && Sandbox
import CoreMetrics
import Synchronization

/// The figures of a process, in Prometheus' text form (version 0.0.4).
///
/// It is all that this example needs. An app of your own takes a package for its monitoring, such as swift-prometheus or swift-otel.
final class PrometheusFigures: MetricsFactory {
    /// A figure with its labels.
    fileprivate struct Key: Hashable {
        let name: String
        let labels: [String]

        init(_ label: String, _ dimensions: [(String, String)]) {
            name = PrometheusFigures.name(label)
            labels = dimensions.map { "\(PrometheusFigures.name($0.0))=\"\(PrometheusFigures.escaped($0.1))\"" }
        }

        func text(_ suffix: String = "", _ more: [String] = []) -> String {
            let all = labels + more
            return name + suffix + (all.isEmpty ? "" : "{\(all.joined(separator: ","))}")
        }
    }

    fileprivate struct Histogram {
        static let bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
        var counts = [Int](repeating: 0, count: bounds.count)
        var count = 0
        var sum = 0.0

        mutating func record(_ value: Double) {
            for (index, bound) in Self.bounds.enumerated() where value <= bound { counts[index] += 1 }
            count += 1
            sum += value
        }
    }

    fileprivate struct Values {
        var counters: [Key: Int64] = [:]
        var gauges: [Key: Double] = [:]
        var histograms: [Key: Histogram] = [:]
    }

    fileprivate let values = Mutex(Values())

    /// What a scrape gets.
    var text: String {
        let values = values.withLock { $0 }
        var lines: [String] = []
        func add(_ names: some Collection<Key>, _ type: String, _ body: (Key) -> [String]) {
            for (name, keys) in Dictionary(grouping: names, by: \.name).sorted(by: { $0.key < $1.key }) {
                lines.append("# TYPE \(name) \(type)")
                lines += keys.sorted { $0.text() < $1.text() }.flatMap(body)
            }
        }
        add(values.counters.keys, "counter") { ["\($0.text()) \(values.counters[$0] ?? 0)"] }
        add(values.gauges.keys, "gauge") { ["\($0.text()) \(values.gauges[$0] ?? 0)"] }
        add(values.histograms.keys, "histogram") { key in
            let histogram = values.histograms[key] ?? Histogram()
            let buckets = zip(Histogram.bounds, histogram.counts).map { bound, count in
                "\(key.text("_bucket", ["le=\"\(bound)\""])) \(count)"
            }
            return buckets + [
                "\(key.text("_bucket", ["le=\"+Inf\""])) \(histogram.count)",
                "\(key.text("_sum")) \(histogram.sum)", "\(key.text("_count")) \(histogram.count)",
            ]
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private static func name(_ text: String) -> String {
        String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    }

    /// By scalars: a quotation mark with an accent, and a carriage return with a line feed, are other characters than those.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n": result += "\\n"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        let handler = Handler(self, Key(label, dimensions))
        values.withLock { $0.counters[handler.key] = $0.counters[handler.key] ?? 0 }
        return handler
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        Handler(self, Key(label, dimensions), isAggregated: aggregate)
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        Handler(self, Key(label, dimensions))
    }

    // A process keeps its figures.
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}

/// One figure, which writes into the table of all.
private final class Handler: CounterHandler, RecorderHandler, TimerHandler {
    private let figures: PrometheusFigures
    let key: PrometheusFigures.Key
    private let isAggregated: Bool

    init(_ figures: PrometheusFigures, _ key: PrometheusFigures.Key, isAggregated: Bool = false) {
        (self.figures, self.key, self.isAggregated) = (figures, key, isAggregated)
    }

    func increment(by amount: Int64) { figures.values.withLock { $0.counters[key, default: 0] += amount } }
    func reset() { figures.values.withLock { $0.counters[key] = 0 } }
    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        figures.values.withLock { values in
            guard isAggregated else {
                values.gauges[key] = value
                return
            }
            values.histograms[key, default: PrometheusFigures.Histogram()].record(value)
        }
    }

    func recordNanoseconds(_ duration: Int64) {
        figures.values.withLock { values in
            values.histograms[key, default: PrometheusFigures.Histogram()].record(Double(duration) / 1e9)
        }
    }
}
#endif
