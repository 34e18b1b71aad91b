import Beacons
import Handshake
import Radio
import Testing

@testable import Nearby

@Suite("The sentences of errors")
struct ErrorTextTests {
    private static let problems: [CircleProblem] = [
        .refused(status: 500, code: "x", message: "down"), .refused(status: 422, code: "x", message: "no"),
        .malformed("its description"), .notAMember, .signedOut, .removed, .attemptOver, .tooMany(seconds: 5),
        .clock(seconds: 600), .notJoined, .alreadyJoined, .wavesOff(name: "Zoë"),
        .otherService("acme", circle: "Acme", community: "recurse-center"),
        .otherNumber(36, circle: "Rook", known: 759, in: "Hub"),
        .unreadableTable(circle: "Hub"), .pinsLost(circle: "Hub"), .tableNeeded(circle: "Hub"),
        .forgottenMember(person(36), circle: "Hub"),
    ]
    private static let failures: [RadioError] = [
        .notSupported(feature: "advertising with hci0"), .refused(operation: "asking BlueZ", reason: "busy"),
        .noFreeInstance, .notPermitted(reason: "no"), .noAdapter(named: nil), .poweredOff(adapter: "hci0"),
    ]

    /// What happened, and what to do, as two sentences at least that begin with capitals and are joined by one stop.
    private func isAdvice(_ text: String) -> Bool {
        let sentences = text.split(separator: ". ", omittingEmptySubsequences: false)
        return sentences.count > 1 && !text.contains("..") && sentences.allSatisfy { $0.first?.isUppercase == true }
    }

    @Test("a circle's error says what happened and then what to do", arguments: problems)
    func circles(problem: CircleProblem) {
        #expect(isAdvice(NearbyError.circle(problem).description), "\(problem)")
    }

    @Test("a radio's error says what happened and then what to do", arguments: failures)
    func radio(error: RadioError) {
        #expect(isAdvice(error.description), "\(error)")
    }

    @Test("an error about a number or a time says what to change")
    func values() throws {
        #expect(isAdvice(BeaconsError.userNumber(0, maximum: 65_535).description))
        #expect(isAdvice(BeaconsError.time(Timestamp(clampingMicroseconds: -1)).description))
    }

    @Test(
        "what is no address of a circle is not repeated: it may hold a password",
        arguments: [
            "foo", "http://circle.example", "https://ada:tulip@circle.example", "https://circle.example/?tulip",
            "ada:tulip@circle.example", "ftp://ada:tulip@circle.example", "https:/ada:tulip@circle.example",
            "https://circle.example/#tulip",
        ])
    func address(text: String) throws {
        let problem = try #require(throws: CircleProblem.self) {
            _ = try CircleServer(text, transport: PlatformTransport())
        }
        #expect(isAdvice(problem.description) && !problem.description.contains("tulip"))
        #expect(!problem.description.contains("configuration"), "a user has configured nothing")
    }

    @Test(
        "what is no address of a circle is refused for its own reason",
        arguments: [
            ("circle.example", "it must begin with https://"), ("http://circle.example", "it must begin with https://"),
            ("https://x/#a", "the address must not have a fragment"),
            ("https://x/a b", "the address has a space"),
            ("https://ada:tulip@x", "the host or port is not valid, or the address holds a user name"),
            ("https://x/?a", "it must not contain a question mark"),
        ])
    func reason(text: String, reason: String) throws {
        let problem = try #require(throws: CircleProblem.self) {
            _ = try CircleServer(text, transport: PlatformTransport())
        }
        #expect(problem.description.hasPrefix("This is not the address of a circle: \(reason)"))
    }
}
