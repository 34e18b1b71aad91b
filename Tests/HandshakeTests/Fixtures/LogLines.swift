import Logging
import Synchronization

/// Collects each line of a log with its level and metadata.
final class LogLines: Sendable {
    private let lines = Mutex<[String]>([])
    private let level: Logger.Level

    init(_ level: Logger.Level = .trace) { self.level = level }

    var all: [String] { lines.withLock { $0 } }

    /// A logger that writes here.
    var logger: Logger {
        var log = Logger(label: "test") { _ in Handler(lines: self) }
        log.logLevel = level
        return log
    }

    func add(_ texts: [String]) { lines.withLock { $0 += texts } }

    /// The lines since the last call.
    func take() -> [String] {
        lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }

    private struct Handler: LogHandler {
        let lines: LogLines
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let pairs = (event.metadata ?? [:]).map { "\($0.key)=\($0.value)" }.sorted()
            lines.add([([event.level.rawValue, "\(event.message)"] + pairs).joined(separator: " ")])
        }
    }
}
