import Foundation
import HTTPTypes
import Handshake
import OAuth
import Sandbox
import Synchronization
import TestFixtures
import Testing

@testable import Handshake

extension World {
    /// One of the sandbox's clients with a key.
    func keyedClient(
        _ id: String, scopes: [String]? = nil, redirect: Client.Redirect = .loopback,
        resources: [ResourceIndicator] = [], parameters: [String: String] = [:]
    ) throws -> Client {
        let client = try #require(sandbox.standard.clients.first { $0.id == id })
        return Client.confidential(
            service: try service(), id: id, key: try SigningKey(parsing: Array((client.privateKey ?? "").utf8)),
            redirect: redirect, scopes: scopes, resources: resources, parameters: parameters)
    }
}

extension Client {
    /// This client, which wants signed responses (JARM).
    fileprivate var withSignedResponses: Client {
        var client = self
        client.options.responseMode = .jwt
        return client
    }
}

/// The claims of a signed text, of which nothing is verified.
func claims(of text: String) throws -> [String: Any] {
    let parts = text.split(separator: ".")
    let bytes = try #require(parts.count == 3 ? Base64URL.decode(parts[1]) : nil)
    return try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
}

@Suite("Signed requests and responses", .heavy)
struct SignedMessageTests {
    private static func query(_ url: String) -> [String: String] {
        URLComponents(string: url)?.queryItems?.reduce(into: [:]) { $0[$1.name] = $1.value } ?? [:]
    }

    @Test(
        "A15: a client that has to sign signs in, pushed and unpushed, and its sign-in finishes",
        arguments: [true, false])
    func signing(isPushed: Bool) async throws {
        let world = try await World(.standard)
        world.holdClocks()
        var client = try world.keyedClient("sandbox-signing", parameters: ["max_age": "600"])
        client.options.signedRequests = .always
        client.options.pushedRequests = isPushed ? .automatic : .never
        let shown = Mutex<[String]>([])
        let account = try await world.app(client).signIn(
            through: ScriptedBrowser { page in
                shown.withLock { $0.append(page.url) }
                return try await world.sandbox.approve(page.url)
            })
        #expect(account.status.identity != nil)
        let query = Self.query(try #require(shown.withLock { $0.first }))
        #expect(
            query.keys.sorted()
                == (isPushed ? ["client_id", "request_uri"] : ["client_id", "request", "response_type", "scope"]))
        if isPushed {
            let push = try #require(world.sandbox.requests(.standard).first { $0.path == "/par" })
            #expect(
                push.formParameterNames.sorted() == [
                    "client_assertion", "client_assertion_type", "client_id", "request",
                ])
        }
        client.options.signedRequests = .never
        let never = try world.app(client)
        let error = await #expect(throws: (any Error).self) {
            try await never.signIn(as: "never", through: ApprovingBrowser(sandbox: world.sandbox))
        }
        let text =
            switch error {
            case HandshakeError.exchange(.server(let refusal))? where isPushed: refusal.text
            case SandboxError.pageInsteadOfRedirect(_, let text)? where !isPushed: text
            default: nil as String?
            }
        let detail = "This client has to sign its authorization requests (RFC 9101)."
        #expect(text?.hasSuffix(detail) == true, "\(String(describing: error))")
        await world.sandbox.stop()
    }

    @Test("A15: where the server demands signed requests they are signed, and a client that cannot is told so")
    func demanded() async throws {
        let provider = ScriptedProvider()
        provider.publish(["require_signed_request_object": true])
        let known = try provider.client()
        let key = try SigningKey(parsing: Array(DPoPKey().source.reveal().utf8))
        var client = Client.confidential(service: known.service, id: "app", key: key, redirect: known.redirect)
        let attempt = try await provider.app(client).beginSignIn()
        let object = try claims(of: try #require(Self.query(attempt.page.url)["request"]))
        #expect(object["aud"] as? String == ScriptedProvider.issuer)
        #expect(object["state"] as? String == attempt.request.state.reveal())
        client.options.signedRequests = .never
        for wrong in [client, known] {
            let app = try provider.app(wrong)
            let error = await handshakeError { try await app.beginSignIn() }
            #expect(error?.code == "invalid_configuration")
        }
        #expect(provider.count("/par") == 0)
    }

    @Test("B12, M206: a signed response signs a user in, and its refusal is the user's")
    func signedResponse() async throws {
        let world = try await World(.standard)
        let client = try world.client().withSignedResponses
        let app = try world.app(client)
        let redirects = Mutex<[String]>([])
        let account = try await app.signIn(
            through: ScriptedBrowser { page in
                let redirect = try await world.sandbox.approve(page.url)
                redirects.withLock { $0.append(redirect) }
                return redirect
            })
        #expect(account.status.identity != nil)
        #expect(Array(Self.query(redirects.withLock { $0[0] }).keys) == ["response"])
        let error = await handshakeError {
            try await app.signIn(
                as: "other", through: ScriptedBrowser { try await world.sandbox.refuse($0.url) })
        }
        #expect(error == .signInAbandoned(.denied))
        await world.sandbox.stop()
    }

    @Test("M206: a signed response comes through the listener too, and another process can finish it")
    func elsewhere() async throws {
        let world = try await World(.standard)
        let client = try world.client(redirect: .uri(try RedirectURI("com.example.app:/callback"))).withSignedResponses
        let attempt = try await world.app(client).beginSignIn()
        let redirect = try await world.sandbox.approve(attempt.page.url)
        let account = try await world.app(client).finishSignIn(redirectURL: redirect)
        #expect(account.status.state == .signedIn)
        let listening = try world.client().withSignedResponses
        let second = try await world.app(listening).signIn(
            as: "listener",
            through: ScriptedBrowser { page in
                _ = try await LoopbackCaller.get(await world.sandbox.approve(page.url))
                return nil
            })
        #expect(second.status.state == .signedIn)
        await world.sandbox.stop()
    }

    @Test("M207: where a signed response was asked for, a plain code or error stops, and its text is not shown")
    func plain() async throws {
        let provider = ScriptedProvider()
        let client = try provider.client().withSignedResponses
        let app = try provider.app(client)
        for parameters in ["code=code", "error=evil_code&error_description=evil%20text"] {
            let error = await handshakeError {
                try await app.signIn(
                    through: ScriptedBrowser { page in
                        let state = Self.query(page.url)["state"] ?? ""
                        return "\(ScriptedProvider.redirect)?\(parameters)&state=\(state)&iss=https%3A%2F%2Fop.example"
                    })
            }
            #expect(error?.code == "response_unsigned")
            #expect("\(String(describing: error))".contains("evil") == false)
        }
        #expect(provider.count("/token") == 0)
    }

    @Test("M208: a signed text that does not verify leaves the attempt whose state it states as it was")
    func untouched() async throws {
        let world = try await World(.standard)
        let client = try world.client(redirect: .uri(try RedirectURI("com.example.app:/callback"))).withSignedResponses
        let app = try world.app(client)
        let attempts = [try await app.beginSignIn(), try await app.beginSignIn()]
        let redirect = try await world.sandbox.approve(attempts[0].page.url)
        let parts = redirect.split(separator: ".").map(String.init)
        let middle = try claims(of: String(redirect.split(separator: "=").last ?? "")).merging([
            "state": attempts[1].request.state.reveal()
        ]) { $1 }
        let forged = [
            parts[0..<parts.count - 2].joined(separator: "."),
            Base64URL.encode(try JSONSerialization.data(withJSONObject: middle)), parts[parts.count - 1],
        ].joined(separator: ".")
        let error = await handshakeError { try await app.finishSignIn(redirectURL: forged) }
        #expect(error?.code == "signature_invalid")
        let second = try await world.sandbox.approve(attempts[1].page.url)
        #expect(try await app.finishSignIn(redirectURL: second).status.state == .signedIn)
        #expect(try await app.finishSignIn(redirectURL: redirect).status.state == .signedIn)
        await world.sandbox.stop()
    }

    @Test("M206: keys that rotated before the response are fetched once, and a registered algorithm alone counts")
    func keys() async throws {
        let provider = ScriptedProvider()
        var client = try provider.client().withSignedResponses
        client.options.responseAlgorithm = .ps256
        let app = try provider.app(client)
        let error = await handshakeError { try await app.signIn(through: provider.signingBrowser()) }
        #expect(error?.code == "algorithm_refused")
        client.options.responseAlgorithm = .es256
        let account = try await provider.app(client).signIn(through: provider.signingBrowser())
        #expect(account.status.state == .signedIn)
    }
}

@Suite("Rich requests and signed user information", .heavy)
struct RichRequestTests {
    @Test("M211, C14: what was granted comes with the account, survives a refresh, and is told to be other than asked")
    func granted() async throws {
        let world = try await World(.standard)
        var client = try world.client()
        client.options.authorizationDetails = [
            AuthorizationDetail(type: "account_information", ["actions": .array([.string("read"), .string("delete")])])
        ]
        let app = try world.app(client)
        let account = try await app.signIn(through: ApprovingBrowser(sandbox: world.sandbox))
        guard case .granted(let details, [], [])? = account.authorizationDetails else {
            Issue.record("\(String(describing: account.authorizationDetails))")
            return
        }
        #expect(details.map(\.members["actions"]) == [.array([.string("read")])])
        #expect(details.map(\.members["sandbox_id"]) == [.string("detail-1")])
        try await account.refresh()
        let later = try await world.app(client).account()
        #expect(later?.status.authorizationDetails == details)
        try world.inject("/token => without authorization_details")
        let untold = try await app.signIn(as: "untold", through: ApprovingBrowser(sandbox: world.sandbox))
        #expect(untold.authorizationDetails == .notTold)
        #expect(try await world.app(world.client()).account()?.authorizationDetails != nil)
        await world.sandbox.stop()
    }

    @Test("M210: a type that the server does not publish is refused before anything is sent")
    func unpublished() async throws {
        let world = try await World(.standard)
        var client = try world.client(redirect: .uri(try RedirectURI("com.example.app:/callback")))
        client.options.authorizationDetails = [AuthorizationDetail(type: "teleportation")]
        let app = try world.app(client)
        let error = await handshakeError { try await app.beginSignIn() }
        guard case .exchange(.configuration("authorization_details", _))? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(world.sandbox.requests(.standard).allSatisfy { $0.path.hasPrefix("/.well-known/") })
        await world.sandbox.stop()
    }

    @Test("M604: signed user information is verified, and a plain answer where a signed one was agreed stops")
    func userInfo() async throws {
        let world = try await World(.standard)
        var client = try world.keyedClient("sandbox-signing")
        client.options.signedRequests = .always
        let account = try await world.app(client).signIn(through: ApprovingBrowser(sandbox: world.sandbox))
        #expect(try await account.identity().subject == account.status.identity?.subject)
        client.options.userInfoAlgorithm = .es256
        let agreed = try await world.app(client).account()
        #expect(try await agreed?.identity().name == "Ada Example")
        client.options.userInfoAlgorithm = .ps256
        let other = try await world.app(client).account()
        #expect(await handshakeError { try await other?.identity() }?.code == "algorithm_refused")
        var plain = try world.client()
        plain.options.userInfoAlgorithm = .es256
        let unsigned = try await world.app(plain, vault: MemoryVault())
            .signIn(through: ApprovingBrowser(sandbox: world.sandbox))
        #expect(await handshakeError { try await unsigned.identity() }?.code == "response_unsigned")
        await world.sandbox.stop()
    }

    @Test(
        "M604: signed user information of another issuer, client, subject or key is refused",
        arguments: [
            ("iss", "https://other.example", "issuer_mismatch"), ("aud", "other", "audience_mismatch"),
            ("sub", "mallory", "subject_mismatch"), ("kid", "second", "key_unknown"), ("", "", nil),
        ])
    func userInfoDefects(_ claim: String, _ value: String, _ code: String?) async throws {
        let provider = ScriptedProvider()
        let account = try await provider.app().signIn(through: provider.browser)
        var members: [String: Any] = ["iss": ScriptedProvider.issuer, "aud": "app", "sub": "alice"]
        if claim != "kid" { members[claim] = value }
        let text = try provider.sign(members, by: claim == "kid" ? value : "first")
        provider.change { state in
            state.overrides["/userinfo"] = { _ in
                ResponseMessage(
                    head: HTTPResponse(
                        status: .ok, headerFields: [.contentType: "Application/JWT; charset=utf-8"]),
                    content: Array(text.utf8))
            }
        }
        #expect(await handshakeError { try await account.identity() }?.code == code)
    }

    @Test("M602: the algorithm that the client is registered with alone counts, though the server publishes other keys")
    func registered() async throws {
        let provider = ScriptedProvider()
        var client = try provider.client()
        for (algorithm, code) in [(SignatureAlgorithm.ps256, "algorithm_refused"), (.es256, nil)] {
            client.options.idTokenAlgorithm = algorithm
            let app = try provider.app(client)
            #expect(await handshakeError { try await app.signIn(through: provider.browser) }?.code == code)
        }
        provider.publish(["id_token_signing_alg_values_supported": ["PS256"]])
        let published = try provider.app(provider.client())
        #expect(
            await handshakeError { try await published.signIn(through: provider.browser) }?.code == "algorithm_refused")
    }

    @Test("M605: an encrypted ID token is refused by name, with advice")
    func encrypted() async throws {
        let provider = ScriptedProvider()
        provider.change { $0.idToken = "e30.e30.e30.e30.e30" }
        let app = try provider.app()
        let error = await handshakeError { try await app.signIn(through: provider.browser) }
        #expect(error?.code == "token_encrypted")
        #expect("\(error.map { "\($0)" } ?? "")".contains("_encrypted_response_alg"))
    }

    @Test("M209: several APIs go along in every request of the grant")
    func resources() async throws {
        let provider = ScriptedProvider()
        provider.publish(["pushed_authorization_request_endpoint": ScriptedProvider.issuer + "/par"])
        provider.change { state in
            state.overrides["/par"] = { _ in .json(201, ["request_uri": "urn:x", "expires_in": 60]) }
        }
        let known = try provider.client()
        let names = ["https://api.example/", "urn:example:b", "api://4f9c"]
        let client = Client(
            service: known.service, id: "app", redirect: known.redirect,
            resources: try names.map { try ResourceIndicator($0) })
        let app = try provider.app(client)
        let attempt = try await app.beginSignIn()
        let pushed = provider.form("/par")
        provider.change { $0.nonce = pushed.first { $0.name == "nonce" }?.value }
        let account = try await app.finishSignIn(
            redirectURL: "\(ScriptedProvider.redirect)?code=c&state=\(attempt.request.state.reveal())"
                + "&iss=https%3A%2F%2Fop.example")
        #expect(provider.form("/token").filter { $0.name == "resource" }.map(\.value) == names)
        try await account.refresh()
        #expect(pushed.filter { $0.name == "resource" }.map(\.value) == names)
        #expect(provider.form("/token").filter { $0.name == "resource" }.map(\.value) == names)
        #expect(provider.form("/token").contains { $0.name == "grant_type" && $0.value == "refresh_token" })
        #expect(account.allowedOrigins.map(\.host).contains("api.example"))
    }
}
