/// Splits a stream of bytes into messages.
///
/// It holds at most one incomplete message and the last chunk. After an error the stream is lost, because the start of the
/// next message is unknown.
struct MessageReader: Sendable {
    private var buffer: [UInt8] = []
    private var position = 0
    private let limit: Int

    /// Longer messages than `limit` are rejected before they are buffered; decoded values can take about twenty times their
    /// length on the wire.
    init(limit: Int = Message.maximumLength) {
        self.limit = limit
    }

    /// Appends a chunk.
    mutating func append(_ bytes: some Collection<UInt8>) {
        if position > 0 {
            buffer.removeFirst(position)
            position = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// The next message, or nil when more bytes are needed. Skips messages of unknown types.
    ///
    /// - Throws: ``DBusError/malformed(offset:problem:)`` or ``DBusError/tooLarge(what:limit:)``
    mutating func next() throws(DBusError) -> Message? {
        while buffer.count - position >= HeaderReader.length {
            let header = try HeaderReader(Array(buffer[position..<position + HeaderReader.length]))
            guard header.totalLength <= limit else { throw .tooLarge(what: "a message", limit: limit) }
            guard buffer.count - position >= header.totalLength else { return nil }
            let bytes = Array(buffer[position..<position + header.totalLength])
            position += header.totalLength
            if let message = try Message(decoding: bytes) { return message }
        }
        return nil
    }
}
