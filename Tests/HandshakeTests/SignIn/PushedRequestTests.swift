import Foundation
import HTTPTypes
import Handshake
import OAuth
import Sandbox
import Synchronization
import TestFixtures
import Testing

@testable import Handshake

@Suite("Pushed requests", .heavy)
struct PushedRequestTests {
    private static func query(_ url: String) -> [String: String] {
        URLComponents(string: url)?.queryItems?.reduce(into: [:]) { $0[$1.name] = $1.value } ?? [:]
    }

    /// A provider with an endpoint for pushes that answers as told; a second answer is the same.
    private static func provider(
        required: Bool = false, _ answer: @escaping @Sendable () throws -> ResponseMessage
    ) -> ScriptedProvider {
        let provider = ScriptedProvider()
        provider.change { state in
            state.overrides["/par"] = { _ in try answer() }
            state.overrides["/.well-known/openid-configuration"] = { request in
                let answer = try provider.answer("/.well-known/openid-configuration", request)
                let members = try JSONSerialization.jsonObject(with: Data(answer.content)) as? [String: Any] ?? [:]
                return .json(
                    200,
                    members.merging([
                        "pushed_authorization_request_endpoint": ScriptedProvider.issuer + "/par",
                        "require_pushed_authorization_requests": required,
                    ]) { $1 })
            }
        }
        return provider
    }

    private static func reference(_ text: String = "urn:example:1") -> ResponseMessage {
        .json(201, ["request_uri": text, "expires_in": 60])
    }

    private func app(
        _ provider: ScriptedProvider, _ pushing: Client.Options.Pushing = .automatic, deviating: Set<String> = []
    ) throws -> Handshake {
        let known = try provider.client()
        var deviations = known.service.deviations
        deviations.repeatedWhenPushed = deviating
        let service = try Service(
            name: "op", authorizationServer: known.service.authorizationServer,
            defaultScopes: known.service.defaultScopes, deviations: deviations)
        var client = Client(service: service, id: "app", redirect: known.redirect)
        client.options.pushedRequests = pushing
        return try Handshake(client, vault: MemoryVault(), transport: provider, time: provider.time.source)
    }

    @Test("M201, A14: where pushes are announced, the browser's address has the client and the reference alone")
    func announced() async throws {
        let world = try await World(.standard)
        let shown = Mutex<[String]>([])
        let account = try await world.app().signIn(
            through: ScriptedBrowser { page in
                shown.withLock { $0.append(page.url) }
                return try await world.sandbox.approve(page.url)
            })
        let query = Self.query(try #require(shown.withLock { $0.first }))
        #expect(query.keys.sorted() == ["client_id", "request_uri"])
        #expect(account.status.identity != nil)
        let push = try #require(world.sandbox.requests(.standard).first { $0.path == "/par" })
        #expect(push.queryParameterNames.isEmpty)
        for name in ["code_challenge", "state", "nonce", "redirect_uri", "scope", "client_id"] {
            #expect(push.formParameterNames.contains(name), "\(name)")
        }
        await world.sandbox.stop()
    }

    @Test("M201: a client that only pushes signs in at a server that takes nothing else from it")
    func pushingClient() async throws {
        let world = try await World(.standard)
        var client = Client(service: try world.service(), id: "sandbox-pushing")
        let account = try await world.app(client).signIn(through: ApprovingBrowser(sandbox: world.sandbox))
        #expect(account.status.state == .signedIn)
        client.options.pushedRequests = .never
        let never = try world.app(client)
        let detail = "This client has to push its authorization requests (RFC 9126)."
        await #expect(throws: SandboxError.pageInsteadOfRedirect(status: 400, text: detail)) {
            try await never.signIn(as: "never", through: ApprovingBrowser(sandbox: world.sandbox))
        }
        await world.sandbox.stop()
    }

    @Test("M201: a server that demands pushes and a client that never pushes do not fit, and nothing is sent")
    func never() async throws {
        let provider = Self.provider(required: true) { Self.reference() }
        let error = await handshakeError { try await app(provider, .never).beginSignIn() }
        guard case .configuration("par", _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(provider.count("/par") == 0)
        let optional = Self.provider { Self.reference() }
        let attempt = try await app(optional, .never).beginSignIn()
        #expect(Self.query(attempt.page.url)["request_uri"] == nil)
        #expect(optional.count("/par") == 0)
    }

    @Test("M201: a client that always pushes refuses a server without an endpoint for it")
    func always() async throws {
        let provider = ScriptedProvider()
        let error = await handshakeError { try await app(provider, .always).beginSignIn() }
        #expect(error?.code == "malformed_response")
        #expect(provider.count("/token") == 0)
    }

    @Test(
        "M202: a refused push is a typed error, nothing is stored, and no unpushed request follows",
        arguments: [
            (400, "invalid_request"), (401, "invalid_client"), (405, "http_405"), (413, "http_413"), (429, "http_429"),
            (503, "http_503"), (302, "unexpected_redirect"), (201, "malformed_response"),
        ])
    func refused(_ status: Int, _ code: String) async throws {
        let provider = Self.provider {
            .json(status, [400, 401].contains(status) ? ["error": code] : [:], [.location: "https://evil.example/"])
        }
        let vault = MemoryVault()
        let handshake = try Handshake(provider.client(), vault: vault, transport: provider, time: provider.time.source)
        let shown = Mutex(0)
        let error = await handshakeError {
            try await handshake.signIn(
                through: ScriptedBrowser { _ in
                    shown.withLock { $0 += 1 }
                    return nil
                })
        }
        #expect(error?.code == code)
        #expect(shown.withLock { $0 } == 0)
        #expect(provider.count("/par") == 1)
        #expect(try await vault.keys(of: .signIn).keys.isEmpty)
    }

    @Test("M202: a push that finds no server is a network error, and no page opens")
    func unreachable() async throws {
        let provider = Self.provider { throw TransportError.timedOut(host: "op.example") }
        let error = await handshakeError { try await app(provider).beginSignIn() }
        guard case .network? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("M203: the same sign-in begun twice is pushed twice, and the two share nothing")
    func twice() async throws {
        let number = Mutex(0)
        let provider = Self.provider {
            let next = number.withLock { number in
                number += 1
                return number
            }
            return Self.reference("urn:example:\(next)")
        }
        let app = try app(provider)
        let attempts = [try await app.beginSignIn(), try await app.beginSignIn()]
        #expect(attempts.map { Self.query($0.page.url)["request_uri"] } == ["urn:example:1", "urn:example:2"])
        let forms = provider.forms("/par")
        for name in ["state", "nonce", "code_challenge"] {
            #expect(Set(forms.compactMap { $0[name] }).count == 2, "\(name)")
        }
    }

    @Test(
        "M216: a reference of either kind is used as it came, and never fetched",
        arguments: ["urn:ietf:params:oauth:request_uri:abc", "https://op.example/requests/7?x=y"])
    func asItCame(_ reference: String) async throws {
        let provider = Self.provider { Self.reference(reference) }
        let attempt = try await app(provider).beginSignIn()
        #expect(Self.query(attempt.page.url)["request_uri"] == reference)
        #expect(provider.count("/requests/7?x=y") == 0)
        #expect(provider.count("/requests/7") == 0)
    }

    @Test("a service's description says what the address repeats")
    func deviation() async throws {
        let provider = Self.provider { Self.reference() }
        let attempt = try await app(provider, deviating: ["response_type", "scope"]).beginSignIn()
        let query = Self.query(attempt.page.url)
        #expect(query.keys.sorted() == ["client_id", "request_uri", "response_type", "scope"])
    }

    @Test("a pushed sign-in that another process finishes keeps its state and verifier")
    func resumed() async throws {
        let world = try await World(.standard)
        let client = try world.client(redirect: .uri(try RedirectURI("com.example.app:/callback")))
        let attempt = try await world.app(client).beginSignIn()
        let redirect = try await world.sandbox.approve(attempt.page.url)
        let account = try await world.app(client).finishSignIn(redirectURL: redirect)
        #expect(account.status.state == .signedIn)
        await world.sandbox.stop()
    }
}
