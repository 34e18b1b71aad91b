import OAuth
import Testing

@testable import Handshake

@Suite("Accounts that a failover put back")
struct RestoredRecordTests {
    private let id: AccountID

    init() throws {
        let server = AuthorizationServerMetadata(
            issuer: try Issuer("https://as.example"), tokenEndpoint: try EndpointURL("https://as.example/token"))
        id = AccountID(Client(service: try Service(name: "s", authorizationServer: .described(server)), id: "c"))
    }

    private func record(
        _ generation: Int, _ token: String, at issuedAt: Double, of subject: String? = "ada",
        _ state: AccountRecord.State = .signedIn
    ) throws -> AccountRecord {
        let identity = try subject.map { subject in
            try IDTokenClaims(claims: [
                "iss": .string("https://as.example"), "sub": .string(subject), "aud": .string("c"),
                "iat": .number("1"), "exp": .number("600"),
            ])
        }
        return AccountRecord(
            id: id,
            grant: Grant(
                accessToken: Secret(token), expiresAt: nil, issuedAt: issuedAt, refreshToken: Secret("R"), scopes: [],
                identity: identity),
            state: state, refreshMethod: .refreshToken, generation: generation)
    }

    @Test("VL43: an account is stored over an earlier one of its session, or over itself, and over no other")
    func order() throws {
        let known = try record(3, "A3", at: 300)
        #expect(try known.isNewer(than: record(2, "A2", at: 200)))
        #expect(try known.isNewer(than: record(1, "A1", at: 300)), "a second refresh in the same second")
        #expect(known.isNewer(than: known), "the journal alone was lost")
        #expect(try record(3, "A3", at: 300, .refreshing(since: 400)).isNewer(than: known))
        #expect(try !known.isNewer(than: record(3, "B3", at: 300)), "another session of the same length")
        #expect(try !known.isNewer(than: record(2, "B2", at: 301)), "a session since then")
        #expect(try !known.isNewer(than: record(4, "A4", at: 400)), "a later refresh")
        #expect(try !known.isNewer(than: record(4, "B4", at: 200)), "a longer session before")
    }

    @Test("VL43: an account is not stored over another user's, nor where one of the two has ended")
    func sessions() throws {
        let known = try record(3, "A3", at: 300)
        #expect(try !known.isNewer(than: record(2, "A2", at: 200, of: "zoe")))
        #expect(try !known.isNewer(than: record(2, "A2", at: 200, of: nil)))
        #expect(try record(3, "A3", at: 300, of: nil).isNewer(than: record(2, "A2", at: 200, of: nil)))
        let ends: [AccountRecord.State] = [.ended(.refreshRejected), .signingOut(remaining: [])]
        for end in ends {
            #expect(try !known.isNewer(than: record(2, "A2", at: 200, end)))
            #expect(try !record(3, "A3", at: 300, end).isNewer(than: record(2, "A2", at: 200)))
        }
    }
}
