import HTTPTypes
import OAuth
import Testing

@testable import Handshake

/// No value of `Handshake`, and nothing that it logs, shows a secret without being asked.
@Suite("Hidden secrets")
struct HiddenSecretTests {
    private static let canary = "canary-0123456789abcdef0123456789abcdef"

    /// Everything that a value shows of itself, down to the last member that reflection reaches.
    private func shown(_ value: Any) -> String {
        var dumped = ""
        dump(value, to: &dumped)
        return "\(value)\n\(String(reflecting: value))\n\(dumped)"
    }

    /// A provider whose refresh tokens carry the canary.
    private func provider() -> ScriptedProvider {
        let provider = ScriptedProvider()
        provider.change { state in
            state.overrides["/token"] = { request in
                var answer = try provider.answer("/token", request)
                let text = String(decoding: answer.content, as: UTF8.self)
                answer.content = Array(text.replacing("refresh-", with: "\(Self.canary)-").utf8)
                return answer
            }
        }
        return provider
    }

    @Test("E9: no value of Handshake shows a secret, however it is printed, dumped or reflected")
    func values() async throws {
        let provider = provider()
        let vault = MemoryVault()
        let secret = Secret(Self.canary)
        let confidential = Client.confidential(
            service: try provider.client().service, id: "app", secret: secret,
            redirect: .uri(try RedirectURI(ScriptedProvider.redirect)))
        let app = try Handshake(confidential, vault: vault, transport: provider, time: provider.time.source)
        let attempt = try await app.beginSignIn()
        let account = try await app.signIn(through: provider.browser)
        let access = try await account.accessToken()
        let state = attempt.request.state.reveal()
        let verifier = attempt.request.verifier.secret.reveal()
        let nonce = try #require(attempt.request.nonce).reveal()
        let unstored = Account.Unstored(
            record: account.record.keeping(
                unchecked: .init(
                    grant: account.record.grant.with(secret, nil), binding: account.record.binding, certificate: nil,
                    receivedAt: 0),
                since: 0),
            replaced: secret)
        let values: [(String, Any)] = [
            ("Client", confidential), ("Handshake", app), ("Account", account), ("AccountStatus", account.status),
            ("AccountRecord", account.record), ("Unstored", unstored),
            ("AccessCredential", AccessCredential(account.record, of: confidential, margin: 60)),
            ("SignInAttempt", attempt), ("SignInPage", attempt.page),
            ("PendingSignIn", PendingSignIn(request: attempt.request, account: account.id)),
            ("MemoryVault", vault), ("Registrations", Registrations(in: vault)), ("Environment", account.environment),
        ]
        for (name, value) in values {
            let text = shown(value)
            for hidden in [Self.canary, access.reveal(), state, verifier, nonce] {
                #expect(!text.contains(hidden), "\(name) shows a secret")
            }
        }
        let key = try #require(VaultMasterKey(revealed: Array(repeating: 0xA7, count: VaultMasterKey.length)))
        #expect(!shown(key).contains("167"))
    }

    @Test("L1, L2: what is logged has no secret, no query and no body")
    func logs() async throws {
        let lines = LogLines()
        let provider = provider()
        let app = try Handshake(
            provider.client(), vault: MemoryVault(), transport: provider, time: provider.time.source, log: lines.logger)
        let seen = Shared<[String]>([])
        let browser = ScriptedBrowser { page in
            seen.change { $0.append(page.url) }
            return try await provider.browser.show(page)
        }
        provider.change { state in
            state.overrides["/revoke"] = { _ in .json(400, ["error": "x", "error_description": Self.canary]) }
        }
        let account = try await app.signIn(through: browser)
        provider.change { state in
            state.overrides["/revoke"] = { _ in .json(503, ["error_description": Self.canary]) }
        }
        _ = try await app.signIn(through: browser)
        try await account.refresh()
        _ = await handshakeError {
            try await app.signIn(
                through: ScriptedBrowser { page in
                    seen.change { $0.append(page.url) }
                    throw CancellationError()
                })
        }
        _ = try await account.signOut()
        let secrets = seen.value.flatMap { $0.matches(of: /(?:state|nonce)=([^&]+)/).map { String($0.1) } }
        #expect(secrets.count == 6)
        #expect(lines.all.contains { $0.contains("discovered an authorization server") })
        #expect(lines.all.contains { $0.contains("could not be revoked") })
        for line in lines.all {
            for hidden in secrets + [Self.canary, "access-", "?", "code=", "token="] {
                #expect(!line.contains(hidden), "\(line)")
            }
        }
    }
}
