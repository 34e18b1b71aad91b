import Synchronization
import Testing

@testable import DBus

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The other end of a connection, which does what its test says.
final class ScriptedPeer: Sendable {
    static let guid = "0123456789abcdef0123456789abcdef"

    private let stream: ByteStream
    private let pieces: AsyncStream<[UInt8]>
    private let state = Mutex((reader: MessageReader(), serial: UInt32(1000)))

    init(owning descriptor: CInt) throws {
        stream = try ByteStream(owning: descriptor)
        let (pieces, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        self.pieces = pieces
        stream.start(received: { continuation.yield($0) }, ended: { _ in continuation.finish() })
    }

    deinit {
        stream.close()
    }

    /// Two connected sockets.
    static func sockets() throws -> (CInt, CInt) {
        #if canImport(Glibc)
        let kind = CInt(SOCK_STREAM.rawValue)
        #else
        let kind = SOCK_STREAM
        #endif
        var ends: [CInt] = [-1, -1]
        try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
        return (ends[0], ends[1])
    }

    /// A connection that has said hello, and its peer.
    static func connected(
        clock: any Clock<Duration> = ContinuousClock(), messageLimit: Int = 1 << 20
    ) async throws -> (Connection, ScriptedPeer) {
        let (ours, theirs) = try sockets()
        let peer = try ScriptedPeer(owning: theirs)
        async let connection = Connection.open(
            owning: ours, guid: nil, options: .init(messageLimit: messageLimit, clock: clock))
        try await peer.welcome()
        return (try await connection, peer)
    }

    /// Lets the client in and answers its hello.
    func welcome() async throws {
        try await authenticate()
        let hello = try await next()
        #expect(hello.content == .call(path: "/org/freedesktop/DBus", interface: .bus, member: "Hello"))
        try reply(to: hello, [":1.7"])
    }

    /// Says what a bus says to `AUTH EXTERNAL`.
    func authenticate(guid: String = guid) async throws {
        #expect(try await piece().first == 0)
        try send(raw: Array("OK \(guid)\r\n".utf8))
        let begin = Array("BEGIN\r\n".utf8)
        let piece = try await piece()
        #expect(piece.starts(with: begin))
        // The first message may have come along.
        state.withLock { $0.reader.append(piece.dropFirst(begin.count)) }
    }

    /// The next bytes; a piece is what one send of the client gave, as long as it waits for answers.
    func piece() async throws -> [UInt8] {
        var iterator = pieces.makeAsyncIterator()
        return try #require(await iterator.next(), "the client closed the connection")
    }

    /// The next message of the client.
    func next() async throws -> Message {
        while true {
            if let message = try state.withLock({ state in Result { try state.reader.next() } }).get() {
                return message
            }
            let piece = try await piece()
            state.withLock { $0.reader.append(piece) }
        }
    }

    /// Returns when the client has closed the connection.
    func waitForEnd() async {
        for await _ in pieces {}
    }

    func send(raw bytes: [UInt8]) throws {
        try stream.send(bytes)
    }

    func send(_ content: Message.Content, _ body: [Value] = [], sender: BusName? = .bus) throws {
        var message = Message(content, serial: nextSerial(), body: body)
        message.sender = sender
        try send(raw: try message.encoded())
    }

    func reply(to call: Message, _ body: [Value] = [], sender: BusName? = nil) throws {
        try send(.reply(to: call.serial), body, sender: sender)
    }

    func signal(_ member: MemberName, _ body: [Value] = [], sender: BusName = ":1.9") throws {
        try send(.signal(path: "/a", interface: "org.example.Thing", member: member), body, sender: sender)
    }

    func close() {
        stream.close()
    }

    private func nextSerial() -> UInt32 {
        state.withLock { state in
            state.serial += 1
            return state.serial
        }
    }
}
