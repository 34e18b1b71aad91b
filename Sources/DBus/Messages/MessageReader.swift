/// Makes messages of a stream of bytes that comes in pieces of any size.
///
/// It holds at most one incomplete message and the last piece. Once it has thrown, the stream is lost: there is no way to
/// find the next message.
struct MessageReader: Sendable {
    private var buffer: [UInt8] = []
    private var position = 0
    private let limit: Int

    /// Messages of more than `limit` bytes are refused before they are held; values in memory can take some twenty times the
    /// bytes that they have on the wire.
    init(limit: Int = Message.maximumLength) {
        self.limit = limit
    }

    /// Adds the next piece.
    mutating func append(_ bytes: some Collection<UInt8>) {
        if position > 0 {
            buffer.removeFirst(position)
            position = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// The next message, or nil when more bytes are needed. Messages of unknown kinds are skipped.
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

    /// Whether a message has begun that is not complete.
    var isInsideMessage: Bool {
        buffer.count > position
    }
}
