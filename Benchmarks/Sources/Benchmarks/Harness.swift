import Dispatch
import Foundation

/// One thing that is measured: a name to select it by, and a run that gives figures.
struct Benchmark: Sendable {
    let name: String
    let summary: String
    /// Whether it measures a program that has to be named: then it runs only with one.
    let needsCommand: Bool
    let run: @Sendable (Options) async throws -> [Figure]

    init(
        name: String, summary: String, needsCommand: Bool = false,
        run: @escaping @Sendable (Options) async throws -> [Figure]
    ) {
        self.name = name
        self.summary = summary
        self.needsCommand = needsCommand
        self.run = run
    }
}

/// What a figure has to reach. A median is held against it, or every single sample where it must be exact.
enum Reach: Sendable {
    case atMost(Double)
    case atLeast(Double)
    case exactly(Double)
}

/// Repeated samples of one quantity, and what they have to reach; without a reach they are there for comparison.
struct Figure: Sendable {
    let what: String
    let unit: String
    let reach: Reach?
    /// The samples, smallest first.
    let samples: [Double]

    init(_ what: String, _ unit: String, _ reach: Reach? = nil, samples: [Double]) {
        precondition(!samples.isEmpty, "a figure needs a sample")
        self.what = what
        self.unit = unit
        self.reach = reach
        self.samples = samples.sorted()
    }

    var median: Double { percentile(50) }

    /// The smallest sample that at least so many percent of all do not exceed; between the two middle ones for the median.
    func percentile(_ percent: Double) -> Double {
        let rank = percent / 100 * Double(samples.count - 1)
        let below = samples[Int(rank)]
        let above = samples[min(Int(rank) + 1, samples.count - 1)]
        return below + (above - below) * (rank - rank.rounded(.down))
    }

    /// Whether the reach was met; nil without one.
    var isMet: Bool? {
        switch reach {
        case nil: nil
        case .atMost(let limit): median <= limit
        case .atLeast(let limit): median >= limit
        case .exactly(let value): samples.allSatisfy { $0 == value }
        }
    }
}

/// Takes samples: some to warm up, which are thrown away, then those that count.
func samples<Sample>(
    _ count: Int, warmUp: Int = 1, _ take: () async throws -> Sample
) async rethrows -> [Sample] {
    for _ in 0..<warmUp { _ = try await take() }
    var samples: [Sample] = []
    for _ in 0..<count { samples.append(try await take()) }
    return samples
}

/// The seconds that `body` takes on the wall clock.
func seconds(_ body: () async throws -> Void) async rethrows -> Double {
    let start = monotonicSeconds()
    try await body()
    return monotonicSeconds() - start
}

/// Seconds on a clock that all processes of the machine share and that is never set.
func monotonicSeconds() -> Double {
    Double(DispatchTime.now().uptimeNanoseconds) / 1e9
}

/// The processor time that this process has used, in seconds: what others do on the machine is not in it, nor is waiting.
func processorSeconds() -> Double {
    // POSIX fixes the unit at a millionth of a second.
    Double(clock()) / 1_000_000
}

/// The figures of one benchmark, as people and as programs read them.
struct Report {
    let benchmark: Benchmark
    let figures: [Figure]

    /// One line a figure: what, median, 10th to 90th percentile, reach, verdict.
    var text: String {
        let rows = figures.map { figure in
            [
                "  " + figure.what, Self.number(figure.median) + " " + figure.unit,
                "(" + Self.number(figure.percentile(10)) + " – " + Self.number(figure.percentile(90)) + ")",
                Self.text(of: figure.reach), figure.isMet.map { $0 ? "met" : "MISSED" } ?? "",
            ]
        }
        let widths = (0..<5).map { column in rows.map { $0[column].count }.max() ?? 0 }
        let lines = rows.map { row in
            zip(row, widths).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }
                .joined(separator: "  ").replacing(/\s+$/, with: "")
        }
        return ([benchmark.name + ": " + benchmark.summary] + lines).joined(separator: "\n")
    }

    /// The same as values that JSON knows.
    var json: [[String: Any]] {
        figures.map { figure in
            var row: [String: Any] = [
                "benchmark": benchmark.name, "what": figure.what, "unit": figure.unit, "median": figure.median,
                "p10": figure.percentile(10), "p90": figure.percentile(90), "samples": figure.samples.count,
            ]
            switch figure.reach {
            case .atMost(let limit): row["at_most"] = limit
            case .atLeast(let limit): row["at_least"] = limit
            case .exactly(let value): row["exactly"] = value
            case nil: break
            }
            row["met"] = figure.isMet
            return row
        }
    }

    private static func text(of reach: Reach?) -> String {
        switch reach {
        case .atMost(let limit): "at most " + number(limit)
        case .atLeast(let limit): "at least " + number(limit)
        case .exactly(let value): "always " + number(value)
        case nil: ""
        }
    }

    /// Three significant digits below a thousand, whole numbers with separators above.
    private static func number(_ value: Double) -> String {
        switch abs(value) {
        case 0: return "0"
        case ..<1_000:
            let digits = max(0, 2 - Int(log10(abs(value)).rounded(.down)))
            let text = String(format: "%.\(digits)f", value)
            return text.contains(".") ? text.replacing(/\.?0+$/, with: "") : text
        default:
            var digits = Array(String(format: "%.0f", abs(value)))
            for place in stride(from: digits.count - 3, to: 0, by: -3) { digits.insert(",", at: place) }
            return (value < 0 ? "-" : "") + String(digits)
        }
    }
}
