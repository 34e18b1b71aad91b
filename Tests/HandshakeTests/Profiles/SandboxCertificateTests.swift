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
        let elsewhere = try #require(try await Self.app(client, sandbox, vault: vault).account())
        let refused = await handshakeError {
            try await elsewhere.send(.get, sandbox.mutualTLS.origin + "/api/echo")
        }
        #expect(refused?.code == "sign_in_required")
        let asked = sandbox.requests(.mutualTLS).filter { ["/token", "/api/echo"].contains($0.path) }
        #expect(asked.map(\.status) == [200, 200, 401, 400])
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
