import AsyncSupport
import TestFixtures
import Testing

@testable import DBus

@Suite("Calls", .heavy)
struct CallTests {
    static let call = MethodCall("Get", in: "org.example.Thing", of: "/a", at: "org.example", arguments: ["x"])

    @Test("a call gives its results")
    func results() async throws {
        let (connection, peer) = try await ScriptedPeer.connected()
        #expect(connection.uniqueName == ":1.7")
        let answer = Task { try await connection.call(Self.call) }
        let message = try await peer.next()
        #expect(message.content == .call(path: "/a", interface: "org.example.Thing", member: "Get"))
        #expect(message.destination == "org.example")
        #expect(message.body == ["x"])
        try peer.reply(to: message, [.uint32(5)])
        #expect(try await answer.value.read(UInt32.self) == 5)
    }

    @Test("an error of the peer is thrown with its name, and shown without control characters")
    func remoteError() async throws {
        let (connection, peer) = try await ScriptedPeer.connected()
        let answer = Task { try await connection.call(Self.call) }
        let message = try await peer.next()
        try peer.send(.error(name: "org.example.Error.No", replyTo: message.serial), ["a\u{1B}[2Jb\n\u{202E}c"])
        let error = await #expect(throws: DBusError.self) { try await answer.value }
        #expect(error == .remote(RemoteError("org.example.Error.No", "a\u{1B}[2Jb\n\u{202E}c")))
        #expect(error?.description == #"org.example.Error.No: a\u{1b}[2Jb\u{a}\u{202e}c"#)
    }

    @Test("a call without an answer times out, and a late answer is dropped")
    func timeout() async throws {
        let clock = ManualClock()
        let (connection, peer) = try await ScriptedPeer.connected(clock: clock)
        let late = Task { try await connection.call(Self.call, timeout: .seconds(3)) }
        let first = try await peer.next()
        await clock.sleeper(for: .seconds(3))
        clock.advance(by: .seconds(3))
        await #expect(throws: DBusError.timeout(of: "org.example.Thing.Get of org.example")) { try await late.value }
        let answer = Task { try await connection.call(Self.call) }
        let second = try await peer.next()
        try peer.reply(to: first, ["late"])
        try peer.reply(to: second, ["fresh"])
        #expect(try await answer.value == ["fresh"])
        #expect(connection.ending == nil)
    }

    @Test("a cancelled call ends immediately, and its late reply is dropped")
    func cancellation() async throws {
        let (connection, peer) = try await ScriptedPeer.connected()
        let task = Task { try await connection.call(Self.call) }
        let first = try await peer.next()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let answer = Task { try await connection.call(Self.call) }
        let second = try await peer.next()
        try peer.reply(to: first, ["late"])
        try peer.reply(to: second, ["fresh"])
        #expect(try await answer.value == ["fresh"])
    }

    @Test("a call of a task that is cancelled already ends too")
    func cancelledBefore() async throws {
        let (connection, peer) = try await ScriptedPeer.connected()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await connection.call(Self.call)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        _ = peer
    }

    @Test("a second answer to one call changes nothing")
    func answeredTwice() async throws {
        let (connection, peer) = try await ScriptedPeer.connected()
        let first = Task { try await connection.call(Self.call) }
        let message = try await peer.next()
        try peer.send(.error(name: "a.b", replyTo: message.serial), ["no"])
        try peer.reply(to: message, ["yes"])
        await #expect(throws: DBusError.remote(RemoteError("a.b", "no"))) { try await first.value }
        let second = Task { try await connection.call(Self.call) }
        try peer.reply(to: try await peer.next(), ["fine"])
        #expect(try await second.value == ["fine"])
    }

    @Test("answers may come in any order")
    func order() async throws {
        let (connection, peer) = try await ScriptedPeer.connected()
        let one = Task { try await connection.call(Self.call) }
        let first = try await peer.next()
        let two = Task { try await connection.call(Self.call) }
        let second = try await peer.next()
        try peer.reply(to: second, ["2"])
        try peer.reply(to: first, ["1"])
        #expect(try await (one.value, two.value) == (["1"], ["2"]))
    }

    @Test("a stranger cannot answer for a peer that was called by its unique name")
    func forgedAnswer() async throws {
        let (connection, peer) = try await ScriptedPeer.connected()
        let answer = Task { try await connection.call(MethodCall("Get", in: "a.b", of: "/", at: ":1.9")) }
        let message = try await peer.next()
        try peer.reply(to: message, ["forged"], sender: ":1.66")
        try peer.reply(to: message, ["true"], sender: ":1.9")
        #expect(try await answer.value == ["true"])
    }

    @Test("the end of the connection ends every call that waits")
    func lost() async throws {
        let (connection, peer) = try await ScriptedPeer.connected()
        let one = Task { try await connection.call(Self.call) }
        let two = Task { try await connection.call(Self.call) }
        _ = try await (peer.next(), peer.next())
        peer.close()
        let lost = DBusError.connectionLost(reason: "the peer closed the connection")
        await #expect(throws: lost) { try await one.value }
        await #expect(throws: lost) { try await two.value }
        await connection.waitForEnd()
        #expect(connection.ending == lost)
        await #expect(throws: lost) { try await connection.call(Self.call) }
    }

    @Test("the end inside of a message is an end like any other")
    func endInside() async throws {
        let (connection, peer) = try await ScriptedPeer.connected()
        let answer = Task { try await connection.call(Self.call) }
        let reply = try Message(.reply(to: try await peer.next().serial), serial: 1, body: ["x"]).encoded()
        try peer.send(raw: reply.dropLast())
        peer.close()
        await #expect(throws: DBusError.connectionLost(reason: "the peer closed the connection")) {
            try await answer.value
        }
    }

    @Test("bytes that are no message end the connection with their reason")
    func garbage() async throws {
        let (connection, peer) = try await ScriptedPeer.connected()
        let answer = Task { try await connection.call(Self.call) }
        _ = try await peer.next()
        try peer.send(raw: Array("HTTP/1.1 400 Bad Request\r\n".utf8))
        let garbage = DBusError.malformed(offset: 0, problem: "the byte order is neither l nor B")
        await #expect(throws: garbage) { try await answer.value }
        await peer.waitForEnd()
    }

    @Test("a message beyond the limit ends the connection")
    func limit() async throws {
        let (connection, peer) = try await ScriptedPeer.connected(messageLimit: 4096)
        let answer = Task { try await connection.call(Self.call) }
        try peer.reply(to: try await peer.next(), [.bytes(zeros(4096))])
        await #expect(throws: DBusError.tooLarge(what: "a message", limit: 4096)) { try await answer.value }
    }

    @Test("what cannot be sent is thrown and does no harm to the connection")
    func unsendable() async throws {
        let (connection, peer) = try await ScriptedPeer.connected()
        var call = Self.call
        call.arguments = [.unixDescriptor(index: 0)]
        await #expect(throws: DBusError.unsupported(feature: "sending a file descriptor")) {
            try await connection.call(call)
        }
        call.arguments = ["a\u{0}"]
        await #expect(throws: DBusError.self) { try await connection.call(call) }
        let answer = Task { try await connection.call(Self.call) }
        try peer.reply(to: try await peer.next())
        #expect(try await answer.value == [])
    }

    @Test("opening times out without an answer")
    func openTimeout() async throws {
        let clock = ManualClock()
        let (ours, theirs) = try ScriptedPeer.sockets()
        let peer = try ScriptedPeer(owning: theirs)
        let task = Task {
            try await withDeadline(.seconds(10), on: clock) {
                try await Connection.open(owning: ours, guid: nil, options: .init(clock: clock))
            }
        }
        _ = try await peer.piece()
        await clock.sleeper(for: .seconds(10))
        clock.advance(by: .seconds(10))
        await #expect(throws: DeadlineExceeded.self) { try await task.value }
        await peer.waitForEnd()
    }

    @Test("no bus at the address is said with the address")
    func unreachable() async throws {
        let address = Address(.path("/nonexistent/bus"))
        let error = await #expect(throws: DBusError.self) { try await Connection.open([address]) }
        #expect(error == .unreachable(address: "unix:path=/nonexistent/bus", reason: "No such file or directory"))
        #expect(error?.isTransient == true)
        let long = Address(.path(String(repeating: "a", count: 300)))
        await #expect(throws: DBusError.self) { try await Connection.open([long]) }
        await #expect(throws: DBusError.self) { try await Connection.open([]) }
    }

    @Test("a message that goes out in many parts arrives whole")
    func manyParts() async throws {
        let (connection, peer) = try await ScriptedPeer.connected()
        var call = Self.call
        call.arguments = [.bytes((0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) })]
        let expected = call.arguments
        let answer = Task { [call] in try await connection.call(call) }
        let message = try await peer.next()
        #expect(message.body == expected)
        try peer.reply(to: message)
        #expect(try await answer.value == [])
    }

    @Test("a peer that takes nothing does not fill the memory")
    func outgoingLimit() throws {
        let (ours, theirs) = try ScriptedPeer.sockets()
        let stream = try ByteStream(owning: ours, outgoingLimit: 1000)
        try stream.send(zeros(600))
        #expect(throws: DBusError.tooLarge(what: "the queue of data for the bus", limit: 1000)) {
            try stream.send(zeros(401))
        }
        try stream.send(zeros(400))
        _ = systemClose(theirs)
    }

    @Test("a dropped connection closes its socket")
    func dropped() async throws {
        var (connection, peer): (Connection?, ScriptedPeer) = try await ScriptedPeer.connected()
        #expect(connection != nil)
        connection = nil
        await peer.waitForEnd()
    }
}
