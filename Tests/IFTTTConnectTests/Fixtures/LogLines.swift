import Logging
import Synchronization

/// Collects each line of a log with its level and metadata.
final class LogLines: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    /// A logger that writes here, at the finest level.
    var logger: Logger {
        var log = Logger(label: "test") { _ in Handler(lines: self) }
        log.logLevel = .trace
        return log
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
            lines.lines.withLock {
                $0.append(([event.level.rawValue, "\(event.message)"] + pairs).joined(separator: " "))
            }
        }
    }
}
