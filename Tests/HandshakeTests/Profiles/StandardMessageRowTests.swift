import Foundation
import HTTPTypes
import Handshake
import OAuth
import Sandbox
import TestFixtures
import Testing

@testable import Handshake

/// Rows of `any-server.md` 10 about requests, responses and signed texts, at the sandbox's standard server.
@Suite("Rows about messages at the sandbox's standard server", .heavy)
struct StandardMessageRowTests {
    private static let wholeLog = Sandbox.Configuration(logsWholeRequests: true)

    private static func query(_ url: String) -> [String: String] {
        URLComponents(string: url)?.queryItems?.reduce(into: [:]) { $0[$1.name] = $1.value } ?? [:]
    }

    private static func signIn(_ app: Handshake, _ world: World) async throws -> Account {
        try await app.signIn(through: ApprovingBrowser(sandbox: world.sandbox))
    }

    private static func text(_ error: HandshakeError?) -> String { error.map { "\($0)" } ?? "" }

    /// Where the server's page sends a browser without a session.
    private static func visit(_ page: SignInPage) async throws -> String? {
        let address = try EndpointURL(page.url, security: .allowingInsecureLoopback)
        return try await PlatformTransport().send(RequestMessage(.get, address), limits: World.limits)
            .head.headerFields[.location]
    }

    @Test("M204, M205: the sandbox takes a signed request with numbers, objects and lists, which says nothing else")
    func requestObject() async throws {
        let world = try await World(.standard, configuration: Self.wholeLog)
        world.holdClocks()
        let names = ["mcp", "quiet/mcp"].map { world.sandbox.resources.origin + "/" + $0 }
        var client = try world.keyedClient(
            "sandbox-signing",
            resources: try names.map { try ResourceIndicator($0, security: .allowingInsecureLoopback) },
            parameters: ["max_age": "600", "claims": #"{"id_token":{"auth_time":{"essential":true}}}"#])
        client.options.signedRequests = .always
        _ = try await Self.signIn(try world.app(client), world)
        let push = try #require(world.sandbox.requests(.standard).first { $0.path == "/par" })
        let text = try #require(push.sentForm["request"])
        #expect(try SentProof.object(text.prefix { $0 != "." })["typ"] == .string("oauth-authz-req+jwt"))
        let object = try claims(of: text)
        #expect(object["aud"] as? String == world.sandbox.standard.origin && object["iss"] as? String == client.id)
        #expect(object["max_age"] as? Int == 600)
        #expect((object["claims"] as? [String: Any])?.keys.sorted() == ["id_token"])
        #expect(object["resource"] as? [String] == names)
        #expect(
            object.keys.sorted() == [
                "aud", "claims", "client_id", "code_challenge", "code_challenge_method", "exp", "iat", "iss", "jti",
                "max_age", "nbf", "nonce", "redirect_uri", "resource", "response_type", "scope", "state",
            ])
        await world.sandbox.stop()
    }

    @Test("M207: where the sandbox answers plainly although a signed response was asked for, its text is not shown")
    func plainResponse() async throws {
        for isRefused in [false, true] {
            let world = try await World(.standard)
            var client = try world.client()
            client.options.responseMode = .jwt
            client.options.pushedRequests = .never
            let app = try world.app(client)
            let error = await handshakeError {
                try await app.signIn(
                    through: ScriptedBrowser { page in
                        // An attacker has changed the request on its way.
                        var address = try #require(URLComponents(string: page.url))
                        address.queryItems?.removeAll { $0.name == "response_mode" }
                        let changed = try #require(address.string)
                        #expect(changed != page.url)
                        return try await isRefused
                            ? world.sandbox.refuse(changed) : world.sandbox.approve(changed)
                    })
            }
            #expect(error?.code == "response_unsigned")
            let text = Self.text(error)
            #expect(!text.isEmpty && !text.contains("access_denied") && !text.contains("did not allow"))
            #expect(world.tokenRequests("authorization_code") == 0)
            await world.sandbox.stop()
        }
    }

    @Test("M209: each API is named to the sandbox in every request of the grant, whatever the form of its identifier")
    func resources() async throws {
        let world = try await World(.standard, configuration: Self.wholeLog)
        let names = [world.sandbox.resources.origin + "/mcp", "urn:example:b", "api://4f9c"]
        let client = Client(
            service: try world.service(), id: "sandbox-public",
            resources: try names.map { try ResourceIndicator($0, security: .allowingInsecureLoopback) })
        try await Self.signIn(try world.app(client), world).refresh()
        let sent = world.sandbox.requests(.standard).filter { ["/par", "/token"].contains($0.path) }
        #expect(sent.map(\.grantType) == [nil, "authorization_code", "refresh_token"])
        for request in sent {
            #expect(request.sentPairs.filter { $0.name == "resource" }.compactMap(\.value) == names, "\(request.path)")
        }
        await world.sandbox.stop()
    }

    /// An account at the sandbox, whose API demands more, and a browser that counts its pages.
    private static func stepUp(
        _ faults: [String]
    ) async throws -> (World, HandshakeError?, status: Int?, pages: Int) {
        let world = try await World(.standard, configuration: wholeLog)
        world.holdClocks()
        let (app, account) = try await world.signedIn()
        for fault in faults { try world.inject("standard /api/stepup => \(fault)") }
        let pages = Shared(0)
        let browser = ScriptedBrowser { page in
            pages.change { $0 += 1 }
            return try await world.sandbox.approve(page.url)
        }
        let address = try EndpointURL(
            world.sandbox.standard.origin + "/api/stepup", security: .allowingInsecureLoopback)
        let status = Shared<Int?>(nil)
        let error = await handshakeError {
            let answer = try await app.send(RequestMessage(.get, address), as: account, steppingUpThrough: browser)
            status.change { $0 = answer.head.status.code }
        }
        return (world, error, status.value, pages.value)
    }

    private static let demand =
        #"header WWW-Authenticate Bearer error="insufficient_user_authentication", "#
        + #"acr_values="urn:sandbox:acr:strong", max_age=0"#

    @Test("M212: the authentication that the sandbox's API demands is asked for, with the scopes of the account")
    func steppedUp() async throws {
        let (world, error, status, pages) = try await Self.stepUp([Self.demand + " x1", "status 401 x1"])
        #expect(error == nil && status == 200 && pages == 1)
        let push = try #require(world.sandbox.requests(.standard).first { $0.path == "/par" }).sentForm
        #expect(push["acr_values"] == "urn:sandbox:acr:strong" && push["max_age"] == "0")
        #expect(push["scope"]?.replacing("+", with: " ") == "openid profile offline_access api")
        #expect(world.statuses("/api/stepup") == [401, 200])
        await world.sandbox.stop()
    }

    @Test("M214: the same challenge of the sandbox's API after the sign-in is final, and no user is asked again")
    func stillDemanded() async throws {
        let (world, error, _, pages) = try await Self.stepUp([Self.demand, "status 401"])
        guard case .demanded(.stepUp, 401)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(pages == 1 && world.statuses("/api/stepup") == [401, 401])
        await world.sandbox.stop()
    }

    @Test("M215: of an error by which the sandbox's hostile neighbour names another issuer nothing is shown")
    func foreignError() async throws {
        let world = try await World(.standard)
        let security = TransportSecurity.allowingInsecureLoopback
        let issuer = try Issuer(world.sandbox.standard.origin + "/neighbour", security: security)
        let service = try Service(
            name: "neighbour", authorizationServer: .discovered(issuer, security: security), defaultScopes: ["openid"])
        let app = try world.app(Client(service: service, id: "sandbox-public"))
        let error = await handshakeError {
            try await app.signIn(through: ScriptedBrowser { try await world.sandbox.refuse($0.url) })
        }
        #expect(error?.code == "issuer_mismatch")
        let text = Self.text(error)
        #expect(!text.isEmpty && !text.contains("access_denied") && !text.contains("did not allow"))
        await world.sandbox.stop()
    }

    @Test("M216: the sandbox's reference is used as it came, and one that is an address is not fetched")
    func reference() async throws {
        let world = try await World(.standard)
        let app = try world.app()
        let shown = Shared<[String]>([])
        _ = try await app.signIn(
            through: ScriptedBrowser { page in
                shown.change { $0.append(page.url) }
                return try await world.sandbox.approve(page.url)
            })
        let address = world.sandbox.standard.origin + "/pushed/1?a=b"
        try world.inject("standard POST /par => member request_uri \(address)")
        let error = await handshakeError {
            try await app.signIn(
                as: "other",
                through: ScriptedBrowser { page in
                    shown.change { $0.append(page.url) }
                    throw HandshakeError.signInAbandoned(.closed)
                })
        }
        #expect(error == .signInAbandoned(.closed))
        let references = shown.value.map { Self.query($0)["request_uri"] }
        #expect(references.first??.hasPrefix("urn:") == true && references.last == address)
        #expect(world.statuses("/pushed/1").isEmpty)
        await world.sandbox.stop()
    }

    @Test(
        "M602: of an ID token that a published key of the sandbox's has signed the client's own algorithm alone counts",
        arguments: [(.es256, "algorithm_refused"), (nil, nil)] as [(SignatureAlgorithm?, String?)])
    func registeredAlgorithm(_ registered: SignatureAlgorithm?, _ code: String?) async throws {
        let world = try await World(.standard)
        try world.inject(
            #"standard /.well-known/* => member id_token_signing_alg_values_supported ["ES256","RS256"]"#)
        try world.inject("standard POST /token => id_token sign RS256")
        var client = try world.client()
        client.options.idTokenAlgorithm = registered
        let app = try world.app(client)
        #expect(await handshakeError { try await Self.signIn(app, world) }?.code == code)
        await world.sandbox.stop()
    }

    @Test("M605: an encrypted ID token of the sandbox's is refused by name, with advice")
    func encrypted() async throws {
        let world = try await World(.standard)
        try world.inject("standard POST /token => member id_token e30.e30.e30.e30.e30")
        let app = try world.app()
        let error = await handshakeError { try await Self.signIn(app, world) }
        #expect(error?.code == "token_encrypted")
        #expect(Self.text(error).contains("_encrypted_response_alg"))
        #expect(try await app.account() == nil)
        await world.sandbox.stop()
    }

    @Test("M606: each error of the sandbox's to prompt none is typed with its cure, and none stands alone")
    func silent() async throws {
        let world = try await World(.standard, configuration: Self.wholeLog)
        func app(_ prompt: String) throws -> Handshake {
            try world.app(Client(service: world.service(), id: "sandbox-public", parameters: ["prompt": prompt]))
        }
        let silent = try app("none")
        // The first is the sandbox's own: its page has no session.
        for code in ["login_required", "consent_required", "interaction_required", "account_selection_required"] {
            let error = await handshakeError {
                try await silent.signIn(
                    through: ScriptedBrowser { page in
                        let push = world.sandbox.requests(.standard).last { $0.path == "/par" }
                        let state = try #require(push?.sentForm["state"])
                        let answer = "?error=\(code)&state=\(state)&iss=\(world.sandbox.standard.origin)"
                        if code != "login_required" {
                            try world.inject(
                                "standard GET /authorize* => redirect \(page.redirectURI.string + answer) x1")
                        }
                        return try await Self.visit(page)
                    })
            }
            #expect(error?.code == code)
            #expect(Self.text(error).contains("Sign in again without prompt=none"))
        }
        #expect(world.statuses("/authorize") == [302, 302, 302, 302])
        let pushes = world.statuses("/par").count
        let both = try app("none login")
        #expect(await handshakeError { try await Self.signIn(both, world) }?.configurationMember == "prompt")
        #expect(world.statuses("/par").count == pushes)
        await world.sandbox.stop()
    }
}
