#if os(Linux)
import Foundation
import HTTPTypes
import OAuth
import Sandbox
import TestFixtures
import Testing

@testable import Handshake

/// Clients with certificates at the sandbox's endpoints for them (RFC 8705).
@Suite("The sandbox's mutual TLS", .heavy)
struct SandboxCertificateTests {
    private static func service(_ sandbox: Sandbox) throws -> Service {
        let security = TransportSecurity.allowingInsecureLoopback
        return try Service(
            name: "standard",
            authorizationServer: .discovered(
                try Issuer(sandbox.standard.origin, security: security), security: security),
            apiOrigins: [try EndpointURL(sandbox.mutualTLS.origin).origin],
            defaultScopes: ["openid", "profile", "offline_access", "api"])
    }

    private static func fixture(_ id: String, in sandbox: Sandbox) throws -> ClientCertificate {
        let pem = try #require(sandbox.standard.clients.first { $0.id == id }?.certificate)
        return try ClientCertificate(pem: Array(pem.utf8))
    }

    private static func client(
        _ id: String, _ sandbox: Sandbox, presenting certificate: ClientCertificate? = nil
    ) throws -> Client {
        Client.confidential(
            service: try service(sandbox), id: id, certificate: try certificate ?? fixture(id, in: sandbox),
            isSelfSigned: id.contains("self-signed"))
    }

    private static func app(_ client: Client, _ sandbox: Sandbox, vault: any Vault = MemoryVault()) throws -> Handshake
    {
        try Handshake(
            client, vault: vault,
            transport: try AsyncHTTPTransport(trusting: Array(sandbox.certificateAuthority.utf8)), limits: World.limits)
    }

    private static func signIn(_ client: Client, _ sandbox: Sandbox) async throws -> Account {
        try await app(client, sandbox).signIn(through: ApprovingBrowser(sandbox: sandbox))
    }

    @Test(
        "M308: a client signs in, calls the API and refreshes on its certificate, and its token counts nowhere else",
        arguments: ["sandbox-tls", "sandbox-self-signed-tls"])
    func chain(_ id: String) async throws {
        let sandbox = try await Sandbox.start()
        let account = try await Self.signIn(try Self.client(id, sandbox), sandbox)
        let api = sandbox.mutualTLS.origin + "/api/whoami"
        #expect(try await account.send(.get, api).head.status == .ok)
        try await account.refresh()
        #expect(try await account.send(.get, api).head.status == .ok)
        #expect(sandbox.requests(.standard).allSatisfy { $0.path != "/token" && $0.path != "/par" })
        #expect(sandbox.requests(.mutualTLS).count { $0.path == "/token" } == 2)
        let told = try await account.introspection()
        let thumbprint = try Self.fixture(id, in: sandbox).thumbprint
        #expect(told.confirmation?.certificateThumbprint == thumbprint && told.confirmation?.keyThumbprint == nil)
        #expect(told.confirmation?.holds(key: nil, certificate: thumbprint) == true)
        // The same token without the certificate, at either address.
        let bare = try AsyncHTTPTransport(trusting: Array(sandbox.certificateAuthority.utf8))
        let token = try await account.accessToken().reveal()
        for origin in [sandbox.mutualTLS.origin, sandbox.standard.origin] {
            var request = RequestMessage(
                .get, try EndpointURL(origin + "/api/whoami", security: .allowingInsecureLoopback))
            request.head.headerFields[.authorization] = "Bearer " + token
            #expect(try await bare.send(request, limits: World.limits).head.status.code == 401)
        }
        await sandbox.stop()
    }

    /// The form of a request in the whole log.
    private static func form(_ request: LoggedRequest) -> [String: String] {
        var components = URLComponents()
        components.percentEncodedQuery = String(decoding: request.whole?.body ?? [], as: UTF8.self)
        return components.queryItems?.reduce(into: [:]) { $0[$1.name] = $1.value } ?? [:]
    }

    /// By its certificate alone, and by a key over connections with a certificate.
    @Test("M801: with mutual TLS each row of the profile is seen on the wire", arguments: [false, true])
    func profile(_ hasKey: Bool) async throws {
        let sandbox = try await Sandbox.start(Sandbox.Configuration(logsWholeRequests: true))
        var client = try Self.client("sandbox-tls", sandbox)
        if hasKey {
            let known = try #require(sandbox.standard.clients.first { $0.id == "sandbox-key" })
            let key = try SigningKey(parsing: Array(try #require(known.privateKey).utf8))
            client = Client.confidential(service: try Self.service(sandbox), id: known.id, key: key)
            client.certificate = try Self.fixture("sandbox-tls", in: sandbox)
        }
        client.options.fapi2 = true
        let app = try Self.app(client, sandbox)
        let pages = Shared<[String]>([])
        let browser = ScriptedBrowser { page in
            pages.change { $0.append(page.url) }
            return try await sandbox.approve(page.url)
        }
        let account = try await app.signIn(through: browser)
        let first = try await account.accessToken()
        try await account.refresh()
        try await account.refresh()
        #expect(try await account.accessToken().matches(first) == false)
        let api = sandbox.mutualTLS.origin + "/api/whoami"
        #expect(try await account.send(.get, api).head.status == .ok)
        #expect(!account.status.isBound, "of the two ways to bind tokens the certificate is enough")
        _ = try await app.signIn(as: "again", through: browser)
        #expect(try await account.signOut().remaining.isEmpty)

        // Metadata only, pushed requests only, aliases only.
        let plain = sandbox.requests(.standard).map(\.path)
        #expect(plain.first?.hasPrefix("/.well-known/") == true)
        #expect(plain.allSatisfy { $0.hasPrefix("/.well-known/") || ["/jwks", "/authorize"].contains($0) }, "\(plain)")
        for page in pages.value {
            let names = URLComponents(string: page)?.queryItems?.map(\.name).sorted()
            #expect(names == ["client_id", "request_uri"])
        }
        let certified = sandbox.requests(.mutualTLS)
        #expect(Set(certified.map(\.path)) == ["/par", "/token", "/revoke", "/api/whoami"])
        #expect(certified.allSatisfy { $0.status.map { $0 < 300 } == true })
        // Each push is followed by its own exchange, and by nothing between the two.
        let order = certified.map(\.path).filter { $0 != "/revoke" }
        #expect(order == ["/par", "/token", "/token", "/token", "/api/whoami", "/par", "/token"])
        var assertions: Set<String> = []
        for request in certified where request.path != "/api/whoami" {
            let form = Self.form(request)
            #expect(form["client_id"] == client.id && form["client_secret"] == nil, "\(request.path)")
            #expect(request.whole?.headers["authorization"] == nil && request.whole?.headers["dpop"] == nil)
            #expect((form["client_assertion"] != nil) == hasKey, "\(request.path)")
            guard let assertion = form["client_assertion"] else { continue }
            let claims = try claims(of: assertion)
            #expect(claims["aud"] as? String == sandbox.standard.origin, "the issuer, also at an alias")
            assertions.insert(try #require(claims["jti"] as? String))
            #expect(try SentProof.object(assertion.prefix { $0 != "." })["alg"] == .string("ES256"))
        }
        #expect(!hasKey || assertions.count == certified.count - 1)
        let pushes = certified.filter { $0.path == "/par" }.map(Self.form)
        #expect(pushes.allSatisfy { $0["code_challenge_method"] == "S256" && $0["nonce"]?.utf8.count == 43 })
        for name in ["code_challenge", "nonce", "state"] { #expect(Set(pushes.map { $0[name] }).count == 2, "\(name)") }
        // This client's refresh tokens rotate; those of the client by DPoP stay.
        let refreshes = certified.map(Self.form).compactMap { $0["refresh_token"] }
        #expect(refreshes.count == 2 && Set(refreshes).count == 2)
        await sandbox.stop()
    }

    @Test("M801: with mutual TLS a response without iss stops, and no endpoint is called afterwards")
    func issuerMissing() async throws {
        let sandbox = try await Sandbox.start()
        var client = try Self.client("sandbox-tls", sandbox)
        client.options.fapi2 = true
        let app = try Self.app(client, sandbox)
        let error = await handshakeError {
            try await app.signIn(
                through: ScriptedBrowser { page in
                    let redirect = try await sandbox.approve(page.url)
                    var components = try #require(URLComponents(string: redirect))
                    components.queryItems?.removeAll { $0.name == "iss" }
                    return components.string
                })
        }
        #expect(error?.code == "issuer_missing")
        #expect(sandbox.requests(.mutualTLS).map(\.path) == ["/par"])
        await sandbox.stop()
    }

    @Test("C6: a certificate of the same name that another has signed, or of another name, is not the client's")
    func impostors() async throws {
        let sandbox = try await Sandbox.start()
        let other = try Self.fixture("sandbox-self-signed-tls", in: sandbox)
        let forged = try ClientCertificate(pem: Array(CertificateAuthority.selfSigned("sandbox-tls").pem.utf8))
        let renamed = try ClientCertificate(
            pem: Array(CertificateAuthority.shared.issueClient("sandbox-self-signed-tls").pem.utf8))
        for (id, certificate) in [
            ("sandbox-tls", other), ("sandbox-tls", forged), ("sandbox-tls", renamed),
            ("sandbox-self-signed-tls", forged), ("sandbox-self-signed-tls", renamed),
        ] {
            let client = try Self.client(id, sandbox, presenting: certificate)
            #expect(await handshakeError { try await Self.signIn(client, sandbox) }?.code == "invalid_client")
        }
        #expect(sandbox.requests(.mutualTLS).allSatisfy { $0.status == 401 })
        await sandbox.stop()
    }

    @Test("8705-4: a public client's tokens are bound too, and its refresh token counts on no other certificate")
    func publicClient() async throws {
        let sandbox = try await Sandbox.start()
        let vault = MemoryVault()
        var client = Client(service: try Self.service(sandbox), id: "sandbox-public")
        client.certificate = try Self.fixture("sandbox-tls", in: sandbox)
        let app = try Self.app(client, sandbox, vault: vault)
        let account = try await app.signIn(through: ApprovingBrowser(sandbox: sandbox))
        try await account.refresh()
        let whole = try await account.send(.get, sandbox.mutualTLS.origin + "/api/whoami")
        #expect(String(decoding: whole.content, as: UTF8.self).contains("sandbox-public"))
        client.certificate = try Self.fixture("sandbox-self-signed-tls", in: sandbox)
        try await Self.forgetCertificate(of: account.id, in: vault)
        let elsewhere = try #require(try await Self.app(client, sandbox, vault: vault).account())
        let refused = await handshakeError {
            try await elsewhere.send(.get, sandbox.mutualTLS.origin + "/api/echo")
        }
        #expect(refused?.code == "sign_in_required")
        let asked = sandbox.requests(.mutualTLS).filter { ["/token", "/api/echo"].contains($0.path) }
        #expect(asked.map(\.status) == [200, 200, 401, 400])
        await sandbox.stop()
    }

    /// Removes from an account's record what records of before it was noted lack.
    private static func forgetCertificate(of id: AccountID, in vault: any Vault) async throws {
        try await vault.update(id.vaultKey) { locked in
            let contents = await locked.contents
            let bytes = try #require(contents)
            var record = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
            #expect(record.removeValue(forKey: "certificate") != nil)
            try await locked.replace(with: Array(try JSONSerialization.data(withJSONObject: record)))
        }
    }

    @Test("3.4: a public client whose certificate was renewed has to sign in, and its grant stays stored")
    func renewedOfPublicClient() async throws {
        let sandbox = try await Sandbox.start()
        let vault = MemoryVault()
        var client = Client(service: try Self.service(sandbox), id: "sandbox-public")
        client.certificate = try Self.fixture("sandbox-tls", in: sandbox)
        let account = try await Self.app(client, sandbox, vault: vault)
            .signIn(through: ApprovingBrowser(sandbox: sandbox))
        let stored = try await vault.record(account.id.vaultKey)
        let asked = sandbox.requests(.mutualTLS).count
        let api = sandbox.mutualTLS.origin + "/api/whoami"
        let others: [ClientCertificate?] = [try Self.fixture("sandbox-self-signed-tls", in: sandbox), nil]
        for other in others {
            client.certificate = other
            let again = try #require(try await Self.app(client, sandbox, vault: vault).account())
            let required = HandshakeError.signInRequired(again.id, .certificateChanged)
            #expect(await handshakeError { try await again.send(.get, api) } == required)
            #expect(await handshakeError { try await again.refresh() } == required)
        }
        #expect(sandbox.requests(.mutualTLS).count == asked, "nothing was sent")
        #expect(try await vault.record(account.id.vaultKey) == stored)
        // The certificate before still serves, and a sign-in makes the new one the account's.
        client.certificate = try Self.fixture("sandbox-tls", in: sandbox)
        let before = try #require(try await Self.app(client, sandbox, vault: vault).account())
        #expect(try await before.send(.get, api).head.status == .ok)
        client.certificate = try Self.fixture("sandbox-self-signed-tls", in: sandbox)
        let new = try await Self.app(client, sandbox, vault: vault).signIn(through: ApprovingBrowser(sandbox: sandbox))
        try await new.refresh()
        #expect(try await new.send(.get, api).head.status == .ok)
        await sandbox.stop()
    }

    @Test("3.4: without its certificate a client is refused, also with a proof; with both the proof names the alias")
    func withProof() async throws {
        let sandbox = try await Sandbox.start()
        let bare = Client(service: try Self.service(sandbox), id: "sandbox-tls")
        #expect(await handshakeError { try await Self.signIn(bare, sandbox) }?.code == "invalid_client")
        var client = try Self.client("sandbox-tls", sandbox)
        client.options.dpop = .always
        let account = try await Self.signIn(client, sandbox)
        #expect(account.status.isBound)
        #expect(try await account.send(.get, sandbox.mutualTLS.origin + "/api/whoami").head.status == .ok)
        await sandbox.stop()
    }
}
#endif
