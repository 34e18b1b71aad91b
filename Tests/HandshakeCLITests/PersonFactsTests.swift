#if CommandLine
import Beacons
import Testing

@testable import HandshakeCLI
@testable import Nearby

@Suite("What show prints about a person")
struct PersonFactsTests {
    private func facts(pairedName: String?) throws -> PersonFacts {
        PersonFacts(
            person: try UserNumber(36), pairedName: pairedName, known: Person(name: "Mallory"), profile: nil,
            photo: nil, encounters: [], friendUntil: nil)
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
