#if CommandLine
import Logging
import OAuth

/// Shows what the libraries log as notes of the command: a sentence, without time and level.
struct NoteLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.notice

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        Output.note(Self.sentence(event.message, metadata.merging(event.metadata ?? [:]) { $1 }))
    }

    /// “The grant could not be revoked (account: github, reason: timeout).”
    static func sentence(_ message: Logger.Message, _ metadata: Logger.Metadata) -> String {
        let text = "\(message)"
        let details = metadata.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
        return text.prefix(1).uppercased() + text.dropFirst() + (details.isEmpty ? "." : " (\(details)).")
    }
}
#endif
