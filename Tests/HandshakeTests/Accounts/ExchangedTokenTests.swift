import Crypto
import CryptoExtras
import HTTPTypes
import OAuth
import Sandbox
import TestFixtures
import Testing

@testable import Handshake

@Suite("Exchanged tokens and signed assertions", .heavy)
struct ExchangedTokenTests {
    private func account(_ world: World) async throws -> (Handshake, Account) {
        try await world.signedIn(
            try world.confidentialClient("sandbox-confidential", scopes: ["openid", "offline_access", "api"]))
    }

    @Test("C13: an account's token is exchanged for a narrower one, and the account stays as it is")
    func narrower() async throws {
        let world = try await World(.standard)
        let (_, account) = try await account(world)
        let before = try await account.accessToken()
        guard case .accessToken(let token) = try await account.exchangedToken(audiences: ["billing"], scopes: ["api"])
        else {
            Issue.record("an access token was asked for")
            return
        }
        #expect(token.scopes == ["api"] && token.issuedTokenType == .accessToken)
        #expect(!token.accessToken.matches(before))
        #expect(try await account.accessToken().matches(before))
        let wider = await handshakeError { try await account.exchangedToken(scopes: ["profile"]) }
        #expect(wider?.code == "invalid_scope")
        let unknown = await handshakeError { try await account.exchangedToken(audiences: ["unknown"]) }
        #expect(unknown?.code == "invalid_target")
        await world.sandbox.stop()
    }

    @Test("M704: a server that issues another kind than was asked for is refused")
    func otherKind() async throws {
        let world = try await World(.standard)
        let (_, account) = try await account(world)
        let prefix = "urn:ietf:params:oauth:token-type:"
        try world.inject(
            #"POST /token => body {"access_token":"a","token_type":"Bearer","issued_token_type":"\#(prefix)jwt"}"#)
        let error = await handshakeError { try await account.exchangedToken() }
        guard case .exchange(.malformed(_, "issued_token_type", _, _))? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        await world.sandbox.stop()
    }

    @Test("an identity assertion of one sign-in signs the user in elsewhere, once")
    func identityAssertion() async throws {
        let world = try await World(.standard)
        let (handshake, account) = try await account(world)
        let exchanged = try await account.exchangedToken(
            for: .identityAssertion, of: .idToken, audiences: [world.sandbox.standard.origin])
        guard case .other(let assertion, _) = exchanged else {
            Issue.record("it is no access token")
            return
        }
        let second = try await handshake.signIn(withAssertion: assertion.token, as: "second")
        #expect(try await second.identity().subject == account.status.identity?.subject)
        let again = await handshakeError { try await handshake.signIn(withAssertion: assertion.token, as: "third") }
        #expect(again?.code == "invalid_grant")
        #expect(try await handshake.account("third") == nil)
        await world.sandbox.stop()
    }

    @Test("C13: an ID token that has expired is refreshed before it is exchanged, though the access token lives on")
    func expiredIDToken() async throws {
        let provider = ScriptedProvider()
        let account = try await provider.app().signIn(through: provider.browser)
        let first = try #require(try await account.idToken()).reveal()
        provider.time.advance(by: 700)
        let answer: [String: String] = [
            "access_token": "other", "token_type": "N_A",
            "issued_token_type": "urn:ietf:params:oauth:token-type:id-jag",
        ]
        provider.change { state in
            state.overrides["/token"] = { request in
                let isRefresh = provider.forms("/token").last?["grant_type"] == "refresh_token"
                return isRefresh ? try provider.answer("/token", request) : .json(200, answer)
            }
        }
        _ = try await account.exchangedToken(
            for: .identityAssertion, of: .idToken, audiences: ["https://other.example"])
        let sent = try #require(provider.forms("/token").last?["subject_token"])
        let refreshed = try #require(try await account.idToken()).reveal()
        #expect(sent == refreshed && sent != first)
    }

    @Test(
        "D8: a user whom an assertion signs in, too weakly or unnamed, is refused and not stored",
        arguments: [("gold", nil), ("silver", "authentication_insufficient"), ("", "authentication_insufficient")]
            as [(String, String?)])
    func authentication(_ context: String, _ code: String?) async throws {
        let provider = ScriptedProvider()
        provider.change { state in
            state.claims["acr"] = context
            if context.isEmpty { state.idToken = "" }
        }
        let known = try provider.client()
        var client = Client(
            service: known.service, id: known.id, redirect: known.redirect, parameters: ["acr_values": "gold"])
        client.options.requiresAuthenticationContext = true
        let app = try provider.app(client)
        let error = await handshakeError { try await app.signIn(withAssertion: Secret("a.b.c")) }
        #expect(error?.code == code)
        #expect(try await (app.account() == nil) == (code != nil))
    }

    @Test("M707: a client that makes assertions signs in, and refreshes with a new one")
    func assertions() async throws {
        let world = try await World(.standard)
        let robot = try #require(world.sandbox.standard.clients.first { $0.privateKey != nil })
        let key = try SigningKey(parsing: Array(try #require(robot.privateKey).utf8))
        let user = try #require(world.sandbox.standard.users.first)
        let claims = JWTBearerAssertion.Claims(issuer: robot.id, subject: user.name)
        let client = Client.asserting(
            claims, signedBy: key, service: try world.service(), id: robot.id, scopes: ["api"])
        let account = try await world.app(client).signInAsClient()
        let first = try await account.accessToken()
        #expect(account.status.isRefreshable && account.status.scopes == ["api"])
        try await account.refresh()
        #expect(try await !account.accessToken().matches(first))
        let grants = world.sandbox.requests(.standard).compactMap(\.grantType)
        #expect(grants == Array(repeating: "urn:ietf:params:oauth:grant-type:jwt-bearer", count: 2))
        await world.sandbox.stop()
    }

    @Test(
        "E2, M707: many callers, and apps that share a vault as processes do, make one assertion when a token expires")
    func assertionsOnce() async throws {
        let world = try await World(.standard)
        let robot = try #require(world.sandbox.standard.clients.first { $0.privateKey != nil })
        let key = try SigningKey(parsing: Array(try #require(robot.privateKey).utf8))
        let client = Client.asserting(
            JWTBearerAssertion.Claims(issuer: robot.id, subject: robot.id), signedBy: key,
            service: try world.service(), id: robot.id, scopes: ["api"])
        var accounts = [try await world.app(client).signInAsClient()]
        for _ in 0..<4 { accounts.append(try #require(try await world.app(client).account())) }
        world.time.advance(by: 3_590)
        world.sandbox.advanceClock(by: 3_590)
        let grant = "urn:ietf:params:oauth:grant-type:jwt-bearer"
        let before = world.tokenRequests(grant)
        #expect(try await tokensOfManyCallers(accounts).count == 1)
        #expect(world.tokenRequests(grant) == before + 1)
        await world.sandbox.stop()
    }

    @Test("E4: a server that refuses a client's own assertion ends no session: the next attempt makes another one")
    func refusedAssertion() async throws {
        let provider = ScriptedProvider()
        _ = provider.time.hold()
        let client = Client.asserting(
            Self.claims(), signedBy: try SigningKey(parsing: Self.keyFileKey, keyID: "k"),
            service: try provider.client().service, id: "app", scopes: ["a"])
        let account = try await provider.app(client).signInAsClient()
        provider.change { $0.overrides["/token"] = { _ in .json(400, ["error": "invalid_grant"]) } }
        #expect(await handshakeError { try await account.refresh() }?.code == "invalid_grant")
        #expect(account.status.state == .signedIn)
        provider.time.advance(by: 3_590)
        #expect(try await account.accessToken().reveal() == "access-1", "its token lives for ten seconds more")
        provider.change { $0.overrides["/token"] = nil }
        provider.time.advance(by: 100)
        #expect(try await account.accessToken().reveal() == "access-2")
    }

    @Test("D11: an assertion that a client exchanges has the time of the token endpoint's clock")
    func serverClock() async throws {
        let provider = ScriptedProvider()
        provider.change { state in
            state.overrides["/token"] = { request in
                var answer = try provider.answer("/token", request)
                // 784111777 s since 1970.
                answer.head.headerFields[.date] = "Sun, 06 Nov 1994 08:49:37 GMT"
                return answer
            }
        }
        let client = Client.asserting(
            Self.claims(), signedBy: try SigningKey(parsing: Self.keyFileKey, keyID: "k"),
            service: try provider.client().service, id: "app", scopes: ["a"])
        let app = try Handshake(
            client, vault: MemoryVault(), transport: provider,
            time: TimeSource(now: { 784_111_817.5 }, clock: ContinuousClock()))
        try await app.signInAsClient().refresh()
        let times = try provider.forms("/token").map { form in
            let parts = try #require(form["assertion"]).split(separator: ".")
            return try JSONValue(parsing: #require(Base64URL.decode(parts[1]))).object?["iat"]?.integer
        }
        #expect(times == [784_111_817, 784_111_777])
    }

    @Test("a registration keeps key, claims and name of what a client signs")
    func storedAssertion() throws {
        let client = try Client.asserting(
            Self.claims(), signedBy: SigningKey(parsing: Self.keyFileKey, keyID: "k"),
            service: Service(
                name: "mine", authorizationServer: .described(Self.server), defaultScopes: ["a"]), id: "app")
        let again = try Registrations.client(stored: Registrations.stored(client), as: "mine")
        let (before, after) = (try #require(client.assertion), try #require(again.assertion))
        #expect(after.claims.issuer == "me" && after.claims.subject == nil && after.claims.audience == .named("them"))
        #expect(after.claims.lifetime == 90 && after.claims.claimsScopes && after.claims.type == "own+jwt")
        #expect(after.key.keyID == "k" && after.key.source.matches(before.key.source))
        #expect(again.credential == nil)
    }

    private static func claims() -> JWTBearerAssertion.Claims {
        var claims = JWTBearerAssertion.Claims(issuer: "me", subject: nil)
        (claims.audience, claims.lifetime) = (.named("them"), 90)
        (claims.claimsScopes, claims.type) = (true, "own+jwt")
        return claims
    }

    private static var server: AuthorizationServerMetadata {
        get throws {
            let token = try EndpointURL("https://id.example.test/token")
            return AuthorizationServerMetadata(issuer: Issuer(originOf: token), tokenEndpoint: token)
        }
    }

    private static let keyFileKey = Array(P256.Signing.PrivateKey().pemRepresentation.utf8)

    @Test("M705: a service account's key file makes a client of its own server")
    func serviceAccount() throws {
        let key = try ServiceAccountKey(parsing: Self.keyFile)
        let api = try EndpointURL("https://www.googleapis.com/")
        let client = try Client.serviceAccount(key, apiRoot: api, scopes: ["s"])
        #expect(
            client.id == key.email
                && client.service.authorizationServer.issuer.string == "https://oauth2.googleapis.com")
        #expect(!client.isConfidential && client.scopes == ["s"])
        #expect(!String(reflecting: key).contains("PRIVATE"))
    }

    private static var keyFile: [UInt8] {
        get throws {
            let pem = try _RSA.Signing.PrivateKey(keySize: .bits2048).pkcs8PEMRepresentation.replacing(
                "\n", with: "\\n")
            return Array(
                #"{"type":"service_account","client_email":"robot@p.iam.gserviceaccount.com","private_key_id":"k","private_key":"\#(pem)","token_uri":"https://oauth2.googleapis.com/token"}"#
                    .utf8)
        }
    }
}
