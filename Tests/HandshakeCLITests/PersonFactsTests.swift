#if CommandLine
import Beacons
import Testing

@testable import HandshakeCLI
@testable import Nearby

@Suite("What show prints about a person")
struct PersonFactsTests {
    private func facts(
        pairedName: String?, encounters: [Encounter] = [], friendUntil: RollingDay? = nil
    ) throws -> PersonFacts {
        PersonFacts(
            person: try UserNumber(36), pairedName: pairedName, known: Person(name: "Mallory"), profile: nil,
            photo: nil, encounters: encounters, friendUntil: friendUntil)
    }

    @Test(
        "CI20: show says of a friend by keys from a file that they are, also of what an earlier version logged",
        arguments: [Trust.file, .paired])
    func file(trust: Trust) throws {
        let met = [Encounter(firstSeen: 0, lastSeen: 60, duration: 60, trust: trust)]
        let friend = try facts(pairedName: nil, encounters: met, friendUntil: RollingDay(number: 20454))
        let rows = friend.lines.filter { $0.contains("by keys") }
        #expect(rows.count == 1 && rows[0].hasPrefix("Friend until"), "\(friend.lines)")
        #expect(rows.allSatisfy { $0.hasSuffix("2026-01-01, by keys from a file") }, "\(rows)")
        let json = friend.json.text
        #expect(json.contains(#""trust":"file""#) && json.contains(#""friend_by":"file""#), "\(json)")
        let paired = try facts(pairedName: "Ada Example", encounters: met, friendUntil: RollingDay(number: 20454))
        #expect(paired.lines.contains { $0.hasPrefix("Friend until") && $0.hasSuffix("that you exchanged in person") })
    }

    @Test("CI20: show does not say of keys that have expired that they were exchanged in person")
    func expired() throws {
        let met = [Encounter(firstSeen: 0, lastSeen: 60, duration: 60, trust: .paired)]
        let known = try facts(pairedName: nil, encounters: met)
        #expect(known.lines.contains { $0.hasPrefix("Verified") && $0.hasSuffix("by keys that you exchanged") })
        #expect(!known.lines.contains { $0.hasPrefix("Friend") })
    }

    @Test("CI54: what is shown of a friend has the name that was given when pairing")
    func friend() throws {
        let friend = try facts(pairedName: "Ada Example")
        #expect(friend.lines.contains { $0.hasPrefix("Name") && $0.hasSuffix("Ada Example") })
        #expect(friend.json.text.contains(#""name":"Ada Example""#))
        #expect(try facts(pairedName: nil).json.text.contains(#""name":"Mallory""#))
    }
}
#endif
