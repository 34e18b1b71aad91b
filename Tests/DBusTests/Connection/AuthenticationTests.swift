import TestFixtures
import Testing

@testable import DBus

@Suite("Authentication", .heavy)
struct AuthenticationTests {
    @Test("the client first sends NUL and its user in hexadecimal digits of decimal ones")
    func opening() {
        // The specification's example: the user 1000 is 31303030.
        #expect(Authentication.opening(user: 1000) == [0] + Array("AUTH EXTERNAL 31303030\r\n".utf8))
    }

    @Test("OK leads to BEGIN, whatever the pieces are")
    func accepted() throws {
        var authentication = Authentication()
        #expect(try authentication.receive(Array("OK 0123456789".utf8)) == .wait)
        #expect(
            try authentication.receive(Array("ABCDEF0123456789abcdef\r\n".utf8))
                == .begin(Array("BEGIN\r\n".utf8), guid: "0123456789abcdef0123456789abcdef"))
    }

    @Test("a server that wants data gets an empty answer")
    func data() throws {
        var authentication = Authentication()
        #expect(try authentication.receive(Array("DATA\r\n".utf8)) == .send(Array("DATA\r\n".utf8)))
    }

    @Test(
        "another answer is a refusal",
        arguments: [
            "REJECTED EXTERNAL DBUS_COOKIE_SHA1\r\n", "ERROR\r\n", "OK\r\n", "OK 12\r\n", "\r\n", "\n",
            "OK \u{1B}[2J\r\n",
            "OK 0123456789abcdef0123456789abcdef\n", "OK 0123456789abcdef0123456789abcdef\r\nl",
            String(repeating: "x", count: 5000),
        ])
    func refused(answer: String) {
        var authentication = Authentication()
        let error = #expect(throws: DBusError.self) { try authentication.receive(Array(answer.utf8)) }
        #expect(error.map { "\($0)".unicodeScalars.contains("\u{1B}") } == false)
    }

    @Test("a refusal ends the opening")
    func openingRefused() async throws {
        let (ours, theirs) = try ScriptedPeer.sockets()
        let peer = try ScriptedPeer(owning: theirs)
        let connection = Task { try await Connection.open(owning: ours, guid: nil, options: .init()) }
        _ = try await peer.piece()
        try peer.send(raw: Array("REJECTED EXTERNAL\r\n".utf8))
        let error = await #expect(throws: DBusError.self) { try await connection.value }
        #expect(error == .authentication(reason: "it rejected this user; it offers EXTERNAL"))
    }

    @Test("another bus than the address names is refused")
    func wrongBus() async throws {
        let (ours, theirs) = try ScriptedPeer.sockets()
        let peer = try ScriptedPeer(owning: theirs)
        let expected = String(repeating: "f", count: 32)
        let connection = Task { try await Connection.open(owning: ours, guid: expected, options: .init()) }
        _ = try await peer.piece()
        try peer.send(raw: Array("OK \(ScriptedPeer.guid)\r\n".utf8))
        await #expect(throws: DBusError.wrongBus(expected: expected, found: ScriptedPeer.guid)) {
            try await connection.value
        }
    }
}
