import Testing

@testable import OAuth

@Suite("Rich requests")
struct AuthorizationDetailTests {
    private static let payment = AuthorizationDetail(
        type: "payment_initiation", ["instructedAmount": .object(["currency": .string("EUR")])])

    @Test("M210: a type that the server does not publish is refused, and one that it does is sent")
    func types() throws {
        var server = try Example.server()
        var options = AuthorizationRequest.Options()
        options.authorizationDetails = [Self.payment]
        server.authorizationDetailsTypes = ["account_information"]
        #expect(
            failure { _ = try Example.request(to: server, options: options) } == "configuration authorization_details")
        server.authorizationDetailsTypes = ["account_information", "payment_initiation"]
        for server in [server, try Example.server()] {
            let request = try Example.request(to: server, options: options)
            let value =
                "%5B%7B%22instructedAmount%22%3A%7B%22currency%22%3A%22EUR%22%7D%2C%22type%22%3A%22payment_initiation%22%7D%5D"
            #expect(request.queryPairs.contains("authorization_details=" + value), "\(request.url)")
        }
        options.authorizationDetails = [AuthorizationDetail(type: "")]
        #expect(
            failure { _ = try Example.request(options: options) } == "configuration authorization_details")
    }

    @Test(
        "M211, C14: what was granted is told, narrower, enriched or not at all",
        arguments: [
            ("", nil, nil),
            (#""authorization_details":[{"type":"payment_initiation"}]"#, [String](), [String]()),
            (
                #""authorization_details":[{"type":"payment_initiation","debtor":"x"},{"type":"b"},{"type":"b"}]"#, [],
                ["b"]
            ),
            (#""authorization_details":[]"#, ["payment_initiation"], []),
        ])
    func granted(_ member: String, _ withheld: [String]?, _ other: [String]?) throws {
        let members = [#""access_token":"a","token_type":"Bearer""#, member].filter { !$0.isEmpty }
        let response = try TokenResponse(
            parsing: Array("{\(members.joined(separator: ","))}".utf8), now: 0, hiding: [])
        let told = GrantedAuthorizationDetails(granted: response.authorizationDetails, asked: [Self.payment])
        if let withheld, let other {
            #expect(
                told
                    == .granted(
                        try #require(response.authorizationDetails), withheldTypes: withheld, otherTypes: other))
        } else {
            #expect(told == .notTold)
        }
        let grant = Grant(response, requested: [], now: 0)
        #expect(grant.authorizationDetails == response.authorizationDetails)
        let refreshed = try TokenResponse(
            parsing: Array(#"{"access_token":"b","token_type":"Bearer"}"#.utf8), now: 0, hiding: [])
        #expect(grant.refreshed(by: refreshed, now: 1).authorizationDetails == response.authorizationDetails)
    }

    @Test("M211: details that would make a record too long for every vault are refused", arguments: [60_000, 66_000])
    func length(_ length: Int) throws {
        // In a record each of these bytes takes several.
        for text in [String(repeating: "/", count: length), String(repeating: #"\""#, count: length / 2)] {
            let details = #"[{"type":"a","b":"\#(text)"}]"#
            let content = Array(#"{"access_token":"a","token_type":"Bearer","authorization_details":\#(details)}"#.utf8)
            let problem = failure { _ = try TokenResponse(parsing: content, now: 0, hiding: []) }
            #expect((problem == nil) == (length < 65_536), "\(problem ?? "none")")
        }
    }

    @Test("C14: nothing asked for and nothing granted is nothing to tell")
    func nothing() {
        #expect(GrantedAuthorizationDetails(granted: nil, asked: []) == nil)
    }

    @Test(
        "details that are none are malformed",
        arguments: ["{}", "1", #"[1]"#, #"[{}]"#, #"[{"type":1}]"#, #"[{"type":""}]"#])
    func malformed(_ value: String) throws {
        let content = #"{"access_token":"a","token_type":"Bearer","authorization_details":\#(value)}"#
        #expect(
            failure { _ = try TokenResponse(parsing: Array(content.utf8), now: 0, hiding: []) }
                == "malformed authorization_details")
        #expect(failure { _ = try AuthorizationDetail.list(parsing: value) } == "configuration authorization_details")
    }

    @Test("M210: the server's refusal of details has its own code")
    func code() throws {
        let error = ServerError(
            step: .pushedAuthorization, code: "invalid_authorization_details", hiding: [Secret("authorization")])
        #expect(error.code == "invalid_authorization_details")
    }

    @Test("M209: every absolute URI names an API, and one with a fragment none")
    func resources() throws {
        for text in ["https://api.example/", "urn:example:api", "api://4f9c", "https://a.example/x?y=z"] {
            #expect(try ResourceIndicator(text).string == text)
            var options = AuthorizationRequest.Options()
            options.resources = [text, "urn:other"]
            let pairs = try Example.request(options: options).queryPairs.filter { $0.hasPrefix("resource=") }
            #expect(pairs == ["resource=" + PercentEncoding.query(text), "resource=urn%3Aother"])
        }
        #expect(try ResourceIndicator("urn:example:api").url == nil)
        #expect(try ResourceIndicator("https://api.example/").url?.origin.host == "api.example")
        for text in [
            "https://api.example/#part", "urn:x#", "api.example", "/api", ":x", "urn:", "1a:b", "urn:a b", "ürn:a",
        ] {
            #expect(failure { _ = try ResourceIndicator(text) } == "configuration resource", "\(text)")
            var options = AuthorizationRequest.Options()
            options.resources = [text]
            #expect(failure { _ = try Example.request(options: options) } == "configuration resource", "\(text)")
        }
        #expect(failure { _ = try ResourceIndicator("http://api.example/") } == "insecure_transport")
    }

    @Test("M606: prompt none stands alone")
    func prompt() throws {
        for (prompt, isRight) in [
            ("none", true), ("login consent", true), ("select_account", true), ("create", true), ("none login", false),
            ("login none", false), ("none none", false), ("", true),
        ] {
            var options = AuthorizationRequest.Options()
            options.extras = ["prompt": prompt]
            #expect(
                failure { _ = try Example.request(options: options) } == (isRight ? nil : "configuration prompt"),
                "\(prompt)")
        }
    }

    @Test(
        "M606: each error of prompt none is typed and says what to do",
        arguments: ServerError.Interaction.allCases)
    func interaction(_ interaction: ServerError.Interaction) throws {
        let request = try Example.request()
        let redirect = request.redirect("error=\(interaction.rawValue)")
        let error = serverError { _ = try request.code(from: redirect, now: Example.now) }
        #expect(error?.requiredInteraction == interaction)
        #expect(error?.description.contains("Sign in again without prompt=none") == true)
    }

    @Test("M212: a server that cannot authenticate the user as asked has a code of its own, with what to do")
    func unmet() throws {
        let request = try Example.request()
        let redirect = request.redirect("error=unmet_authentication_requirements")
        let error = serverError { _ = try request.code(from: redirect, now: Example.now) }
        #expect(error?.code == "unmet_authentication_requirements")
        #expect(error?.description.hasSuffix("such as a second factor, and sign in again.") == true)
    }

    @Test("M603: Ed25519 has two names, and either verifies with either name on the key, by SHA-512")
    func names() throws {
        let keys = try SigningKeys.shared.get()
        for name in [SignatureAlgorithm.edDSA, .ed25519] {
            let token = try keys.token(name, payload: "{}")
            for stated in ["", #","alg":"EdDSA""#, #","alg":"Ed25519""#] {
                let set = try keys.keySet(.edDSA, more: stated)
                let verified = try JSONWebSignature(compact: token).verify(with: set, allowing: name.namesakes)
                #expect(verified.algorithm == name)
            }
            #expect(name.halfHash(of: Secret("abc")) == SignatureAlgorithm.edDSA.halfHash(of: Secret("abc")))
            #expect(Base64URL.decode(name.halfHash(of: Secret("abc")))?.prefix(2) == [0xDD, 0xAF])
        }
    }
}
