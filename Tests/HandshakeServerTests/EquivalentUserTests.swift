import Handshake
import Hummingbird
import IFTTTConnect
import Testing

@testable import HandshakeServer

/// Two identifiers that Swift's own equality takes for one: they differ in bytes, and so do the users.
@Suite("Users whose identifiers are canonically equivalent")
struct EquivalentUserTests {
    private let composed = "jos\u{E9}"
    private let decomposed = "jose\u{301}"

    @Test("each has streams of their own, and gets back their own place")
    func streams() throws {
        #expect(composed == decomposed, "otherwise this suite shows nothing")
        var limits = ConnectButtonSettings.Streams()
        limits.maximumPerUser = 1
        let streams = ChangeStreams(limits)
        func response(_ user: String) throws -> Response {
            let subject = ChangeStreams.Subject(user: user, look: { nil }, isPresent: { true })
            return try streams.response(watching: subject, time: .system)
        }
        let one = try response(composed)
        do {
            let two = try response(decomposed)
            #expect(throws: RequestRefusal.self) { try response(decomposed) }
            withExtendedLifetime(two) {}
        }
        // The place that one has given back is not the other's.
        #expect(throws: RequestRefusal.self) { try response(composed) }
        #expect(try response(decomposed).status == .ok)
        withExtendedLifetime(one) {}
    }

    @Test("neither spends the other's requests")
    func rates() throws {
        let limit = RateLimit(try Rate(burst: 1, interval: .seconds(10)))
        #expect(limit.take(composed, now: 0) == nil)
        #expect(limit.take(decomposed, now: 0) == nil)
        #expect(limit.take(composed, now: 0) == 10)
    }

    @Test("they are two users, in sets and dictionaries too")
    func values() throws {
        let one = try ConnectButtonUser(id: composed)
        let two = try ConnectButtonUser(id: decomposed)
        let again = try ConnectButtonUser(id: composed)
        #expect(one != two && one == again)
        #expect(Set([one, two, again]).count == 2)
        #expect([one: 1, two: 2][two] == 2)
        let mail = try ConnectButtonUser(id: composed, suggestedEmail: "a@example.test")
        #expect(mail != one)
    }

    @Test("each has a session of their own")
    func sessions() throws {
        let connection = try ConnectionID("aB3dE5fG")
        let keys = try [composed, decomposed].map {
            ConnectSessions.Place.key(of: try ConnectButtonUser(id: $0), connection)
        }
        #expect(keys[0] != keys[1])
        #expect(Set(keys).count == 2)
    }
}
