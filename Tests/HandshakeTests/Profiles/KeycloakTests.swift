import Foundation
import HTTPTypes
import Handshake
import OAuth
import Synchronization
import TestFixtures
import Testing

@testable import Handshake

@Suite("Keycloak's documents and answers")
struct KeycloakTests {
    @Test("a user signs in at a realm, and is known after a refresh; the sign-out leads to its page")
    func signIn() async throws {
        let realm = try KeycloakRealm()
        let account = try await realm.app().signIn(through: realm.browser)
        #expect(
            Array(realm.paths.prefix(4)) == [
                "/.well-known/oauth-authorization-server/realms/demo", "/.well-known/openid-configuration/realms/demo",
                "/realms/demo/.well-known/openid-configuration", KeycloakRealm.endpoints + "/ext/par/request",
            ])
        let identity = try #require(account.status.identity)
        #expect(identity.subject == KeycloakRealm.subject && identity.sessionID == KeycloakRealm.session)
        #expect(account.status.scopes == ["openid", "offline_access", "profile", "email"])
        #expect(account.status.expiresAt == Double(KeycloakRealm.now + 300))
        #expect(!account.status.isBound, "a server that can bind tokens is not asked to")
        #expect(try await account.identity().name == "Ada Example")
        let before = try await account.accessToken()
        try await account.refresh()
        try await account.refresh()
        #expect(try await !account.accessToken().matches(before))
        #expect(
            realm.forms(KeycloakRealm.endpoints + "/token").map { $0["refresh_token"] } == [
                nil, "offline-1", "offline-2",
            ])
        let (report, page) = try await account.beginSignOut(
            returningTo: try RedirectURI("https://app.example/signed-out"))
        #expect(report.revoked == [.refreshToken, .accessToken])
        #expect(page?.url.hasPrefix("\(KeycloakRealm.issuer)/protocol/openid-connect/logout?id_token_hint=") == true)
    }

    @Test("a session that ended at the realm ends here; a client that it refuses loses no session")
    func errors() async throws {
        let realm = try KeycloakRealm()
        let account = try await realm.app().signIn(through: realm.browser)
        realm.refuse(
            401, #"{"error":"invalid_client","error_description":"Invalid client or Invalid client credentials"}"#)
        #expect(await handshakeError { try await account.refresh() }?.code == "invalid_client")
        #expect(account.status.state == .signedIn)
        realm.refuse(400, #"{"error":"invalid_grant","error_description":"Offline session not active"}"#)
        #expect(await handshakeError { try await account.refresh() } == .signInRequired(account.id, .refreshRejected))
    }

    @Test("a user approves a device while the realm says pending and slow down")
    func device() async throws {
        let realm = try KeycloakRealm()
        realm.refuse(
            400,
            #"{"error":"authorization_pending","error_description":"The authorization request is still pending"}"#,
            #"{"error":"slow_down","error_description":"Slow down"}"#)
        let clock = ManualClock()
        let app = try realm.app(
            clock: clock, now: { Double(KeycloakRealm.now) + clock.now.offset / .seconds(1) })
        let passing = clock.pass(inStepsOf: .seconds(1), whileAsleep: 2)
        defer { passing.cancel() }
        let shown = Mutex<DeviceCode?>(nil)
        let account = try await app.signInOnAnotherDevice { code in shown.withLock { $0 = code } }
        #expect(shown.withLock { $0 }?.userCode == "TAYM-OMEK")
        #expect(account.status.identity?.subject == KeycloakRealm.subject)
        // 5 s, 5 s, and 10 s after the demand to slow down.
        #expect(clock.now.offset >= .seconds(20))
    }

    @Test("a realm's registration has a secret and a management; a realm that does not trust this host says so")
    func registration() throws {
        let request = ClientRegistrationRequest(
            at: try EndpointURL(KeycloakRealm.issuer + "/clients-registrations/openid-connect"), name: "My App",
            redirectURI: try RedirectURI("https://app.example/callback"), scopes: ["offline_access"])
        func client(_ status: Int, _ text: String) throws -> RegisteredClient {
            try request.client(
                from: ResponseMessage(
                    head: HTTPResponse(
                        status: .init(code: status), headerFields: [.contentType: "application/json"]),
                    content: Array(text.utf8)))
        }
        let registered = try client(201, KeycloakRealm.registration)
        #expect(registered.id == "f3bd21a4-0d28-46c2-a2e3-d6a7a6d0a1d5")
        #expect(registered.secret?.reveal() == "made-up-secret-of-a-client" && registered.expiresAt == nil)
        #expect(registered.management?.token.reveal() == "made-up-management-token")
        let error = #expect(throws: OAuthError.self) { try client(403, KeycloakRealm.untrusted) }
        #expect(error.map { "\($0)" }?.contains("Host not trusted") == true)
    }

    @Test(
        "a logout token of today ends the session; one of older versions has no end, and counts by its deviation alone")
    func logout() async throws {
        let realm = try KeycloakRealm()
        let vault = MemoryVault()
        _ = try await realm.app(vault: vault).signIn(through: realm.browser)
        func token(_ changes: [String: Any?], _ type: String) throws -> Secret {
            let claims: [String: Any?] = [
                "iat": KeycloakRealm.now, "jti": UUID().uuidString, "iss": KeycloakRealm.issuer, "aud": "app",
                "sub": KeycloakRealm.subject, "typ": "Logout", "sid": KeycloakRealm.session,
                "events": ["http://schemas.openid.net/event/backchannel-logout": [String: String]()],
            ]
            return Secret(try realm.sign(claims.merging(changes) { $1 }, type: type))
        }
        let old = try token(
            [
                "events": [
                    "http://schemas.openid.net/event/backchannel-logout": [String: String](),
                    "revoke_offline_access": true,
                ]
            ], "JWT")
        let app = try realm.app(vault: vault)
        #expect(await handshakeError { try await app.endSessions(logoutToken: old) }?.code == "logout_token_malformed")
        #expect(try await app.account()?.status.state == .signedIn)
        let lenient = try realm.app(
            try realm.client { $0.acceptsLogoutTokensWithoutExpiry = true }, vault: vault)
        // The grant is for offline use, so it stays.
        #expect(try await lenient.endSessions(logoutToken: old).keptGrants.count == 1)
        let new = try token(["exp": KeycloakRealm.now + 120], "logout+jwt")
        #expect(try await app.endSessions(logoutToken: new).keptGrants.count == 1)
    }

    @Test("an introspection says whose token it is, and of a dead one that it is dead")
    func introspection() throws {
        let server = try AuthorizationServerMetadata(
            parsing: Array(KeycloakRealm.metadata.utf8), expected: Issuer(KeycloakRealm.issuer))
        let request = IntrospectionRequest(
            Secret("t"), kind: .accessToken, at: server, clientID: "api", authentication: .basic(secret: Secret("s")))
        func read(_ text: String) throws -> TokenIntrospection {
            try request.introspection(
                from: ResponseMessage(
                    head: HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"]),
                    content: Array(text.utf8)))
        }
        let live = try read(KeycloakRealm.introspection)
        #expect(live.isActive && live.subject == KeycloakRealm.subject && live.username == "ada")
        #expect(live.clientID == "app" && live.scopes == ["openid", "profile", "email"])
        #expect(live.expiresAt == Double(KeycloakRealm.now + 300))
        #expect(try !read(#"{"active":false}"#).isActive)
    }
}
