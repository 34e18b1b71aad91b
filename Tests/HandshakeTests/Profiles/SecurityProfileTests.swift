import Crypto
import CryptoExtras
import Foundation
import HTTPTypes
import Handshake
import OAuth
import Sandbox
import Synchronization
import TestFixtures
import Testing

@testable import Handshake

@Suite("FAPI 2.0 Security Profile", .heavy)
struct SecurityProfileTests {
    private static func query(_ url: String) -> [String: String] {
        URLComponents(string: url)?.queryItems?.reduce(into: [:]) { $0[$1.name] = $1.value } ?? [:]
    }

    /// A provider that has everything the profile needs.
    private static func provider(_ more: sending [String: Any] = [:]) -> ScriptedProvider {
        let provider = ScriptedProvider()
        provider.publish([
            "pushed_authorization_request_endpoint": ScriptedProvider.issuer + "/par",
            "token_endpoint_auth_methods_supported": ["private_key_jwt", "tls_client_auth", "client_secret_basic"],
        ])
        provider.publish(more)
        provider.change { state in
            state.overrides["/par"] = { _ in .json(201, ["request_uri": "urn:x", "expires_in": 60]) }
        }
        return provider
    }

    private static func key() throws -> SigningKey {
        try SigningKey(parsing: Array(P256.Signing.PrivateKey().pemRepresentation.utf8))
    }

    private static func client(_ provider: ScriptedProvider, key: SigningKey? = nil) throws -> Client {
        let known = try provider.client()
        var client = Client.confidential(
            service: known.service, id: "app", key: try key ?? Self.key(), redirect: known.redirect)
        client.options.fapi2 = true
        return client
    }

    @Test("M802, G2, K3: a session from before the profile sends nothing more, and can be signed out")
    func olderSession() async throws {
        let provider = ScriptedProvider()
        provider.publish(["token_endpoint_auth_methods_supported": ["private_key_jwt"]])
        var client = try Self.client(provider)
        client.options.fapi2 = false
        let vault = MemoryVault()
        let older = try Handshake(client, vault: vault, transport: provider, time: provider.time.source)
        #expect(try await older.signIn(through: provider.browser).status.isBound == false)
        client.options.fapi2 = true
        let app = try Handshake(client, vault: vault, transport: provider, time: provider.time.source)
        let account = try #require(try await app.account())
        let sent = provider.count("/token")
        let reason = await handshakeError { try await account.accessToken() }
        #expect(reason == .signInRequired(account.id, .notBound))
        #expect(await handshakeError { try await account.refresh() } == .signInRequired(account.id, .notBound))
        provider.time.advance(by: 86_401)
        #expect(await handshakeError { try await account.accessToken() } == .signInRequired(account.id, .notBound))
        #expect(await handshakeError { try await account.send(.get, "me") } == .signInRequired(account.id, .notBound))
        #expect(provider.count("/token") == sent && provider.count("/me") == 0, "nothing is refreshed or sent")
        #expect(try await account.signOut().isForgotten)
    }

    @Test("M801: the whole flow with DPoP keeps every rule on the wire")
    func flow() async throws {
        let world = try await World(.standard)
        world.holdClocks()
        var client = try world.keyedClient("sandbox-fapi")
        client.options.fapi2 = true
        let transport = TappedTransport()
        let shown = Mutex<[String]>([])
        let app = try world.app(client, transport: transport)
        let account = try await app.signIn(
            through: ScriptedBrowser { page in
                shown.withLock { $0.append(page.url) }
                return try await world.sandbox.approve(page.url)
            })
        #expect(account.status.isBound)
        #expect(try await account.send(.get, world.sandbox.standard.origin + "/api/whoami").head.status == .ok)
        let before = try await account.accessToken()
        try await account.refresh()
        try await account.refresh()
        #expect(try await account.accessToken().matches(before) == false)
        #expect(try await account.identity().subject == account.status.identity?.subject)
        #expect(try await account.signOut().remaining.isEmpty)
        #expect(Self.query(try #require(shown.withLock { $0.first })).keys.sorted() == ["client_id", "request_uri"])
        #expect(transport.requests.first?.head.path?.hasPrefix("/.well-known/") == true)
        // The last proof of each endpoint has a nonce, and no proof is repeated.
        let proofs = try transport.requests.compactMap { try SentProof($0) }
        #expect(Set(proofs.compactMap { $0["jti"] }).count == proofs.count)
        #expect(Set(proofs.map(\.thumbprint)).count == 1)
        for path in ["/token", "/api/whoami", "/userinfo"] {
            let last = try #require(try SentProof.all(transport.requests, to: path).last, "\(path)")
            #expect(last["nonce"]?.isEmpty == false, "\(path)")
            #expect((last["ath"] == nil) == (path == "/token"), "\(path)")
        }
        var assertions: Set<String> = []
        var refreshes: Set<String> = []
        for request in transport.requests {
            let path = request.head.path ?? ""
            let field = request.head.headerFields[.authorization]
            #expect(field?.hasPrefix("DPoP ") ?? true, "\(path)")
            guard ["/par", "/token", "/revoke"].contains(path), case .bytes(let bytes) = request.content else {
                continue
            }
            var components = URLComponents()
            components.percentEncodedQuery = String(decoding: bytes, as: UTF8.self)
            let form = components.queryItems ?? []
            let value = { (name: String) in form.first { $0.name == name }?.value }
            let assertion = try claims(of: try #require(value("client_assertion")))
            #expect(assertion["aud"] as? String == world.sandbox.standard.origin, "\(path)")
            #expect(value("client_secret") == nil)
            assertions.insert(try #require(assertion["jti"] as? String))
            if let token = value("refresh_token") { refreshes.insert(token) }
            let header = try SentProof.object(try #require(value("client_assertion")).prefix { $0 != "." })
            #expect(header["alg"] == .string("ES256"))
            let proof = try #require(try SentProof(request), "\(path)")
            #expect(!proof.thumbprint.isEmpty)
            guard path == "/par" else { continue }
            #expect(value("code_challenge_method") == "S256")
            #expect((value("nonce") ?? "").utf8.count == 43)
        }
        #expect(assertions.count >= 5)
        #expect(refreshes.count == 1, "this client's refresh tokens do not rotate")
        await world.sandbox.stop()
    }

    @Test(
        "M802: a secret, a public client, bearer tokens, unpushed requests and deviations are refused before anything is sent"
    )
    func configuration() async throws {
        let provider = Self.provider()
        let known = try Self.client(provider)
        func refused(_ client: Client, _ member: String, _ comment: Comment) async throws {
            let app = try provider.app(client)
            guard case .configuration(let found, _)? = await handshakeError({ try await app.beginSignIn() }) else {
                Issue.record(comment)
                return
            }
            #expect(found == member, comment)
        }
        var secret = Client.confidential(
            service: known.service, id: "app", secret: Secret("s3cret-s3cret"), redirect: known.redirect)
        secret.options.fapi2 = true
        try await refused(secret, "key", "a secret")
        var open = Client(service: known.service, id: "app", redirect: known.redirect)
        open.options.fapi2 = true
        try await refused(open, "key", "a public client")
        for binding in [Client.Options.Binding.never, .refreshOnly] {
            var bearer = known
            bearer.options.dpop = binding
            try await refused(bearer, "dpop", "bearer tokens")
        }
        var unpushed = known
        unpushed.options.pushedRequests = .never
        try await refused(unpushed, "par", "unpushed requests")
        for (member, change) in Self.deviations {
            var deviations = known.service.deviations
            change(&deviations)
            let service = try Service(
                name: "op", authorizationServer: known.service.authorizationServer, deviations: deviations)
            var client = Client.confidential(service: service, id: "app", key: try Self.key(), redirect: known.redirect)
            client.options.fapi2 = true
            try await refused(client, member, "a deviation")
        }
        let described = try Service(
            name: "op",
            authorizationServer: .described(
                AuthorizationServerMetadata(
                    issuer: try Issuer(ScriptedProvider.issuer),
                    authorizationEndpoint: try EndpointURL(ScriptedProvider.issuer + "/authorize"),
                    tokenEndpoint: try EndpointURL(ScriptedProvider.issuer + "/token"))))
        var handMade = Client.confidential(service: described, id: "app", key: try Self.key(), redirect: known.redirect)
        handMade.options.fapi2 = true
        try await refused(handMade, "issuer", "endpoints written by hand")
        #expect(provider.count("/par") == 0)
        #expect(provider.count("/token") == 0)
        let device = try provider.app(known)
        #expect(
            await handshakeError { try await device.signInOnAnotherDevice { _ in } }?.code == "invalid_configuration")
        let adopting = try provider.app(known)
        let brought = Grant(accessToken: Secret("a"), expiresAt: nil, issuedAt: 0, refreshToken: nil, scopes: [])
        #expect(await handshakeError { try await adopting.adopt(brought) }?.code == "invalid_configuration")
    }

    @Test("M802: a sign-in on the user's own device, and one by another server's assertion, are refused unsent")
    func otherFlows() async throws {
        let provider = Self.provider(["backchannel_authentication_endpoint": ScriptedProvider.issuer + "/bc"])
        let app = try provider.app(Self.client(provider))
        let errors = [
            await handshakeError { try await app.signInOnOwnDevice(of: .login("alice")) },
            await handshakeError { try await app.signIn(withAssertion: Secret("e30.e30.c2ln")) },
        ]
        for error in errors {
            guard case .configuration("fapi2", _)? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        #expect(provider.requests.allSatisfy { $0.head.method == .get })
    }

    private static let deviations: [(String, @Sendable (inout Service.Deviations) -> Void)] = [
        ("repeated-when-pushed", { $0.repeatedWhenPushed = ["scope"] }),
        ("assertion-audience", { $0.assertionAudience = .tokenEndpoint }),
        ("assertion-audience", { $0.signedSecret = .init(issuer: "a", audience: "b") }),
    ]

    @Test("M802: RS256 is neither signed with nor believed, and a key of another kind is refused")
    func algorithms() async throws {
        let rsa = try SigningKey(parsing: Array(try _RSA.Signing.PrivateKey(keySize: .bits2048).pemRepresentation.utf8))
        let provider = Self.provider(["token_endpoint_auth_signing_alg_values_supported": ["RS256", "PS256"]])
        _ = try await provider.app(Self.client(provider, key: rsa)).beginSignIn()
        let assertion = try #require(provider.forms("/par").first?["client_assertion"])
        #expect(try SentProof.object(assertion.prefix { $0 != "." })["alg"] == .string("PS256"))
        let only = Self.provider(["token_endpoint_auth_signing_alg_values_supported": ["RS256"]])
        let app = try only.app(Self.client(only, key: rsa))
        #expect(await handshakeError { try await app.beginSignIn() }?.code == "invalid_configuration")
        let p384 = try SigningKey(parsing: Array(P384.Signing.PrivateKey().pemRepresentation.utf8))
        let other = try provider.app(Self.client(provider, key: p384))
        #expect(await handshakeError { try await other.beginSignIn() }?.code == "invalid_configuration")
        let client = try Self.client(provider)
        #expect(client.algorithms(nil, published: ["RS256", "ES256", "none"]) == [.es256])
        #expect(client.algorithms(.rs256, published: nil) == [])
        #expect(client.algorithms(nil, published: nil) == SignatureAlgorithm.fapi2)
        let proofs = Self.provider(["dpop_signing_alg_values_supported": ["RS256", "ES384"]])
        let unproven = try proofs.app(Self.client(proofs))
        #expect(await handshakeError { try await unproven.beginSignIn() }?.code == "invalid_configuration")
    }

    @Test("M802: a response without iss stops though none was announced, and no endpoint is called afterwards")
    func issuer() async throws {
        let provider = Self.provider(["authorization_response_iss_parameter_supported": false])
        let app = try provider.app(Self.client(provider))
        let attempt = try await app.beginSignIn()
        let redirect = "\(ScriptedProvider.redirect)?code=c&state=\(attempt.request.state.reveal())"
        #expect(await handshakeError { try await app.finishSignIn(redirectURL: redirect) }?.code == "issuer_missing")
        #expect(provider.count("/token") == 0)
    }

    @Test("M802: a bearer token stops, and nothing is stored")
    func bearer() async throws {
        let provider = Self.provider()
        let vault = MemoryVault()
        let app = try provider.app(Self.client(provider), vault: vault)
        let attempt = try await app.beginSignIn()
        let redirect =
            "\(ScriptedProvider.redirect)?code=c&state=\(attempt.request.state.reveal())&iss=https%3A%2F%2Fop.example"
        let error = await handshakeError { try await app.finishSignIn(redirectURL: redirect) }
        guard case .exchange(.malformed(.token, "token_type", "DPoP", _))? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try await vault.keys(of: .account).keys.isEmpty)
    }

    @Test("M801: a server without pushes is refused, and one that says nothing of certificates for a client with one")
    func server() async throws {
        let provider = ScriptedProvider()
        let app = try provider.app(Self.client(provider))
        #expect(await handshakeError { try await app.beginSignIn() }?.code == "malformed_response")
        let pushing = Self.provider()
        var client = try Self.client(pushing)
        client.certificate = try ClientCertificate(pem: Array(TestCertificates.client.utf8))
        let certified = try pushing.app(client)
        guard
            case .configuration("certificate", let problem)? = await handshakeError({
                try await certified.beginSignIn()
            })
        else {
            Issue.record("it was not refused")
            return
        }
        // This transport presents no certificates either, and says so under the same name.
        #expect(problem.contains("does not say that it binds tokens to certificates"), "\(problem)")
        #expect(pushing.count("/par") == 0)
    }

    @Test(
        "M803: the iat of an ID token and of a signed response may be 9 s ahead, and not 61",
        arguments: [(9, nil), (61, "id_token_time"), (9, nil), (61, "authorization_response_time")] as [(Int, String?)])
    func clocks(_ seconds: Int, _ code: String?) async throws {
        let provider = ScriptedProvider()
        var client = try provider.client()
        let now = Int(provider.time.source.now())
        if code != "authorization_response_time" { provider.change { $0.claims["iat"] = now + seconds } }
        if code != "id_token_time" { client.options.responseMode = .jwt }
        // A clock that stands still: on a busy machine a second is soon over.
        let app = try Handshake(
            client, vault: MemoryVault(), transport: provider,
            time: TimeSource(now: { Double(now) }, clock: ContinuousClock()))
        let isSigned = client.options.responseMode == .jwt
        let error = await handshakeError {
            try await app.signIn(
                through: isSigned ? provider.signingBrowser { ["iat": seconds] } : provider.browser)
        }
        #expect(error?.code == code)
    }

    @Test("D11, C5: what a client signs bears the server's time, as far as it is known")
    func learned() async throws {
        let provider = Self.provider()
        let date = DateFormatter()
        date.locale = Locale(identifier: "en_US_POSIX")
        date.timeZone = TimeZone(identifier: "GMT")
        date.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        let now = provider.time.source.now().rounded(.down)
        let server = now - 40
        let stated = date.string(from: Date(timeIntervalSince1970: server))
        provider.change { state in
            let path = "/.well-known/openid-configuration"
            let before = state.overrides[path]
            state.overrides[path] = { request in
                var answer = try await before?(request) ?? provider.answer(path, request)
                answer.head.headerFields[.date] = stated
                return answer
            }
        }
        var client = try Self.client(provider)
        client.options.signedRequests = .always
        // A clock that stands still: on a busy machine minutes may pass.
        let app = try Handshake(
            client, vault: MemoryVault(), transport: provider,
            time: TimeSource(now: { now }, clock: ContinuousClock()))
        _ = try await app.beginSignIn()
        let form = try #require(provider.forms("/par").first)
        for name in ["client_assertion", "request"] {
            let text = try #require(form[name])
            let issuedAt = try #require(try claims(of: text)["iat"] as? Int)
            #expect(Double(issuedAt) == server, "\(name)")
        }
    }

    @Test("the options of a client survive being stored, and older records have the usual ones")
    func stored() throws {
        var options = Client.Options()
        options.fapi2 = true
        options.signedRequests = .always
        options.responseMode = .jwt
        options.authorizationDetails = [AuthorizationDetail(type: "a", ["n": .number("1.10")])]
        options.userInfoAlgorithm = .ps256
        options.idTokenAlgorithm = .ed25519
        options.responseAlgorithm = .es256
        let again = try JSONDecoder().decode(Client.Options.self, from: JSONEncoder().encode(options))
        #expect(again == options)
        let older = try JSONDecoder().decode(
            Client.Options.self, from: Data(#"{"pushedRequests":"auto","dpop":"never"}"#.utf8))
        #expect(older.dpop == .never)
        #expect(older.responseMode == .query)
        #expect(!older.fapi2)
    }
}
