import Crypto
import Foundation
import HTTPTypes
import Handshake
import OAuth
import Synchronization
import Testing

@Suite("Built-in services")
struct BuiltInServiceTests {
    /// The lines of the data file by service, read without the package's own code.
    static let lines: [String: String] = {
        let path = #filePath.replacingOccurrences(
            of: "Tests/HandshakeTests/Services/BuiltInServiceTests.swift",
            with: "Sources/Handshake/Services/ServiceLines.swift")
        let lines = ((try? String(contentsOfFile: path, encoding: .utf8)) ?? "").split(separator: "\n")
            .map(String.init).filter { $0.hasPrefix("{") }
        return lines.reduce(into: [:]) { lines, line in
            let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            lines[object?["name"] as? String ?? line] = line
        }
    }()

    static let supported = lines.filter { !$0.value.contains(#""unsupported":"#) }.keys.sorted()

    /// Values for a service's placeholders: its examples.
    static func values(_ name: String) -> [String: String] {
        let object = try? JSONSerialization.jsonObject(with: Data((lines[name] ?? "").utf8)) as? [String: Any]
        let placeholders = object?["placeholders"] as? [String: [String: String]] ?? [:]
        return placeholders.compactMapValues { $0["example"] }
    }

    private func app(
        _ name: String, _ twin: ServiceTwin, at uri: String = ServiceTwin.redirect
    ) throws -> Handshake {
        let service = try Service.named(Service.Name(rawValue: name), Self.values(name))
        let redirect = Client.Redirect.uri(try RedirectURI(uri))
        let scopes = twin.text("scope_delimiter") == nil ? nil : twin.scopes
        if twin.facts["signed_client_secret"] != nil {
            let key = try SigningKey(parsing: Array(ServiceTwin.clientKey.pemRepresentation.utf8), keyID: "ABC123DEFG")
            return try Handshake(
                Client.confidential(service: service, id: "app", key: key, redirect: redirect), vault: MemoryVault(),
                transport: twin, time: twin.time)
        }
        let client =
            twin.isPublic
            ? Client(service: service, id: "app", redirect: redirect, scopes: scopes)
            : Client.confidential(
                service: service, id: "app", secret: Secret(ServiceTwin.secret), redirect: redirect, scopes: scopes)
        return try Handshake(client, vault: MemoryVault(), transport: twin, time: twin.time)
    }

    private func twin(_ name: String) throws -> ServiceTwin {
        try ServiceTwin(try #require(Self.lines[name]), values: Self.values(name))
    }

    private static let denialRule =
        "“denial-parameter” must have 1 to 80 bytes and be none of the protocol's own parameters."
    private static let scopeRule =
        "“scope-parameter” must have 1 to 80 bytes and be none of the protocol's own parameters."
    private static let titleRule = "“title” must have 1 to 80 characters, and no control or format characters."

    @Test(
        "a word that a description cannot have is refused, and its member is named with the rule",
        arguments: [
            ("userinfo_method", "TRACE", "“userinfo-method” must be GET or POST, not “TRACE”."),
            ("token_request", "x", "“token-request” must be form or json, not “x”."),
            ("token_answer", "xml", "“token-answer” must be form or json, not “xml”."),
            ("credential_encoding", "", "“credential-encoding” must be form or raw, not “”."),
            ("refresh_margin", "25", "“refresh-margin” must be a number of seconds from 1 to 86400."),
            ("denial_parameter", "", denialRule), ("denial_parameter", "code", denialRule),
            ("offline", "always", "“offline” must be a table with some of always, never, note, parameters, scopes."),
            ("public_clients", "yes", "“public-clients” must be true or false."),
            ("default_scopes", "read", "“default-scopes” must be a list of texts."),
            ("token_parameters", "x", "“token-parameters” must be a table of texts."),
            (
                "client_authentication", "none",
                "“client-authentication” must be basic, post, either, private_key_jwt or client_secret_jwt, not “none”."
            ),
            ("scope_parameter", "redirect_uri", scopeRule), ("scope_parameter", "", scopeRule),
            ("title", "", titleRule), ("title", "a\u{1B}]0;b\u{7}", titleRule), ("title", "\u{202E}evil", titleRule),
        ])
    func wrongWord(member: String, word: String, text: String) async throws {
        var facts: JSONObject = [
            "authorize_url": .string("https://server.example/a"), "token_url": .string("https://server.example/t"),
            "userinfo_url": .string("https://server.example/u"), "title": .string("Example"),
        ]
        #expect(try BuiltInService(name: "mine", facts: facts).service().displayName == "Example")
        facts[member] = .string(word)
        let error = await handshakeError { try BuiltInService(name: "mine", facts: facts).service() }
        let named: String? = if case .configuration(let named, _)? = error { named } else { nil }
        #expect(named == member.replacing("_", with: "-"))
        #expect(error.map { "\($0)" } == text)
    }

    @Test(
        "codes of a refused refresh token are none of the standards', and stand where errors have codes",
        arguments: [
            (
                "invalid_client", nil,
                "“invalid-grant-codes” must not have “invalid_client”: that code has a meaning of its own in the standards."
            ),
            (
                "gone", "",
                "“invalid-grant-codes” must not be beside an empty “error-code-pointer”, which says that errors have no code."
            ),
            ("gone", "/message", nil), ("gone", nil, nil),
        ] as [(String, String?, String?)])
    func wrongRefusal(code: String, pointer: String?, text: String?) async throws {
        var facts: JSONObject = [
            "authorize_url": .string("https://server.example/a"), "token_url": .string("https://server.example/t"),
            "invalid_grant_codes": .array([.string(code)]),
        ]
        if let pointer { facts["error_code_pointer"] = .string(pointer) }
        let error = await handshakeError { try BuiltInService(name: "mine", facts: facts).service() }
        #expect(error.map { "\($0)" } == text)
    }

    @Test("a signed client secret has an issuer and an audience, and the error says so")
    func wrongSecret() async throws {
        let facts: JSONObject = [
            "authorize_url": .string("https://server.example/a"), "token_url": .string("https://server.example/t"),
            "signed_client_secret": .object(["issuer": .string("team")]),
        ]
        let error = await handshakeError { try BuiltInService(name: "mine", facts: facts).service() }
        #expect(
            error.map { "\($0)" } == "“signed-client-secret” must have exactly the members issuer and audience.")
    }

    @Test("a description can name a field for the token alone")
    func authorizationHeader() throws {
        let facts: JSONObject = [
            "token_url": .string("https://server.example/t"), "authorization_header": .string("X-Token"),
        ]
        let field = try #require(HTTPField.Name("X-Token"))
        let service = try BuiltInService(name: "mine", facts: facts).service()
        #expect(service.deviations.authorization == .field(field))
    }

    @Test("a user signs in to every service's twin, is named, and stays signed in", arguments: supported)
    func signIn(_ name: String) async throws {
        let twin = try twin(name)
        let account = try await app(name, twin).signIn(through: twin.browser())
        #expect(account.status.scopes == twin.scopes)
        #expect(account.status.expiresAt == twin.expiry)
        #expect((account.status.identity?.subject == "user-1") == twin.flag("discovers"))
        if twin.text("userinfo_url") != nil {
            let identity = try await account.identity()
            #expect(identity.subject == "\(twin.subject)")
            let isNamed = twin.text("name_pointer") != nil && twin.text("name_pointer") != twin.text("subject_pointer")
            if isNamed { #expect(identity.name == "Ada") }
        }
        if twin.issuesRefreshTokens {
            try await account.refresh()
            #expect(try await account.accessToken().reveal() == "access-2")
            try await account.refresh()
            #expect(try await account.accessToken().reveal() == "access-3")
        } else {
            #expect(await handshakeError { try await account.refresh() }?.code == "sign_in_required")
        }
        #expect(twin.state.withLock { $0.problems } == [])
    }

    @Test("an error of every service's twin is read, at the token endpoint and in the redirect", arguments: supported)
    func failure(_ name: String) async throws {
        let twin = try twin(name)
        let app = try app(name, twin)
        for answer in twin.denials {
            let denial = await handshakeError { try await app.signIn(through: twin.browser(denying: answer)) }
            #expect(denial == .signInAbandoned(.denied), "\(answer)")
        }
        twin.state.withLock { $0.failsTokens = true }
        let error = await handshakeError { try await app.signIn(through: twin.browser()) }
        guard case .exchange(.server(let said)) = try #require(error) else {
            Issue.record("\(name): \(String(describing: error))")
            return
        }
        #expect(said.code == twin.failureCode)
        #expect(said.text == twin.failureText)
        #expect(try await app.account()?.id == nil)
    }

    /// The codes by which services refuse a refresh token for good, as they send them.
    private static let ownRefusals = [("github", "bad_refresh_token"), ("twitch", "Invalid refresh token")]

    @Test("a refresh that a service refuses for good in words of its own ends the session", arguments: ownRefusals)
    func ownRefusal(_ name: String, _ code: String) async throws {
        let line = try #require(Self.lines[name])
        // An app at GitHub gets refresh tokens where its users' tokens expire.
        let twin = try ServiceTwin(
            line.replacingOccurrences(of: #""offline":{"never":true"#, with: #""offline":{"always":true"#),
            values: Self.values(name))
        let account = try await app(name, twin).signIn(through: twin.browser())
        twin.state.withLock { $0.refusal = "not_today" }
        let other = await handshakeError { try await account.refresh() }
        #expect(other != nil && other?.code != "sign_in_required", "another code does not end it")
        twin.state.withLock { $0.refusal = code }
        for _ in 0..<2 {
            let ended = await handshakeError { try await account.refresh() }
            #expect(ended == .signInRequired(account.id, .refreshRejected))
        }
        #expect(account.status.state == .ended(.refreshRejected))
        #expect(twin.state.withLock { $0.refusals } == 2, "the second refusal is not asked for again")
        #expect(twin.state.withLock { $0.problems } == [])
    }

    @Test("every service that refuses refresh tokens in words of its own is tested with each of them")
    func allOwnRefusals() throws {
        var stated: [String] = []
        for name in Self.lines.keys.sorted() {
            let codes = try twin(name).facts["invalid_grant_codes"] as? [String]
            stated += (codes ?? []).map { "\(name): \($0)" }
        }
        #expect(stated == Self.ownRefusals.map { "\($0.0): \($0.1)" })
    }

    @Test(
        "a redirect that a service is known to refuse stops before its page, and no other one does",
        arguments: supported)
    func refusedRedirect(_ name: String) async throws {
        let twin = try twin(name)
        for uri in ["http://127.0.0.1:49152/callback", "https://127.0.0.1"] {
            let app = try app(name, twin, at: uri)
            let error = await handshakeError {
                let attempt = try await app.beginSignIn()
                _ = try await twin.browser().show(attempt.page)
            }
            let isRefused = if case .configuration("redirect", _)? = error { true } else { false }
            #expect(
                isRefused == (twin.refusesLoopback && uri.hasPrefix("http:")), "\(uri): \(String(describing: error))")
            #expect(isRefused || error == nil, "\(uri): \(String(describing: error))")
        }
        #expect(twin.state.withLock { $0.problems } == [])
    }

    @Test("nine services are known to refuse redirects to this machine; a sandbox in the place of one takes them")
    func loopbackRefusals() throws {
        let refusing = try Self.supported.filter { name in
            try Service.named(Service.Name(rawValue: name), Self.values(name)).deviations.refusesLoopbackRedirects
        }
        #expect(
            refusing == [
                "apple", "freshbooks", "instagram", "mercadolibre", "mercadopago", "schwab", "threads", "withings",
                "yahoo",
            ])
        let sandbox = try Service.named("yahoo").at(try EndpointURL("https://sandbox.example"))
        #expect(!sandbox.deviations.refusesLoopbackRedirects)
    }

    @Test("three services are known to end all tokens of a user with the one that is revoked")
    func wholeRevocations() throws {
        let whole = try Self.supported.filter { name in
            try Service.named(Service.Name(rawValue: name), Self.values(name)).deviations.revokesWholeAuthorization
        }
        #expect(whole == ["auth0", "google", "youtube"])
    }

    @Test(
        "the token answers that Slack, LinkedIn, Mailchimp and Yammer are known to send are read",
        arguments: [
            (
                "slack",
                #"{"ok":true,"authed_user":{"id":"U1","scope":"users:read","access_token":"x1","token_type":"user"}}"#
            ), ("linkedin", #"{"access_token":"x1","expires_in":5184000,"scope":"openid,profile"}"#),
            ("mailchimp", #"{"access_token":"x1","expires_in":0,"scope":null}"#),
            (
                "yammer",
                #"{"access_token":{"user_id":1,"network_id":2,"token":"x1","expires_at":null},"user":{},"network":{}}"#
            ),
        ])
    func documentedTypes(_ name: String, _ content: String) throws {
        let server = AuthorizationServerMetadata(
            issuer: try Issuer("https://op.example"), tokenEndpoint: try EndpointURL("https://op.example/token"))
        let response = try TokenRequest(
            .refreshToken(Secret("refresh-token-of-before")), at: server, clientID: "app", authentication: .none,
            deviations: try Service.named(Service.Name(rawValue: name)).deviations.token
        ).response(
            from: ResponseMessage(head: HTTPResponse(status: .ok), content: Array(content.utf8)), now: 1_000)
        #expect(response.accessToken.reveal() == "x1")
    }

    /// What services send, as their own pages say it.
    private static let ownDenials = [
        ("apple", "error=user_cancelled_authorize"), ("linkedin", "error=user_cancelled_login"),
        ("linkedin", "error=user_cancelled_authorize"), ("pipedrive", "error=user_denied"),
        ("bitly", "error=invalid&reason=declined"),
        ("bitly", "invalid=1&reason=declined"),
    ]

    @Test("a user who declines in a service's own words has declined, at this service alone", arguments: ownDenials)
    func ownDenial(_ name: String, _ answer: String) async throws {
        let twin = try twin(name)
        let app = try app(name, twin)
        let denial = await handshakeError { try await app.signIn(through: twin.browser(denying: answer)) }
        #expect(denial == .signInAbandoned(.denied))
        // The redirect may come to another process, which knows the service from its client.
        let attempt = try await app.beginSignIn()
        let redirect = try #require(try await twin.browser(denying: answer).show(attempt.page))
        let foreign = redirect.replacingOccurrences(of: "state=", with: "state=x")
        let unmatched = await handshakeError { try await app.finishSignIn(redirectURL: foreign) }
        let isUnmatched = if case .exchange(.unmatchedRedirect)? = unmatched { true } else { false }
        #expect(isUnmatched, "\(String(describing: unmatched))")
        #expect(
            await handshakeError { try await app.finishSignIn(redirectURL: redirect) } == .signInAbandoned(.denied))
        let other = try self.twin("github")
        let error = await handshakeError {
            try await self.app("github", other).signIn(through: other.browser(denying: answer))
        }
        #expect(error != nil && error != .signInAbandoned(.denied))
    }

    @Test("a code beside the parameter by which a service reports a refusal is a code")
    func codeBesideReason() async throws {
        let twin = try twin("bitly")
        let page = twin.browser()
        let browser = ScriptedBrowser { try await page.show($0).map { $0 + "&reason=none" } }
        let account = try await app("bitly", twin).signIn(through: browser)
        #expect(account.status.state == .signedIn)
    }

    @Test("what a service says beside its error's code is shown behind the explanation")
    func errorDetail() async throws {
        for (name, code, text) in [
            ("kakao", "server_says_no", "Not today (E4711)"), ("huawei", "server_says_no", "Not today (E4711)"),
            ("gumroad", nil, "Not today"), ("twitch", "server_says_no", "Not today"),
            ("trovo", "server_says_no", "Not today"),
        ] as [(String, String?, String)] {
            let twin = try twin(name)
            twin.state.withLock { $0.failsTokens = true }
            let error = await handshakeError { try await self.app(name, twin).signIn(through: twin.browser()) }
            guard case .exchange(.server(let said))? = error else {
                Issue.record("\(name): \(String(describing: error))")
                continue
            }
            #expect(said.code == code && said.text == text, "\(name)")
        }
    }

    @Test(
        "a service with a device sign-in of its own is told from one without any",
        arguments: [("trakt", true), ("amazon", true), ("huawei", true), ("notion", false)])
    func ownDeviceGrant(_ name: String, hasOwn: Bool) async throws {
        let twin = try twin(name)
        let error = await handshakeError { try await self.app(name, twin).signInOnAnotherDevice { _ in } }
        guard case .configuration("device_authorization_endpoint", let problem)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(problem.contains("has a device sign-in of its own, which Handshake does not support.") == hasOwn)
        #expect(problem.contains("has no sign-in on another device") != hasOwn)
        #expect(problem.hasSuffix("Sign in with a browser."))
    }

    @Test("a token that a service refreshes in its last moments alone is refreshed then, and not before")
    func lateRefresh() async throws {
        let provider = ScriptedProvider()
        let late = try Service.named("exact-online", Self.values("exact-online"))
        var deviations = Service.Deviations()
        deviations.refreshMargin = late.deviations.refreshMargin
        let service = try Service(
            name: "op", authorizationServer: .discovered(try Issuer(ScriptedProvider.issuer), security: .httpsOnly),
            defaultScopes: ["openid", "offline_access"], deviations: deviations)
        let client = Client(service: service, id: "app", redirect: .uri(try RedirectURI(ScriptedProvider.redirect)))
        let app = try Handshake(client, vault: MemoryVault(), transport: provider, time: provider.time.source)
        let account = try await app.signIn(through: provider.browser)
        #expect(account.refreshMargin == 25)
        provider.time.advance(by: 3_560)
        #expect(try await account.accessToken().reveal() == "access-1")
        provider.time.advance(by: 20)
        #expect(try await account.accessToken().reveal() == "access-2")
    }

    @Test("at least 230 services are supported, and each other one has a reason")
    func count() throws {
        #expect(Self.supported.count >= 230)
        #expect(BuiltInService.all.map(\.name) == Self.lines.keys.sorted())
        for service in BuiltInService.all {
            if let reason = service.unsupportedReason {
                #expect(!reason.isEmpty)
                #expect(throws: HandshakeError.self) { try service.service() }
            }
        }
    }

    @Test("each line is JSON as a whole, and each of its members is the same when it alone is read")
    func wholeLines() throws {
        for service in BuiltInService.all {
            let line = Array(try #require(Self.lines[service.name]).utf8)
            let whole = try #require(JSONValue(parsing: line).object)
            #expect(service.facts == whole)
            let unread = try #require(UnreadObject(line))
            #expect(whole.allSatisfy { unread[$0.key] == $0.value }, "\(service.name)")
        }
    }

    @Test("all names can be signed in to, and each is found; the lines stand in the order in which they are looked for")
    func allNames() throws {
        let names = Service.Name.all.map(\.rawValue)
        #expect(names == (Self.supported + ["sequencing", "recurse-center"]).sorted())
        for name in names { _ = try Service.named(Service.Name(rawValue: name), Self.values(name)) }
        let inOrder = BuiltInService.all.map { Array($0.name.utf8) }
        #expect(zip(inOrder, inOrder.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) })
        for name in Self.lines.keys { #expect(BuiltInService.named(name)?.name == name) }
    }

    @Test("each line's addresses are https, and its placeholders accept their own examples and defaults")
    func placeholders() throws {
        for service in BuiltInService.all where service.unsupportedReason == nil {
            _ = try service.service(Self.values(service.name))
            for placeholder in service.placeholders where placeholder.defaultValue != nil {
                #expect(placeholder.accepts(placeholder.defaultValue ?? ""), "\(service.name)")
                var values = Self.values(service.name)
                values[placeholder.name] = nil
                _ = try service.service(values)
            }
        }
    }

    @Test(
        "a placeholder's value that is missing, foreign or not of its form is refused and named",
        arguments: [
            [:], ["host": "evil.example/@"], ["host": "a b"], ["host": ""], ["host": "h\u{301}.example"],
            ["host": "gitlab.example.org\n"], ["host": String(repeating: "a.", count: 200) + "org"],
        ])
    func wrongValue(_ values: [String: String]) throws {
        let error = #expect(throws: HandshakeError.self) { try Service.named(.gitLabSelfManaged, values) }
        guard case .configuration(let member, _) = try #require(error) else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(member == "host")
        #expect(throws: HandshakeError.self) { try Service.named(.github, ["host": "evil.example"]) }
    }

    @Test("each placeholder is replaced wherever it stands, a value is not searched for others, and other braces stay")
    func filling() throws {
        func placeholder(_ example: String) -> JSONValue {
            .object(["pattern": .string("^[A-Za-z0-9{}.-]+$"), "example": .string(example)])
        }
        let texts = ["{a}", "x{a}y{b}z{a}", "{c}", "{a", "a}", "{}", "{{a}}", "{b{a}", "plain"]
        let facts: JSONObject = [
            "placeholders": .object(["a": placeholder("1"), "b": placeholder("2")]),
            "list": .array(texts.map(JSONValue.string)), "inner": .object(["{a}": .string("{b}")]),
        ]
        let filled = try BuiltInService(name: "own", facts: facts).filled(with: ["a": "{b}", "b": "2"])
        #expect(
            filled["list"]?.array?.compactMap(\.string)
                == ["{b}", "x{b}y2z{b}", "{c}", "{a", "a}", "{}", "{{b}}", "{b{b}", "plain"])
        #expect(filled["inner"]?.object?["{a}"]?.string == "2")
        #expect(filled["placeholders"] == nil)
    }

    @Test("a name is found whole, and an unknown one is refused")
    func names() throws {
        #expect(try Service.named(.github).displayName == "GitHub")
        for service in [Service.sequencing, .recurseCenter, .ifttt] {
            #expect(try Service.named(Service.Name(rawValue: service.name)).displayName == service.displayName)
            #expect(
                throws: HandshakeError.configuration(
                    member: "host", problem: "\(service.displayName) has no placeholders")
            ) {
                try Service.named(Service.Name(rawValue: service.name), ["host": "evil.example"])
            }
        }
        for name in ["", "git", "githu", "github\",\"", "GitHub", String(repeating: "a", count: 10_000)] {
            #expect(BuiltInService.named(name)?.name == nil)
        }
    }

    @Test("a service at another origin keeps its paths, and none of its addresses stays", arguments: supported)
    func moved(_ name: String) throws {
        let service = try Service.named(Service.Name(rawValue: name), Self.values(name))
        let base = try EndpointURL("http://127.0.0.1:8080/ignored?x=1", security: .allowingInsecureLoopback)
        let moved = service.at(base)
        #expect(moved.authorizationServer.security == .allowingInsecureLoopback)
        for (new, old) in zip(Self.addresses(moved), Self.addresses(service)) {
            #expect(new?.origin == old.map { _ in base.origin } && new?.requestTarget == old?.requestTarget)
            #expect(try new.map { try EndpointURL($0.string, security: .allowingInsecureLoopback) } == new)
        }
        #expect(moved.apiOrigins == (service.apiOrigins.isEmpty ? [] : [base.origin]))
        #expect(moved.defaultScopes == service.defaultScopes && moved.name == service.name)
    }

    private static func addresses(_ service: Service) -> [EndpointURL?] {
        let issuer = service.authorizationServer.issuer.url
        let others = [service.apiRoot, service.identityEndpoint?.url]
        guard case .described(let server) = service.authorizationServer else { return [issuer] + others }
        return [
            issuer, server.tokenEndpoint, server.authorizationEndpoint, server.refreshEndpoint,
            server.revocationEndpoint, server.deviceAuthorizationEndpoint, server.introspectionEndpoint,
            server.userInfoEndpoint, server.keysEndpoint,
        ] + others
    }
}
