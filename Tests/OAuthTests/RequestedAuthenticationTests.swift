import Foundation
import Testing

@testable import OAuth

@Suite("The authentication that a request asks for")
struct RequestedAuthenticationTests {
    /// What a request asks for, a change of the ID token's claims, and the refusal that has to come of it.
    struct Row: Sendable, CustomTestStringConvertible {
        let asked: [String: String]
        let claims: [String: String?]
        let code: String?
        var testDescription: String { "\(asked) with \(claims) is \(code ?? "accepted")" }
    }

    private static func request(
        _ asked: [String: String], demandsContext: Bool = true
    ) throws -> AuthorizationRequest {
        var options = AuthorizationRequest.Options()
        options.extras = asked
        options.demandsContext = demandsContext
        return try Example.request(options: options)
    }

    // The user authenticated 80 seconds ago, in the context silver.
    private static let silver = "urn:mace:incommon:iap:silver"

    @Test(
        "D8: auth_time and acr of the ID token have to satisfy the max_age and acr_values of the request",
        arguments: [
            Row(asked: [:], claims: ["auth_time": nil, "acr": nil], code: nil),
            Row(asked: ["max_age": "300"], claims: [:], code: nil),
            Row(asked: ["max_age": "20"], claims: [:], code: nil),
            Row(asked: ["max_age": "19"], claims: [:], code: "authentication_insufficient"),
            Row(asked: ["max_age": "0"], claims: [:], code: "authentication_insufficient"),
            Row(asked: ["max_age": "300"], claims: ["auth_time": nil], code: "authentication_insufficient"),
            Row(asked: ["max_age": "300"], claims: ["auth_time": "0"], code: "authentication_insufficient"),
            Row(asked: ["acr_values": silver], claims: [:], code: nil),
            Row(asked: ["acr_values": "gold \(silver)"], claims: [:], code: nil),
            Row(asked: ["acr_values": "gold"], claims: [:], code: "authentication_insufficient"),
            Row(asked: ["acr_values": "gold"], claims: ["acr": nil], code: "authentication_insufficient"),
            Row(asked: ["acr_values": "gold"], claims: ["acr": #"["gold"]"#], code: "authentication_insufficient"),
            Row(
                asked: ["acr_values": "gold"], claims: ["acr": #""gold platinum""#], code: "authentication_insufficient"
            ),
            Row(asked: ["max_age": "300", "acr_values": "gold"], claims: [:], code: "authentication_insufficient"),
        ])
    func claims(_ row: Row) throws {
        let claims = try IDTokenTests.check(IDTokenTests.payload(row.claims))
        let request = try Self.request(row.asked)
        #expect(failure { try request.authentication.check(claims, now: Example.now) } == row.code)
    }

    @Test(
        "D8: acr_values that nothing demands are a wish: another context is accepted, and is told apart; a max_age stays"
    )
    func wish() throws {
        let claims = try IDTokenTests.check(IDTokenTests.payload([:]))
        for (asked, isGiven) in [("gold", false), ("gold \(Self.silver)", true), ("", true)] {
            let wished = try Self.request(["acr_values": asked], demandsContext: false).authentication
            #expect(failure { try wished.check(claims, now: Example.now) } == nil, "\(asked)")
            #expect(wished.hasContext(of: claims) == isGiven, "\(asked)")
        }
        let old = try Self.request(["acr_values": Self.silver, "max_age": "19"], demandsContext: false).authentication
        #expect(failure { try old.check(claims, now: Example.now) } == "authentication_insufficient")
    }

    @Test(
        "D8: without an ID token a demanded age or context is refused with what to do, and no demand and a wish are not",
        arguments: [
            ([:], true, nil), (["acr_values": "gold"], false, nil), (["acr_values": ""], true, nil),
            (["acr_values": "gold"], true, "acr"), (["max_age": "600"], false, "auth_time"),
            (["max_age": "0", "acr_values": "gold"], true, "auth_time and acr"),
        ] as [([String: String], Bool, String?)])
    func noIDToken(_ asked: [String: String], _ isDemanded: Bool, _ needed: String?) throws {
        let authentication = try Self.request(asked, demandsContext: isDemanded).authentication
        guard let needed else {
            #expect(failure { try authentication.check(nil, now: Example.now) } == nil)
            return
        }
        let refusal = try #require(refusal { try authentication.check(nil, now: Example.now) })
        #expect(refusal.check == .authentication && refusal.expected == needed)
        #expect(refusal.description.contains("no ID token that can be checked"))
        #expect(refusal.description.contains("Ask for the scope openid. If that changes nothing, demand neither"))
    }

    @Test("D8: a stored request of before there were wishes demands its context, and one with a wish keeps it")
    func stored() throws {
        let older = #"{"maximumAge":5,"contexts":["gold"]}"#
        let decoded = try JSONDecoder().decode(RequestedAuthentication.self, from: Data(older.utf8))
        let demanded = try Self.request(["max_age": "5", "acr_values": "gold"]).authentication
        #expect(decoded == demanded)
        for isDemanded in [true, false] {
            let asked = try Self.request(["acr_values": "gold"], demandsContext: isDemanded).authentication
            let again = try JSONDecoder().decode(RequestedAuthentication.self, from: JSONEncoder().encode(asked))
            #expect(again == asked && again.demandsContext == isDemanded)
        }
    }

    @Test("D8: a max_age that is no number of seconds is the caller's mistake", arguments: ["-1", "1.5", "x", "1 "])
    func malformed(age: String) {
        #expect(failure { _ = try Self.request(["max_age": age]) } == "configuration max_age")
    }

    @Test("D8: a request that is handed over keeps what it asks for, and the refusal names it")
    func pushed() throws {
        let request = try Self.request(["max_age": "5", "acr_values": "gold"])
        let short = try request.referring(to: "urn:example:1", repeating: [])
        #expect(short.authentication == request.authentication && short.authentication != .any)
        let claims = try IDTokenTests.check(IDTokenTests.payload(["auth_time": "1300819379"]))
        let refusal = try #require(refusal { try short.authentication.check(claims, now: Example.now) })
        #expect(refusal.expected == "acr: gold" && refusal.found == Self.silver)
    }
}
