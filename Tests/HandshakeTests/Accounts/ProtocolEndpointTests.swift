import HTTPTypes
import Handshake
import OAuth
import Sandbox
import TestFixtures
import Testing

@Suite("Protocol endpoints", .heavy)
struct ProtocolEndpointTests {
    /// An exchange, and the endpoint that it asks.
    struct Row: Sendable, CustomTestStringConvertible {
        let endpoint: String
        let exchange: @Sendable (World, Handshake, Account) async throws -> Void
        var testDescription: String { endpoint }
    }

    private static let rows = [
        Row(endpoint: "GET /.well-known/*") { world, _, _ in
            _ = try await world.app().signIn(through: ApprovingBrowser(sandbox: world.sandbox))
        },
        Row(endpoint: "POST /par") { world, _, _ in
            _ = try await world.app().signIn(through: ApprovingBrowser(sandbox: world.sandbox))
        },
        Row(endpoint: "POST /device_authorization") { _, handshake, _ in
            _ = try await handshake.signInOnAnotherDevice { _ in Issue.record("a code was shown") }
        },
        Row(endpoint: "GET /jwks") { world, _, _ in
            _ = try await world.app().signIn(through: ApprovingBrowser(sandbox: world.sandbox))
        },
        Row(endpoint: "POST /token") { _, _, account in try await account.refresh() },
        Row(endpoint: "GET /userinfo") { _, _, account in _ = try await account.identity() },
        Row(endpoint: "POST /revoke") { _, _, account in
            if let failure = try await account.signOut().failure { throw failure }
        },
    ]

    @Test(
        "C8: no protocol endpoint follows a redirect, and the second origin receives nothing", arguments: rows,
        [301, 302, 303, 307, 308])
    func redirects(_ row: Row, _ status: Int) async throws {
        let world = try await World(.standard)
        let other = try await Sandbox.start()
        let (handshake, account) = try await world.signedIn()
        try world.inject("\(row.endpoint) => redirect \(other.standard.origin)/api/whoami \(status)")
        let error = await handshakeError { try await row.exchange(world, handshake, account) }
        #expect(error?.code == "unexpected_redirect")
        #expect(other.requests().isEmpty)
        await other.stop()
        await world.sandbox.stop()
    }

    @Test(
        "H4: a redirect of a public API leads neither to this machine nor into its network",
        arguments: [
            "https://127.0.0.1/x", "https://localhost/x", "https://10.0.0.1/x", "https://169.254.169.254/latest",
            "https://[::1]/x", "https://[fd00::1]/x", "https://user@other.example/x", "http://other.example/x",
        ])
    func zones(_ target: String) async throws {
        let provider = ScriptedProvider()
        let account = try await provider.app().signIn(through: provider.browser)
        provider.change { state in
            state.overrides["/api"] = { _ in .json(302, [:], [.location: target]) }
            state.overrides["/x"] = { _ in .json(200, [:]) }
            state.overrides["/latest"] = { _ in .json(200, [:]) }
        }
        let error = await handshakeError { try await account.send(.get, ScriptedProvider.issuer + "/api") }
        #expect(error?.code == "malformed_response")
        #expect(provider.count("/x") == 0 && provider.count("/latest") == 0)
        provider.change { $0.overrides["/api"] = { _ in .json(302, [:], [.location: "https://other.example/x"]) } }
        #expect(try await account.send(.get, ScriptedProvider.issuer + "/api").head.status == .ok)
        #expect(provider.count("/x") == 1)
    }

    @Test("D10: user-info of another subject than the ID token's is refused")
    func subject() async throws {
        let provider = ScriptedProvider()
        let account = try await provider.app().signIn(through: provider.browser)
        #expect(try await account.identity().subject == "alice")
        provider.change { $0.overrides["/userinfo"] = { _ in .json(200, ["sub": "mallory"]) } }
        #expect(await handshakeError { try await account.identity() }?.code == "subject_mismatch")
    }

    @Test("E4: a rejected refresh token that comes with status 200 ends the session, and is not sent again")
    func rejectedWithSuccess() async throws {
        let provider = ScriptedProvider()
        let account = try await provider.app().signIn(through: provider.browser)
        provider.change { state in
            state.overrides["/token"] = { _ in
                .json(200, ["error": "invalid_grant", "error_description": "gone"])
            }
        }
        for _ in 0..<3 {
            #expect(
                await handshakeError { try await account.refresh() } == .signInRequired(account.id, .refreshRejected))
        }
        #expect(provider.count("/token") == 2)
    }

    @Test(
        "L1: an error shows no other token of the session, present or replaced, however short, in any process",
        arguments: ["/token", "/revoke", "/api"])
    func otherTokens(_ path: String) async throws {
        let provider = ScriptedProvider()
        let vault = MemoryVault()
        let first = try await provider.app(vault: vault).signIn(through: provider.browser)
        try await first.refresh()
        let tokens = ["access-1", "refresh-1", "access-2", "refresh-2"]
        provider.change { state in
            state.overrides[path] = { _ in
                .json(
                    path == "/revoke" ? 503 : 400,
                    ["error": "odd", "error_description": tokens.joined(separator: " ") + " and more"])
            }
        }
        let later = try #require(try await provider.app(vault: vault).account())
        for account in [first, later] {
            let error = try #require(
                await handshakeError {
                    switch path {
                    case "/token": try await account.refresh()
                    case "/revoke": if let failure = try await account.signOut().failure { throw failure }
                    default:
                        let value: [String: Int] = try await account.send(.get, ScriptedProvider.issuer + "/api")
                        _ = value
                    }
                })
            #expect("\(error)".contains("and more"), "\(error)")
            for token in tokens { #expect(!"\(error)".contains(token), "\(error)") }
        }
    }

    @Test(
        "L1: what the token endpoint echoes is not in the error, with an error status or with 200",
        arguments: [200, 400, 500])
    func echo(_ status: Int) async throws {
        let provider = ScriptedProvider()
        let account = try await provider.app().signIn(through: provider.browser)
        provider.change { state in
            state.overrides["/token"] = { request in
                guard case .bytes(let bytes) = request.content else { return .json(500, [:]) }
                // Name and value together are long enough to look like a token, which is hidden anyway.
                let sent = String(decoding: bytes, as: UTF8.self).replacing("=", with: " ")
                return .json(
                    status, ["error": "invalid_request \(sent)", "error_description": sent, "error_uri": sent])
            }
        }
        let error = try #require(await handshakeError { try await account.refresh() })
        var dumped = ""
        dump(error, to: &dumped)
        for text in ["\(error)", error.code, dumped] { #expect(!text.contains("refresh-1")) }
    }
}
