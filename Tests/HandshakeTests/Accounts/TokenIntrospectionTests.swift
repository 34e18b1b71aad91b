import OAuth
import Sandbox
import TestFixtures
import Testing

@testable import Handshake

@Suite("What a server tells an API of a token", .heavy)
struct TokenIntrospectionTests {
    @Test(
        "RFC 7662: an API asks of a token that it was shown, plain and signed, until it is revoked",
        arguments: [false, true])
    func shown(isSigned: Bool) async throws {
        let world = try await World(.standard)
        let (_, account) = try await world.signedIn()
        let token = try await account.accessToken()
        let api = try world.app(world.confidentialClient("sandbox-confidential"))
        let told = try await api.introspection(of: token, signed: isSigned)
        #expect(told.isActive && told.scopes.contains("api"))
        #expect(told.clientID == account.id.client && told.subject == account.status.identity?.subject)
        #expect(told.expiresAt != nil)
        _ = try await account.signOut()
        let ended = try await api.introspection(of: token, signed: isSigned)
        #expect(!ended.isActive && ended.scopes.isEmpty && ended.subject == nil)
        #expect(try await api.introspection(of: Secret("unknown"), signed: isSigned).isActive == false)
        await world.sandbox.stop()
    }

    @Test("an account asks of its own token, which is not refreshed for it")
    func own() async throws {
        let world = try await World(.standard)
        let client = try world.confidentialClient("sandbox-confidential", scopes: ["openid", "offline_access", "api"])
        let (_, account) = try await world.signedIn(client)
        let before = world.tokenRequests()
        for isSigned in [false, true] {
            let told = try await account.introspection(signed: isSigned)
            #expect(told.isActive && told.clientID == "sandbox-confidential")
        }
        #expect(world.tokenRequests() == before)
        _ = try await account.signOut()
        let error = await handshakeError { try await account.introspection() }
        #expect(error?.code == "sign_in_required")
        await world.sandbox.stop()
    }

    @Test("G2: the server tells an API the key that a token is bound to, plain and signed", arguments: [false, true])
    func boundToKey(isSigned: Bool) async throws {
        let world = try await World(.standard)
        world.holdClocks()
        let (_, account) = try await world.signedIn(
            try world.boundClient("sandbox-dpop-secret"))
        #expect(account.status.isBound)
        let told = try await account.introspection(signed: isSigned)
        let confirmation = try #require(told.confirmation)
        let key = try #require(account.record.binding?.key?.thumbprint)
        #expect(told.tokenType == "DPoP" && confirmation.keyThumbprint == key)
        #expect(confirmation.holds(key: key, certificate: nil) && !confirmation.holds(key: nil, certificate: nil))
        let (_, plain) = try await world.signedIn(try world.confidentialClient("sandbox-confidential"))
        let bearer = try await plain.introspection(signed: isSigned)
        #expect(bearer.tokenType == "Bearer" && bearer.confirmation == nil)
        await world.sandbox.stop()
    }

    @Test("RFC 7662, 2.1: a client that does not authenticate is refused before anything is sent")
    func open() async throws {
        let world = try await World(.standard)
        let (handshake, account) = try await world.signedIn()
        let token = try await account.accessToken()
        for error in [
            await handshakeError { try await handshake.introspection(of: token) },
            await handshakeError { try await account.introspection() },
        ] {
            guard case .configuration(let member, _)? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(member == "client")
        }
        #expect(world.sandbox.requests(.standard).allSatisfy { $0.path != "/introspect" })
        await world.sandbox.stop()
    }

    @Test(
        "RFC 9701: a signed answer for another client, by another key or of another issuer says nothing",
        arguments: [
            ("introspection:wrong-audience", "audience_mismatch"), ("introspection:wrong-issuer", "issuer_mismatch"),
            ("introspection:wrong-key", "signature_invalid"),
        ])
    func refused(_ fault: String, _ code: String) async throws {
        let world = try await World(.standard)
        let (_, account) = try await world.signedIn()
        let token = try await account.accessToken()
        let api = try world.app(world.confidentialClient("sandbox-confidential"))
        try world.inject(fault)
        let error = await handshakeError { try await api.introspection(of: token, signed: true) }
        #expect(error?.code == code)
        await world.sandbox.stop()
    }
}
