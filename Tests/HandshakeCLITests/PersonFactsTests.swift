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
        let rows = friend.lines.filter { $0.hasSuffix("by keys from a file") }
        #expect(rows.count == 2 && rows.contains { $0.hasPrefix("Verified") }, "\(friend.lines)")
        #expect(friend.json.text.contains(#""friend_by":"file""#))
        let paired = try facts(pairedName: "Ada Example", encounters: met, friendUntil: RollingDay(number: 20454))
        #expect(paired.lines.contains { $0.hasPrefix("Friend  ") && $0.hasSuffix("that you exchanged in person") })
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
