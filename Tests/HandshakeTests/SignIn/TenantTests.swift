import Foundation
import HTTPTypes
import OAuth
import Testing

@testable import Handshake

@Suite("A server that many tenants share")
struct TenantTests {
    private static let tenant = "6f9d1c1e-2b7a-4a55-9f0e-0b6f3f2a7c11"
    private static let other = "0e1b2a3c-4d5e-4f60-8a7b-9c8d7e6f5a4b"
    private static let template = "https://op.example/{tenantid}/v2.0"

    private static func issuer(of tenant: String) -> String { "https://op.example/\(tenant)/v2.0" }

    private static func signs(for tenant: String) -> @Sendable (inout sending ScriptedProvider.State) -> Void {
        { state in
            state.claims["iss"] = issuer(of: tenant)
            state.claims["tid"] = tenant
        }
    }

    /// A provider whose document names a template, and a client that knows it.
    private static func scene(
        knowing template: String? = template
    ) throws -> (provider: ScriptedProvider, app: Handshake) {
        let provider = ScriptedProvider()
        provider.publish(["issuer": Self.template])
        provider.change(signs(for: tenant))
        var deviations = Service.Deviations()
        deviations.issuerTemplate = try template.map { try IssuerTemplate($0) }
        let service = try Service(
            name: "op", authorizationServer: .discovered(try Issuer(ScriptedProvider.issuer), security: .httpsOnly),
            apiRoot: try EndpointURL(ScriptedProvider.issuer + "/"), defaultScopes: ["openid", "offline_access"],
            deviations: deviations)
        let client = Client(
            service: service, id: "app", redirect: .uri(try RedirectURI(ScriptedProvider.redirect)))
        return (provider, try provider.app(client))
    }

    @Test("H1: a user signs in at the shared address, and the account is the tenant's")
    func signIn() async throws {
        let (provider, app) = try Self.scene()
        let account = try await app.signIn(through: provider.browser)
        #expect(account.status.identity?.issuer == Self.issuer(of: Self.tenant))
        try await account.refresh()
        #expect(try await account.accessToken().reveal() == "access-2")
    }

    @Test("H1: without the template the same server is refused before the user is asked")
    func unknownTemplate() async throws {
        let (provider, app) = try Self.scene(knowing: nil)
        let error = await handshakeError { try await app.signIn(through: provider.browser) }
        #expect(error?.code == "issuer_mismatch")
        #expect("\(String(describing: error))".contains("stands for many tenants"))
        #expect(provider.count("/token") == 0)
    }

    @Test("H1: an ID token of a tenant that it does not state is refused, and nothing is stored")
    func foreign() async throws {
        let (provider, app) = try Self.scene()
        provider.change { $0.claims["tid"] = Self.other }
        let error = await handshakeError { try await app.signIn(through: provider.browser) }
        #expect(error?.code == "issuer_mismatch")
        #expect(try await app.account() == nil)
    }

    @Test("H1, D9: an account stays with its tenant when it is refreshed")
    func refreshed() async throws {
        let (provider, app) = try Self.scene()
        let account = try await app.signIn(through: provider.browser)
        provider.change(Self.signs(for: Self.other))
        let error = await handshakeError { try await account.refresh() }
        #expect(error?.code == "issuer_mismatch")
        #expect(account.status.identity?.issuer == Self.issuer(of: Self.tenant))
    }

    @Test("H1, M213: the same subject at another tenant is another user")
    func steppedUp() async throws {
        let (provider, app) = try Self.scene()
        let account = try await app.signIn(through: provider.browser)
        provider.change(Self.signs(for: Self.other))
        let error = await handshakeError {
            try await app.signIn(again: account, for: .scopes(["b"]), through: provider.browser)
        }
        #expect(error?.code == "subject_mismatch")
        #expect(try await app.account()?.status.identity?.issuer == Self.issuer(of: Self.tenant))
    }
    @Test("H1, H6: an account stays with its issuer when the address comes to name another one")
    func renewed() async throws {
        let (provider, app) = try Self.scene()
        let account = try await app.signIn(through: provider.browser)
        provider.publish(["issuer": Self.issuer(of: Self.other), "token_endpoint": "https://op.example/other"])
        provider.time.advance(by: 700_000)
        try await account.refresh()
        #expect(account.status.server?.issuer.string == ScriptedProvider.issuer)
        #expect(provider.count("/other") == 0)
    }

    @Test("H1: the FAPI profile takes no template, because the metadata have to name the issuer")
    func profile() async throws {
        let (provider, _) = try Self.scene()
        var deviations = Service.Deviations()
        deviations.issuerTemplate = try IssuerTemplate(Self.template)
        let service = try Service(
            name: "op", authorizationServer: .discovered(try Issuer(ScriptedProvider.issuer), security: .httpsOnly),
            defaultScopes: ["openid"], deviations: deviations)
        var client = Client(service: service, id: "app", redirect: .uri(try RedirectURI(ScriptedProvider.redirect)))
        client.options.fapi2 = true
        let error = await handshakeError { try await provider.app(client).signIn(through: provider.browser) }
        guard case .configuration("issuer", _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
