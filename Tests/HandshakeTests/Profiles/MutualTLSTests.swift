#if os(Linux)
import Foundation
import HTTPTypes
import Handshake
import OAuth
import Synchronization
import TestFixtures
import Testing

@testable import Handshake

@Suite("Mutual TLS", .heavy)
struct MutualTLSTests {
    private static func certificate(_ pem: String = TestCertificates.client) throws -> ClientCertificate {
        try ClientCertificate(pem: Array(pem.utf8))
    }

    private static func client(
        _ server: CertificateServer, certificate pem: String = TestCertificates.client, key: SigningKey? = nil
    ) throws -> Client {
        let service = try Service(
            name: "mtls", authorizationServer: .discovered(try Issuer(server.issuer), security: .httpsOnly),
            apiOrigins: [try EndpointURL(server.certified).origin])
        let redirect = Client.Redirect.uri(try RedirectURI("com.example.app:/callback"))
        guard let key else {
            return Client.confidential(
                service: service, id: "app", certificate: try certificate(pem), redirect: redirect, scopes: ["api"])
        }
        var client = Client.confidential(service: service, id: "app", key: key, redirect: redirect, scopes: ["api"])
        client.certificate = try certificate(pem)
        return client
    }

    private static func app(_ client: Client, vault: any Vault = MemoryVault()) throws -> Handshake {
        try Handshake(
            client, vault: vault, transport: try AsyncHTTPTransport(trusting: Array(TestCertificates.authority.utf8)),
            limits: World.limits)
    }

    /// Signs in, as a browser would that goes where it is sent.
    private static func signIn(_ app: Handshake, at server: CertificateServer) async throws -> Account {
        let attempt = try await app.beginSignIn()
        let issuer = server.issuer.replacing(":", with: "%3A").replacing("/", with: "%2F")
        return try await app.finishSignIn(
            redirectURL: "com.example.app:/callback?code=c&state=\(attempt.request.state.reveal())&iss=\(issuer)")
    }

    @Test(
        "M308, C6: the alias is called with the certificate, the rest where it is, and the API on the same certificate")
    func aliases() async throws {
        let server = try await CertificateServer.start()
        let app = try Self.app(Self.client(server))
        let account = try await Self.signIn(app, at: server)
        #expect(try await account.send(.get, server.certified + "/api").head.status == .ok)
        try await account.refresh()
        #expect(try await account.send(.get, server.certified + "/api").head.status == .ok)
        let seen = server.seen
        let thumbprint = TestCertificates.clientThumbprint
        #expect(seen.filter { $0.path == "/par" }.map(\.isCertified) == [false])
        #expect(seen.filter { $0.path == "/token" }.map(\.isCertified) == [true, true])
        #expect(seen.filter { $0.path == "/token" }.map(\.thumbprint) == [thumbprint, thumbprint])
        #expect(seen.filter { $0.path == "/api" }.map(\.thumbprint) == [thumbprint, thumbprint])
        #expect(seen.filter { $0.path == "/token" || $0.path == "/par" }.allSatisfy { $0.form["client_id"] == "app" })
        #expect(seen.allSatisfy { $0.form["client_secret"] == nil && $0.form["client_assertion"] == nil })
        try await server.stop()
    }

    @Test("C6: a token that is bound to a certificate is of no use on another one, nor without one")
    func bound() async throws {
        let server = try await CertificateServer.start()
        let vault = MemoryVault()
        let account = try await Self.signIn(try Self.app(Self.client(server), vault: vault), at: server)
        let token = try await account.accessToken()
        let transport = try AsyncHTTPTransport(trusting: Array(TestCertificates.authority.utf8))
        var request = RequestMessage(.get, try EndpointURL(server.certified + "/api/any"))
        request.head.headerFields[.authorization] = "Bearer " + token.reveal()
        #expect(try await transport.send(request, limits: World.limits).head.status.code == 403)
        let other = try transport.presenting(Self.certificate(TestCertificates.other))
        #expect(try await other.send(request, limits: World.limits).head.status.code == 403)
        let own = try transport.presenting(Self.certificate())
        #expect(try await own.send(request, limits: World.limits).head.status == .ok)
        try await server.stop()
    }

    @Test("3.4: a confidential client whose certificate was renewed refreshes before it calls, and once")
    func renewed() async throws {
        let server = try await CertificateServer.start()
        let vault = MemoryVault()
        var client = try Self.client(server)
        let account = try await Self.signIn(try Self.app(client, vault: vault), at: server)
        client.certificate = try Self.certificate(TestCertificates.other)
        let renewed = try #require(try await Self.app(client, vault: vault).account())
        for _ in 0..<2 {
            #expect(try await renewed.send(.get, server.certified + "/api").head.status == .ok)
        }
        let seen = server.seen.suffix(3)
        #expect(seen.map(\.path) == ["/token", "/api", "/api"])
        #expect(Set(seen.map(\.thumbprint)) == [client.certificate?.thumbprint])
        #expect(server.seen.count { $0.path == "/token" } == 2)
        // The process with the certificate before takes over what is stored, and gets a token for its own.
        try await account.refresh()
        #expect(try await account.send(.get, server.certified + "/api").head.status == .ok)
        #expect(server.seen.last?.thumbprint == TestCertificates.clientThumbprint)
        try await server.stop()
    }

    /// An account at a server that binds tokens, whose client has another certificate than at the sign-in.
    private static func renewal(at provider: ScriptedProvider, scopes: [String]) async throws -> Account {
        provider.publish(["tls_client_certificate_bound_access_tokens": true])
        let known = try provider.client()
        let vault = MemoryVault()
        let transport = PresentingTransport(provider: provider, presented: Shared<[String]>([]))
        var client = Client.confidential(
            service: known.service, id: "app", certificate: try certificate(), isSelfSigned: true,
            redirect: known.redirect, scopes: scopes)
        let app = try Handshake(client, vault: vault, transport: transport, time: provider.time.source)
        _ = try await app.signIn(through: provider.browser)
        client.certificate = try certificate(TestCertificates.other)
        let again = try Handshake(client, vault: vault, transport: transport, time: provider.time.source)
        return try #require(try await again.account())
    }

    @Test("D9, 3.4: a refused ID token leaves the tokens before on their certificate, and the next request refreshes")
    func otherUserOnRenewed() async throws {
        let provider = ScriptedProvider()
        let account = try await Self.renewal(at: provider, scopes: ["openid", "offline_access"])
        provider.change { $0.claims["sub"] = "mallory" }
        #expect(await handshakeError { try await account.accessToken() }?.code == "subject_mismatch")
        #expect(account.record.certificate == TestCertificates.clientThumbprint)
        provider.change { $0.claims = [:] }
        for _ in 0..<2 { #expect(try await account.accessToken().reveal() == "access-3") }
        let thumbprint = try Self.certificate(TestCertificates.other).thumbprint
        #expect(account.record.certificate == thumbprint)
        #expect(provider.count("/token") == 3)
    }

    @Test("3.4: a renewed certificate and no refresh token: that is the reason to sign in, and the token stays stored")
    func withoutRefreshToken() async throws {
        let provider = ScriptedProvider()
        provider.change { state in
            state.overrides["/token"] = { _ in
                .json(200, ["access_token": "access", "token_type": "Bearer", "expires_in": 3600])
            }
        }
        let account = try await Self.renewal(at: provider, scopes: ["api"])
        let required = HandshakeError.signInRequired(account.id, .certificateChanged)
        #expect(await handshakeError { try await account.accessToken() } == required)
        #expect(account.status.state == .signedIn)
        #expect(provider.count("/token") == 1)
    }

    @Test("3.4: a renewed certificate and a grant of the client's own: a token for the new one is asked for")
    func ownGrant() async throws {
        let provider = ScriptedProvider()
        provider.publish(["tls_client_certificate_bound_access_tokens": true])
        let service = try provider.client().service
        let (vault, presented) = (MemoryVault(), Shared<[String]>([]))
        let transport = PresentingTransport(provider: provider, presented: presented)
        let key = try SigningKey(parsing: Array(DPoPKey().source.reveal().utf8))
        let claims = JWTBearerAssertion.Claims(issuer: "app", subject: "ada")
        var client = Client.asserting(claims, signedBy: key, service: service, id: "app", scopes: ["api"])
        client.certificate = try Self.certificate()
        let app = try Handshake(client, vault: vault, transport: transport, time: provider.time.source)
        _ = try await app.signInAsClient()
        client.certificate = try Self.certificate(TestCertificates.other)
        let again = try Handshake(client, vault: vault, transport: transport, time: provider.time.source)
        let account = try #require(try await again.account())
        #expect(try await account.accessToken().reveal() == "access-2")
        #expect(account.record.certificate == client.certificate?.thumbprint)
    }

    @Test(
        "M802: under the profile a session whose tokens no certificate binds gets ones that the client's binds, or sends nothing",
        arguments: [true, false])
    func unboundSession(isBinding: Bool) async throws {
        let provider = ScriptedProvider()
        provider.publish([
            "tls_client_certificate_bound_access_tokens": isBinding,
            "pushed_authorization_request_endpoint": ScriptedProvider.issuer + "/par",
            "token_endpoint_auth_methods_supported": ["private_key_jwt"],
        ])
        let known = try provider.client()
        let (vault, presented) = (MemoryVault(), Shared<[String]>([]))
        let transport = PresentingTransport(provider: provider, presented: presented)
        var client = Client.confidential(
            service: known.service, id: "app",
            key: try SigningKey(parsing: Array(DPoPKey().source.reveal().utf8)), redirect: known.redirect)
        client.options.pushedRequests = .never
        let older = try Handshake(client, vault: vault, transport: transport, time: provider.time.source)
        let first = try await older.signIn(through: provider.browser)
        #expect(first.record.certificate == nil && !first.status.isBoundToCertificate)
        client.certificate = try Self.certificate()
        client.options.fapi2 = true
        client.options.pushedRequests = .automatic
        let app = try Handshake(client, vault: vault, transport: transport, time: provider.time.source)
        let account = try #require(try await app.account())
        guard isBinding else {
            // The server does not say that it binds tokens to certificates.
            let code = "invalid_configuration"
            #expect(await handshakeError { try await account.accessToken() }?.code == code)
            #expect(await handshakeError { try await account.send(.get, "me") }?.code == code)
            #expect(provider.count("/token") == 1 && provider.count("/me") == 0, "nothing is refreshed or sent")
            #expect(try await account.signOut().isForgotten)
            return
        }
        for _ in 0..<2 { #expect(try await account.accessToken().reveal() == "access-2") }
        #expect(account.record.certificate == TestCertificates.clientThumbprint)
        #expect(account.status.isBoundToCertificate && !account.status.isBound)
        #expect(provider.count("/token") == 2)
        #expect(presented.value.contains { $0.hasSuffix("/token") })
    }

    @Test("F2, C6: the certificate does not go where another origin has led, as little as the token")
    func led() async throws {
        let server = try await CertificateServer.start()
        let account = try await Self.signIn(try Self.app(Self.client(server)), at: server)
        _ = try await account.send(.get, server.certified + "/api/away")
        let seen = server.seen.suffix(3)
        #expect(seen.map(\.path) == ["/api/away", "/back", "/whoami"])
        #expect(seen.map(\.isCertified) == [true, false, true])
        #expect(seen.map(\.thumbprint) == [TestCertificates.clientThumbprint, nil, nil])
        try await server.stop()
    }

    @Test("E4, C6: a refresh whose certificate cannot be presented was not sent: the session stays as it was")
    func unpresented() async throws {
        let server = try await CertificateServer.start()
        let vault = MemoryVault()
        let client = try Self.client(server)
        let account = try await Self.signIn(try Self.app(client, vault: vault), at: server)
        let bare = TappedTransport(base: try AsyncHTTPTransport(trusting: Array(TestCertificates.authority.utf8)))
        let app = try Handshake(client, vault: vault, transport: bare, limits: World.limits)
        let elsewhere = try #require(try await app.account())
        #expect(await handshakeError { try await elsewhere.refresh() }?.code == "invalid_configuration")
        #expect(elsewhere.status.state == .signedIn)
        #expect(try await app.account()?.status.state == .signedIn)
        #expect(server.seen.count { $0.path == "/token" } == 1)
        try await account.refresh()
        try await server.stop()
    }

    @Test("M308: a user is asked on their own device, and the answer polled for, at the aliases with the certificate")
    func ownDevice() async throws {
        let provider = ScriptedProvider()
        provider.publish([
            "backchannel_authentication_endpoint": ScriptedProvider.issuer + "/bc",
            "mtls_endpoint_aliases": [
                "token_endpoint": "https://mtls.op.example/token",
                "backchannel_authentication_endpoint": "https://mtls.op.example/bc",
            ],
        ])
        provider.change { state in
            state.overrides["/bc"] = { _ in .json(200, ["auth_req_id": "r", "expires_in": 120, "interval": 5]) }
        }
        let known = try provider.client()
        let client = Client.confidential(
            service: known.service, id: "app", certificate: try Self.certificate(), isSelfSigned: true,
            redirect: known.redirect)
        let clock = ManualClock()
        let presented = Shared<[String]>([])
        let app = try Handshake(
            client, vault: MemoryVault(), transport: PresentingTransport(provider: provider, presented: presented),
            time: TimeSource(now: { provider.time.source.now() + clock.now.offset / .seconds(1) }, clock: clock))
        let passing = clock.pass(inStepsOf: .seconds(1), whileAsleep: 2)
        defer { passing.cancel() }
        _ = try await app.signInOnOwnDevice(of: .login("alice"))
        #expect(presented.value == ["mtls.op.example/bc", "mtls.op.example/token"])
    }

    @Test("M308: connections with a certificate are of a pool of their own")
    func pools() async throws {
        let server = try await CertificateServer.start()
        let plain = try AsyncHTTPTransport(trusting: Array(TestCertificates.authority.utf8))
        let certified = try plain.presenting(Self.certificate())
        let request = RequestMessage(.get, try EndpointURL(server.certified + "/whoami"))
        for transport in [certified, plain, certified, plain] as [any Transport] {
            _ = try await transport.send(request, limits: World.limits)
        }
        let thumbprint = TestCertificates.clientThumbprint
        #expect(server.seen.map(\.thumbprint) == [thumbprint, nil, thumbprint, nil])
        try await server.stop()
    }

    @Test("M801: the FAPI profile with mutual TLS: keys alone, aliases, pushed requests, tokens on the certificate")
    func profile() async throws {
        let server = try await CertificateServer.start()
        let signing = try SigningKey(parsing: Array(DPoPKey().source.reveal().utf8))
        for key in [nil, signing] {
            var client = try Self.client(server, key: key)
            client.options.fapi2 = true
            let app = try Self.app(client)
            let attempt = try await app.beginSignIn()
            let query = URLComponents(string: attempt.page.url)?.queryItems ?? []
            #expect(query.map(\.name).sorted() == ["client_id", "request_uri"])
            let account = try await Self.signIn(app, at: server)
            #expect(try await account.send(.get, server.certified + "/api").head.status == .ok)
            #expect(!account.status.isBound)
            let tokens = server.seen.filter { $0.path == "/token" }
            #expect(tokens.last?.thumbprint == TestCertificates.clientThumbprint)
            #expect((tokens.last?.form["client_assertion"] != nil) == (key != nil))
            #expect(tokens.allSatisfy { $0.form["client_secret"] == nil })
        }
        try await server.stop()
    }

    @Test("a certificate is named by the SHA-256 of its DER, survives being stored, and never prints its key")
    func stored() async throws {
        let certificate = try Self.certificate()
        #expect(certificate.thumbprint == TestCertificates.clientThumbprint)
        #expect("\(certificate)" == "client certificate \(TestCertificates.clientThumbprint)")
        #expect(!String(reflecting: certificate).contains("PRIVATE"))
        let server = try await CertificateServer.start()
        let vault = MemoryVault()
        let registrations = Registrations(in: vault)
        var client = try Self.client(server)
        client.options.fapi2 = true
        try await registrations.remember(client, as: "a")
        let again = try #require(try await registrations.client(named: "a"))
        #expect(again.certificate?.thumbprint == certificate.thumbprint)
        #expect(again.options.fapi2)
        guard case .certificate(isSelfSigned: false)? = again.credential else {
            Issue.record("the credential is another one")
            return
        }
        try await server.stop()
    }

    @Test("what is no certificate with its key is refused with what to do, and without a byte of the key")
    func refused() throws {
        let parts = TestCertificates.parts(of: TestCertificates.client)
        for text in ["", "x", parts.certificate, parts.key] {
            #expect(throws: HandshakeError.self) { try Self.certificate(text) }
        }
        let mismatched = try Self.certificate(TestCertificates.mismatched)
        let error = #expect(throws: HandshakeError.self) { try AsyncHTTPTransport().presenting(mismatched) }
        #expect(error?.code == "invalid_configuration")
        #expect("\(error.map { "\($0)" } ?? "")".contains("PRIVATE") == false)
    }

    @Test("a transport that presents no certificates says so, and nothing is sent")
    func unable() async throws {
        let provider = ScriptedProvider()
        provider.publish(["mtls_endpoint_aliases": ["token_endpoint": "https://mtls.op.example/token"]])
        let known = try provider.client()
        let client = Client.confidential(
            service: known.service, id: "app", certificate: try Self.certificate(), isSelfSigned: true,
            redirect: known.redirect, scopes: ["api"])
        let app = try provider.app(client)
        let attempt = try await app.beginSignIn()
        let error = await handshakeError {
            try await app.finishSignIn(
                redirectURL: "\(ScriptedProvider.redirect)?code=c&state=\(attempt.request.state.reveal())"
                    + "&iss=https%3A%2F%2Fop.example")
        }
        #expect(error?.code == "invalid_configuration")
        #expect(provider.count("/token") == 0)
    }
}

/// A provider's transport that notes where the certificate was presented.
private struct PresentingTransport: Transport {
    let provider: ScriptedProvider
    let presented: Shared<[String]>
    var isPresenting = false

    func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        if isPresenting { presented.change { $0.append("\(request.head.authority ?? "")\(request.head.path ?? "")") } }
        return try await provider.send(request, limits: limits)
    }

    func presenting(_ certificate: ClientCertificate) throws(HandshakeError) -> any Transport {
        PresentingTransport(provider: provider, presented: presented, isPresenting: true)
    }
}
#endif
