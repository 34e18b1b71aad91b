import Foundation
import HTTPTypes
import Handshake
import OAuth
import Sandbox
import TestFixtures
import Testing

/// The client against the sandbox, whose signed texts misbehave by the faults that app developers can switch on.
@Suite("Misbehaving signed texts", .heavy)
struct SignedTextFaultTests {
    /// What every reader makes of a signature that is not in order.
    private static let signatures = [
        "wrong-key": "signature_invalid", "unknown-key": "key_unknown", "bad-signature": "signature_invalid",
        "alg-none": "algorithm_refused", "hs256": "algorithm_refused", "wrong-algorithm": "algorithm_refused",
        "critical-header": "malformed", "another-kind": "malformed",
    ]

    private static let parties = [
        "wrong-issuer": "issuer_mismatch", "no-issuer": "malformed", "doubled-issuer": "malformed",
        "wrong-audience": "audience_mismatch", "no-audience": "malformed", "doubled-audience": "malformed",
    ]

    /// The code that each fault of a kind of text has to end in.
    private static let codes: [String: [String: String]] = [
        "id-token": [
            "second-audience": "audience_mismatch", "no-subject": "malformed", "expired": "time", "future": "time",
            "no-expiry": "malformed", "no-issue-time": "malformed", "wrong-nonce": "nonce_mismatch",
            "no-nonce": "nonce_mismatch", "doubled-nonce": "malformed", "wrong-at-hash": "at_hash_mismatch",
        ],
        "response": [
            "expired": "time", "no-expiry": "malformed", "wrong-state": "state_mismatch", "no-state": "state_mismatch",
            "doubled-issuer": "state_mismatch", "doubled-audience": "state_mismatch", "doubled-code": "state_mismatch",
        ],
        "userinfo": [
            "wrong-subject": "subject_mismatch", "no-subject": "malformed", "doubled-subject": "malformed",
        ],
        "introspection": [
            "future": "time", "no-issue-time": "malformed", "no-answer": "malformed", "plain-type": "malformed",
        ],
        "logout-token": [
            "expired": "time", "future": "time", "no-expiry": "malformed", "no-issue-time": "malformed",
            "no-identifier": "malformed", "no-user-or-session": "malformed", "no-event": "malformed",
            "doubled-event": "malformed", "nonce": "malformed", "id-token": "malformed",
        ],
    ]

    private static let kinds: [Substring: String] = [
        "id-token": "id_token", "response": "authorization_response", "userinfo": "userinfo_response",
        "introspection": "introspection_response", "logout-token": "logout_token",
    ]

    private static func faults(_ kind: String) -> [String] {
        NamedFault.all.map(\.name).filter { $0.hasPrefix(kind + ":") }
    }

    private static func expected(_ fault: String) -> String? {
        let parts = fault.split(separator: ":").map(String.init)
        return codes[parts[0]]?[parts[1]] ?? parties[parts[1]] ?? signatures[parts[1]]
    }

    /// The code without the kind of text that it begins with. A text without issuer or audience may be called malformed, or for
    /// the wrong one.
    private static func matches(_ code: String?, _ fault: String) -> Bool {
        guard let code, let expected = expected(fault) else { return false }
        if ["malformed", "time"].contains(expected), let kind = kinds[fault.split(separator: ":")[0]] {
            return code == "\(kind)_\(expected)"
        }
        if fault.hasSuffix(":no-issuer"), code == "issuer_mismatch" { return true }
        if fault.hasSuffix(":no-audience"), code == "audience_mismatch" { return true }
        return code == expected
    }

    @Test("every named fault has an expectation here")
    func complete() {
        for fault in NamedFault.all { #expect(Self.expected(fault.name) != nil, "\(fault.name)") }
    }

    private static func expectRefusal(of fault: String, by app: Handshake, in world: World) async {
        let error = await handshakeError { try await app.signIn(through: ApprovingBrowser(sandbox: world.sandbox)) }
        #expect(matches(error?.code, fault), "\(error?.code ?? "accepted")")
    }

    @Test("an ID token that is not in order stops the sign-in, and nothing is stored", arguments: faults("id-token"))
    func idToken(fault: String) async throws {
        let world = try await World(.standard)
        try world.inject(fault)
        let app = try world.app()
        await Self.expectRefusal(of: fault, by: app, in: world)
        #expect(try await app.account() == nil)
        await world.sandbox.stop()
    }

    @Test(
        "a signed response that is not in order stops the sign-in before its code is sent",
        arguments: faults("response"))
    func response(fault: String) async throws {
        let world = try await World(.standard)
        var client = try world.client()
        client.options.responseMode = .jwt
        try world.inject(fault)
        let app = try world.app(client)
        await Self.expectRefusal(of: fault, by: app, in: world)
        #expect(world.tokenRequests("authorization_code") == 0)
        await world.sandbox.stop()
    }

    @Test(
        "signed user information that is not in order is refused, and the account stays",
        arguments: faults("userinfo"))
    func userInfo(fault: String) async throws {
        let world = try await World(.standard)
        var client = try world.keyedClient("sandbox-signing")
        client.options.signedRequests = .always
        client.options.userInfoAlgorithm = .es256
        let account = try await world.app(client).signIn(through: ApprovingBrowser(sandbox: world.sandbox))
        try world.inject(fault + " x2")
        let error = await handshakeError { try await account.identity() }
        #expect(Self.matches(error?.code, fault), "\(error?.code ?? "accepted")")
        world.sandbox.clearFaults()
        #expect(try await account.identity().name == "Ada Example")
        await world.sandbox.stop()
    }

    @Test("a signed introspection that is not in order is refused", arguments: faults("introspection"))
    func introspection(fault: String) async throws {
        let world = try await World(.standard)
        let (_, account) = try await world.signedIn()
        let token = try await account.accessToken()
        let confidential = try #require(world.sandbox.standard.clients.first { $0.id == "sandbox-confidential" })
        let security = TransportSecurity.allowingInsecureLoopback
        let issuer = try Issuer(world.sandbox.standard.origin, security: security)
        func get(_ path: String) async throws -> ResponseMessage {
            let address = try EndpointURL(world.sandbox.standard.origin + path, security: security)
            return try await PlatformTransport().send(RequestMessage(.get, address), limits: World.limits)
        }
        let server = try AuthorizationServerMetadata(
            parsing: try await get("/.well-known/openid-configuration").content, expected: issuer, security: security)
        let keys = try JSONWebKeySet(parsing: try await get("/jwks").content)
        let request = IntrospectionRequest(
            token, kind: .accessToken, at: server, clientID: confidential.id,
            authentication: .basic(secret: Secret(confidential.secret ?? "")), signed: true)
        func code() async throws -> String? {
            let response = try await PlatformTransport().send(try request.message, limits: World.limits)
            do {
                let answer = try request.introspection(
                    from: response, keys: keys, now: world.time.source.now(), algorithms: [.es256])
                #expect(answer.isActive)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(try await code() == nil)
        try world.inject(fault)
        let found = try await code()
        #expect(Self.matches(found, fault), "\(found ?? "accepted")")
        await world.sandbox.stop()
    }

    @Test("a logout token that is not in order ends no session", arguments: faults("logout-token"))
    func logoutToken(fault: String) async throws {
        let world = try await World(.standard)
        let (handshake, account) = try await world.signedIn(try world.client(scopes: ["openid", "api"]))
        let identity = try #require(account.status.identity)
        try world.inject(fault + " x1")
        let token = world.sandbox.logoutToken(
            for: account.id.client, subject: identity.subject, sessionID: identity.sessionID)
        let error = await handshakeError { try await handshake.endSessions(logoutToken: Secret(token)) }
        #expect(Self.matches(error?.code, fault), "\(error?.code ?? "accepted")")
        #expect(try await handshake.account()?.status.state == .signedIn)
        let good = world.sandbox.logoutToken(for: account.id.client, subject: identity.subject)
        #expect(try await handshake.endSessions(logoutToken: Secret(good)).accounts.count == 1)
        await world.sandbox.stop()
    }

    @Test("keys that the server rotated right before it signed are fetched, and the sign-in goes on")
    func rotated() async throws {
        let world = try await World(.standard)
        let (handshake, _) = try await world.signedIn()
        world.sandbox.rotateSigningKeys()
        let account = try await handshake.signIn(as: "later", through: ApprovingBrowser(sandbox: world.sandbox))
        #expect(account.status.identity != nil)
        await world.sandbox.stop()
    }
}
