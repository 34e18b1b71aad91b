import Foundation
import HTTPTypes
import OAuth
import TestFixtures
import Testing

@testable import Handshake

/// Every endpoint, file and user echoes the secrets of the exchange in every place; none of it is thrown, printed or logged.
@Suite("Echoed secrets", .heavy)
struct EchoTests {
    /// The secret of a test, with characters that URLs, forms and JSON spell in several ways.
    enum Canary: String, Sendable, CaseIterable {
        /// One that looks like a token wherever it stands.
        case long = "canary0123456789abcdef/canary9876543210fedcba+zebra=="
        /// One that only its receiver knows to be a secret.
        case short = "cnry/zbr+fox"

        /// What must stand nowhere: pieces of the canary, and of its other spellings.
        var pieces: [String] {
            let bytes = rawValue.utf8.prefix(8).map { String($0, radix: 16) }
            let escaped = [bytes.map { "%" + $0 }.joined(), bytes.map { #"\u00"# + $0 }.joined()]
            let encoded = [rawValue, "app:\(rawValue)"].map { Data($0.utf8).base64EncodedString() }
            guard self == .long else {
                return escaped + ["cnry/zbr", #"cnry\/zbr"#, "cnry%2fzbr", "cnry%2Fzbr"]
                    + encoded.map { String($0.dropFirst(6).prefix(8)) }
            }
            return escaped + ["canary0123456789", "canary9876543210"]
                + encoded.flatMap { [String($0.dropFirst(6).prefix(16)), String($0.dropFirst(28).prefix(16))] }
        }
    }

    /// How a server may spell it, as it stands inside a JSON string.
    enum Spelling: String, CaseIterable {
        case plain, upperPercent, lowerPercent, allPercent, escapedSlash, escapedUnicode, base64, credentials

        func callAsFunction(_ secret: String) -> String {
            let bytes = Array(secret.utf8)
            return switch self {
            case .plain: secret
            case .upperPercent: PercentEncoding.query(secret)
            case .lowerPercent:
                PercentEncoding.query(secret).replacing("%2F", with: "%2f").replacing("%2B", with: "%2b")
                    .replacing("%3D", with: "%3d")
            case .allPercent: bytes.map { "%" + String($0, radix: 16) }.joined()
            case .escapedSlash: secret.replacing("/", with: #"\/"#)
            case .escapedUnicode: bytes.map { #"\u00"# + String($0, radix: 16) }.joined()
            case .base64: Data(bytes).base64EncodedString()
            case .credentials: "Basic " + Data("app:\(secret)".utf8).base64EncodedString()
            }
        }
    }

    /// An endpoint, and the exchange that asks it.
    struct Row: Sendable, CustomTestStringConvertible {
        let path: String
        let name: String
        /// Whether the client sends a secret, which it then recognizes in the answer.
        var knowsSecret: Bool { path != "/jwks" && !path.hasPrefix("/.well-known") }
        /// Whether it is the API, which knows the access token and not the client's secret.
        var isAPI: Bool { path == "/userinfo" || path == "/api" }
        /// Whether the exchange can be repeated, whatever came before.
        var isStateless: Bool { path != "/token" && path != "/revoke" }
        let exchange: @Sendable (Scene) async throws -> Void
        var testDescription: String { name }

        /// Whether the secret can be recognized: in Base64 and without having been sent only where it looks like a token.
        func isShown(_ canary: Canary, _ spelling: Spelling) -> Bool {
            switch spelling {
            case .plain, .upperPercent, .lowerPercent, .escapedSlash: canary == .long || knowsSecret
            case .allPercent, .escapedUnicode: knowsSecret
            case .base64: canary == .long || knowsSecret
            case .credentials: (canary == .long || knowsSecret) && !isAPI
            }
        }

        init(_ path: String, _ name: String, _ exchange: @escaping @Sendable (Scene) async throws -> Void) {
            (self.path, self.name, self.exchange) = (path, name, exchange)
        }
    }

    private static let rows = [
        Row("/.well-known/openid-configuration", "metadata") { _ = try await $0.newApp().beginSignIn() },
        Row("/jwks", "keys") { _ = try await $0.newApp().signIn(through: $0.provider.browser) },
        Row("/par", "pushed request") { _ = try await $0.app.beginSignIn() },
        Row("/token", "code") { _ = try await $0.app.signIn(as: "other", through: $0.browser) },
        Row("/token", "refresh") { try await $0.account.refresh() },
        Row("/token", "client credentials") { _ = try await $0.app.signInAsClient(as: "robot") },
        Row("/device_authorization", "device") { _ = try await $0.app.signInOnAnotherDevice(as: "tv") { _ in } },
        Row("/userinfo", "user info") { _ = try await $0.account.identity() },
        Row("/api", "resource") { scene in
            let value: [String: Int] = try await scene.account.send(.get, ScriptedProvider.issuer + "/api")
            _ = value
        },
        Row("/revoke", "revocation") { scene in
            let report = try await scene.account.signOut()
            scene.print(report)
            if let failure = report.failure { throw failure }
        },
        Row("/revoke", "revocation of a replaced grant") { _ = try await $0.app.signIn(through: $0.browser) },
        Row("/introspect", "introspection") { scene in
            let issuer = try Issuer(ScriptedProvider.issuer)
            var server = AuthorizationServerMetadata(
                issuer: issuer, tokenEndpoint: try EndpointURL(ScriptedProvider.issuer + "/token"))
            server.introspectionEndpoint = try EndpointURL(ScriptedProvider.issuer + "/introspect")
            let request = IntrospectionRequest(
                Secret(scene.canary.rawValue), kind: .accessToken, at: server, clientID: "app",
                authentication: .post(secret: Secret(scene.canary.rawValue)))
            let response = try await scene.provider.send(try request.message, limits: TransferLimits())
            _ = try request.introspection(from: response)
        },
    ]

    /// What an endpoint answers; E is the secret as the spelling has it.
    private static let contents = [
        #"{"error":"invalid_request E","error_description":"E","error_uri":"https://x.example/E"}"#,
        #"{"error":"E","error_description":"found E, expected more"}"#, #"{"error":{"E":"E"},"message":"E"}"#,
        #"{"E":"E","E":"E"}"#,
        #"{"issuer":"E","access_token":"E","token_type":"E","expires_in":"E","scope":"E","refresh_token":"E"}"#,
        #"{"access_token":"E","token_type":"Bearer","expires_in":"E","id_token":"E"}"#,
        #"{"access_token":"x","token_type":"Bearer","scope":["E"],"id_token":"E.E.E"}"#,
        #"{"access_token":"x","token_type":"Bearer","id_token":"HEADER.e30.AA"}"#,
        #"{"issuer":"https://op.example","token_endpoint":"ftp://E"}"#,
        #"{"issuer":"https://op.example","token_endpoint":"http://E/token"}"#,
        #"{"issuer":"https://op.example","token_endpoint":"https://u:E@op.example/"}"#,
        #"{"keys":"E"}"#, #"{"keys":[{"kty":"E","kid":"E"}]}"#, #"{"sub":"E","name":"E"}"#, #"{"sub":{"E":"E"}}"#,
        #"{"request_uri":"E E","expires_in":"E"}"#, #"{"request_uri":"urn:E","expires_in":"E"}"#,
        #"{"device_code":"E","user_code":"E\n","verification_uri":"https://op.example/"}"#,
        #"{"device_code":"E","user_code":"U","verification_uri":"http://E/d"}"#,
        #"{"device_code":"E","user_code":"U","verification_uri":"https://op.example/","expires_in":"E"}"#,
        #"{"active":"E","scope":"E"}"#, "E", #"{"error":"x","error_description":"E"#, "<html>E</html>",
        #"{"error":"x","error_description":"LONG"}"#,
    ]

    private static func answer(_ status: Int, _ content: String, _ spelled: String) -> ResponseMessage {
        let header = #"{"alg":"ES256","kid":"\#(spelled)","typ":"\#(spelled)"}"#
        let text = content.replacing("HEADER", with: Base64URL.encode(header.utf8))
            .replacing("LONG", with: String(repeating: "E ", count: 100)).replacing("E", with: spelled)
        var fields: HTTPFields = [
            .contentType: content == "E" ? "text/\(spelled)" : "application/json",
            .location: "https://evil.example/\(spelled)?\(spelled)", .retryAfter: spelled, .setCookie: "a=\(spelled)",
        ]
        fields[.wwwAuthenticate] =
            #"Bearer error="insufficient_scope", scope="\#(spelled)", error_description="\#(spelled)", realm="\#(spelled)""#
        if content.contains("device") {
            fields[.wwwAuthenticate] =
                #"Bearer error="insufficient_user_authentication", acr_values="\#(spelled)", max_age="\#(spelled)""#
        }
        return ResponseMessage(
            head: HTTPResponse(status: .init(code: status, reasonPhrase: spelled), headerFields: fields),
            content: Array(text.utf8))
    }

    @Test(
        "L1: no endpoint's echo of a secret is thrown, printed or logged, in whatever place and spelling",
        arguments: rows, Spelling.allCases)
    func endpoints(_ row: Row, _ spelling: Spelling) async throws {
        for canary in Canary.allCases where row.isShown(canary, spelling) {
            let answered = row.isAPI ? canary.rawValue + "-1" : canary.rawValue
            var failures = 0
            for status in [200, 302, 400, 401, 403, 503] {
                var scene = try await Scene(canary)
                // An error status is read in one way, whatever an endpoint's right answer would be.
                for content in status == 200 ? Self.contents[...] : Self.contents.prefix(3) {
                    let answer = Self.answer(status, content, spelling(answered))
                    scene.provider.change { $0.overrides[row.path] = { _ in answer } }
                    do {
                        try await row.exchange(scene)
                    } catch {
                        failures += 1
                        scene.print(error)
                    }
                    scene.print(scene.account.status)
                    report(scene, at: "\(row.name), \(status) \(content)")
                    scene = row.isStateless ? scene : try await Scene(canary)
                }
            }
            #expect(failures > 0 || row.name == "revocation of a replaced grant")
        }
    }

    /// Records what was shown.
    private func report(_ scene: Scene, at place: String) {
        for line in scene.takeLines().filter(scene.isShown) { Issue.record("\(place): \(line)") }
    }

    @Test("L1: what a redirect, a pasted text or a damaged record repeats is not shown", arguments: Spelling.allCases)
    func redirects(_ spelling: Spelling) async throws {
        let echoed = spelling(Canary.long.rawValue)
        let query = PercentEncoding.query(echoed)
        let scene = try await Scene(.long)
        let issuer = "https%3A%2F%2Fop.example"
        // The error of a redirect is quoted, and only the request knows that it repeats its state.
        let browser = ScriptedBrowser { page in
            let state = page.url.firstMatch(of: /state=([^&]+)/).map { String($0.1) } ?? ""
            scene.hide(state)
            let text = PercentEncoding.query("sorry " + spelling(state))
            return ScriptedProvider.redirect
                + "?error=invalid_request&error_description=\(text)&state=\(state)&iss=\(issuer)"
        }
        scene.print(try #require(await handshakeError { try await scene.plainApp().signIn(through: browser) }))
        let lines = scene.takeLines()
        #expect(lines.contains { $0.contains("sorry") && $0.contains("(secret)") }, "the text is quoted")
        for line in lines.filter(scene.isShown) { Issue.record("the state: \(line)") }
        // A secret that the request does not know is recognized where it looks like a token.
        let isRecognized = spelling != .allPercent && spelling != .escapedUnicode
        let unknown = ["error=\(query)&error_description=\(query)&error_uri=\(query)&state=STATE"]
        let redirects = [
            "code=\(query)&state=\(query)", "code=\(query)&error=x&error_description=\(query)&state=STATE",
            "code=\(query)&iss=\(query)&state=STATE", "code=\(query)&code=\(query)&state=STATE",
            "code=\(query)&state=STATE&error_description=STATE&error=x",
        ]
        for redirect in isRecognized ? redirects + unknown : redirects {
            let browser = ScriptedBrowser { page in
                let state = page.url.firstMatch(of: /state=([^&]+)/).map { String($0.1) } ?? ""
                scene.hide(state)
                return ScriptedProvider.redirect + "?" + redirect.replacing("STATE", with: state)
                    + (redirect.contains("iss=") ? "" : "&iss=\(issuer)")
            }
            let answer = Self.answer(400, Self.contents[0], echoed)
            scene.provider.change { $0.overrides["/token"] = { _ in answer } }
            scene.print(try #require(await handshakeError { try await scene.plainApp().signIn(through: browser) }))
        }
        for text in [echoed, "https://\(echoed)", "\(ScriptedProvider.redirect)?\(echoed)"] {
            let error = await handshakeError {
                try await scene.plainApp().signIn(through: ScriptedBrowser { _ in text })
            }
            scene.print(try #require(error))
        }
        let grant = Grant(
            accessToken: Secret("\(echoed) "), expiresAt: nil, issuedAt: 0, refreshToken: nil, scopes: [])
        scene.print(try #require(await handshakeError { try await scene.app.adopt(grant) }))
        try await scene.vault.update(AccountID(scene.app.clients[0], name: "damaged").vaultKey) {
            try await $0.replace(with: Array("{\"accessToken\":\"\(echoed)\",\"version\":\"\(echoed)\"".utf8))
        }
        scene.print(try #require(await handshakeError { try await scene.app.account("damaged") }))
        report(scene, at: "a redirect, a text or a record")
    }

    /// A confidential client's app with a signed-in account all of whose secrets are the canary, and all that it said.
    final class Scene: Sendable {
        let canary: Canary
        let provider = ScriptedProvider()
        let vault = MemoryVault()
        let app: Handshake
        let account: Account
        private let printed: LogLines
        private let states = Shared<[String]>([])

        init(_ canary: Canary) async throws {
            self.canary = canary
            let (provider, printed) = (provider, LogLines())
            self.printed = printed
            provider.change { state in
                state.claims["at_hash"] = .some(nil)
                state.overrides["/token"] = { try Self.tokens($0, of: provider, canary) }
                state.overrides["/.well-known/openid-configuration"] = { try Self.metadata($0, of: provider) }
                state.overrides["/par"] = { _ in .json(201, ["request_uri": "urn:example:1", "expires_in": 60]) }
            }
            app = try Self.app(canary, provider, vault, printed)
            // The first sign-in goes without a push, so that the browser sees nonce and state.
            account = try await Self.app(canary, provider, vault, printed, pushing: .never).signIn(
                through: provider.browser)
        }

        private static func tokens(
            _ request: RequestMessage, of provider: ScriptedProvider, _ canary: Canary
        ) throws -> ResponseMessage {
            var answer = try provider.answer("/token", request)
            let text = String(decoding: answer.content, as: UTF8.self)
            answer.content = Array(
                text.replacing("\"access-", with: "\"\(canary.rawValue)-")
                    .replacing("\"refresh-", with: "\"\(canary.rawValue)-").utf8)
            return answer
        }

        private static func metadata(
            _ request: RequestMessage, of provider: ScriptedProvider
        ) throws -> ResponseMessage {
            let answer = try provider.answer("/.well-known/openid-configuration", request)
            var members = try JSONSerialization.jsonObject(with: Data(answer.content)) as? [String: Any] ?? [:]
            members["pushed_authorization_request_endpoint"] = ScriptedProvider.issuer + "/par"
            members["device_authorization_endpoint"] = ScriptedProvider.issuer + "/device_authorization"
            members["introspection_endpoint"] = ScriptedProvider.issuer + "/introspect"
            members["token_endpoint_auth_methods_supported"] = ["client_secret_post"]
            return .json(200, members)
        }

        private static func app(
            _ canary: Canary, _ provider: ScriptedProvider, _ vault: MemoryVault, _ lines: LogLines,
            pushing: Client.Options.Pushing = .automatic
        ) throws -> Handshake {
            var client = Client.confidential(
                service: try provider.client().service, id: "app", secret: Secret(canary.rawValue),
                redirect: .uri(try RedirectURI(ScriptedProvider.redirect)))
            client.options.pushedRequests = pushing
            return try Handshake(
                client, vault: vault, transport: provider, time: provider.time.source, log: lines.logger)
        }

        /// An app that has asked the provider for nothing yet.
        func newApp() throws -> Handshake { try Self.app(canary, provider, MemoryVault(), printed, pushing: .never) }

        /// An app whose browser sees the whole request.
        func plainApp() throws -> Handshake { try Self.app(canary, provider, vault, printed, pushing: .never) }

        /// A browser whose user consents, and whose code is the canary. The request was pushed.
        var browser: ScriptedBrowser {
            let (provider, code) = (provider, PercentEncoding.query(canary.rawValue))
            return ScriptedBrowser { _ in
                let form = provider.forms("/par").last ?? [:]
                provider.change { $0.nonce = form["nonce"] }
                return
                    "\(ScriptedProvider.redirect)?code=\(code)&state=\(form["state"] ?? "")&iss=https%3A%2F%2Fop.example"
            }
        }

        func print(_ value: Any) {
            var dumped = ""
            dump(value, to: &dumped)
            var texts = ["\(value)", String(reflecting: value), dumped]
            if let error = value as? HandshakeError { texts.append(error.code) }
            if let error = value as? OAuthError { texts.append(error.code) }
            printed.add(texts)
        }

        /// What was printed and logged since the last call.
        func takeLines() -> [String] { printed.take() }

        /// Hides the state of a request too, in every spelling.
        func hide(_ state: String) {
            let bytes = state.utf8.prefix(8).map { String($0, radix: 16) }
            let pieces = [
                String(state.prefix(16)), bytes.map { "%" + $0 }.joined(), bytes.map { #"\u00"# + $0 }.joined(),
                String(Data(state.utf8).base64EncodedString().dropFirst(6).prefix(12)),
                String(Data("app:\(state)".utf8).base64EncodedString().dropFirst(10).prefix(12)),
            ]
            states.change { $0 += pieces }
        }

        /// Whether a line shows a piece of a secret.
        func isShown(in line: String) -> Bool {
            (canary.pieces + states.value.filter { !$0.isEmpty }).contains { line.contains($0) }
        }
    }
}
