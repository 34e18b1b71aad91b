import Foundation
import Sandbox
import TestFixtures
import Testing

@Suite("Services by their descriptions", .heavy)
struct ServiceImitationTests {
    // A form and an error in a 200; a token in a member and scopes of another name; JSON and Basic; another scheme; two of rotation; three units
    // of expiry; an address of its own for refreshes, with the same path at one; parameters for a refresh token; one path for page and tokens.
    private static let services = [
        "github", "slack", "notion", "trovo", "twitch", "airtable", "figma", "naver", "medium", "square",
        "dropbox-sign", "dropbox", "egnyte", "reddit", "epic-games", "startgg", "withings", "mailchimp", "exist",
        "netatmo", "linkedin",
    ]

    @Test(
        "a service's stand-in signs a user in, names them and refreshes as its description says",
        arguments: services)
    func signIn(_ name: String) async throws {
        try await withImitations(name) { sandbox in
            let steps = try ServiceSteps(sandbox, name)
            let answer = try await steps.redeem()
            #expect(answer.status == 200, "\(answer.text)")
            #expect((answer["Content-Type"] == "application/x-www-form-urlencoded") == (name == "github"))
            let place = steps.text("token_place") ?? "/access_token"
            let access = try #require(answer.value(place) as? String, "\(answer.text)")
            let beside = String(place[..<(try #require(place.lastIndex(of: "/")))])
            let types = ["trovo": "OAuth", "slack": "user"]
            let type: String? = ["linkedin", "mailchimp"].contains(name) ? nil : types[name] ?? "bearer"
            #expect(answer.value(beside + "/token_type") as? String == type)
            let scope = answer.value(beside + "/scope")
            switch name {
            case "twitch": #expect(scope as? [String] == ["openid"])
            case "slack": #expect(scope as? String == "users:read")
            case "notion": #expect(scope == nil)
            default: break
            }
            if steps.text("userinfo_url") != nil {
                let user = try await steps.user(access)
                #expect(user.status == 200, "\(user.text)")
                let pointer = steps.text("subject_pointer") ?? "/sub"
                #expect(user.value(pointer) as? String == steps.service.users[0].subject, "\(user.text)")
                if let place = steps.text("name_pointer"), place != pointer {
                    let named = place.contains("mail") ? steps.service.users[0].name : "Ada Example"
                    #expect(user.value(place) as? String == named)
                }
                #expect(try await steps.user("unknown").status == 401)
            }
            let never = ["github", "slack", "egnyte", "mailchimp", "linkedin"].contains(name)
            let refresh = answer.value(beside + "/refresh_token") as? String
            #expect((refresh == nil) == never, "\(answer.text)")
            guard let refresh else { return }
            let next = try await steps.refresh(refresh)
            #expect(next.status == 200, "\(next.text)")
            #expect((next.value(place) as? String).map { $0 != access } == true)
            let kept = ["figma", "naver", "dropbox", "reddit"].contains(name)
            #expect((next.value(beside + "/refresh_token") == nil) == kept)
            let again = try await steps.refresh(refresh)
            #expect((again.value(place) == nil) == !kept, "\(again.text)")
        }
    }

    @Test("when a token ends stands where and as the description says")
    func expiry() async throws {
        try await withImitations("naver", "medium", "square", "github", "mailchimp") { sandbox in
            sandbox.holdClock(at: Date(timeIntervalSince1970: Double(heldTime)))
            let answers = try await ["naver", "medium", "square", "github", "mailchimp"].asyncMap {
                try await ServiceSteps(sandbox, $0).redeem()
            }
            #expect(answers[0].value("/expires_in") as? String == "3600")
            #expect(answers[1].value("/expires_at") as? Int == (heldTime + 3_600) * 1_000)
            #expect(answers[2].value("/expires_at") as? String == "2026-11-18T12:06:40Z")
            #expect(answers[3].value("/expires_in") == nil)
            #expect(answers[4].value("/expires_in") as? Int == 0)
            // What says that it never ends does not.
            let steps = try ServiceSteps(sandbox, "mailchimp")
            let access = try #require(answers[4].value("/access_token") as? String)
            sandbox.advanceClock(by: 1_000_000_000)
            #expect(try await steps.user(access, scheme: "OAuth").status == 200)
            #expect(try await steps.user(access, scheme: "Bearer").text.contains("“Authorization: OAuth TOKEN”"))
        }
    }

    @Test(
        "an authorization request that lacks what the description demands is told it",
        arguments: [
            ("atlassian", ["audience": nil], "api.atlassian.com"),
            ("slack", ["user_scope": nil, "scope": "a"], "user_scope"),
            ("figma", ["scope": "current_user:read file:read"], "“,”"), ("airtable", ["code_challenge": nil], "PKCE"),
        ] as [(String, [String: String?], String)])
    func demandsOnThePage(_ name: String, _ changes: [String: String?], _ words: String) async throws {
        try await withImitations(name) { sandbox in
            let answer = try await ServiceSteps(sandbox, name).allowed(changes)
            #expect(answer["error"] == "invalid_request")
            #expect(answer["error_description"]?.contains(words) == true, "\(answer)")
            #expect(answer["state"] == "s-1")
        }
    }

    @Test(
        "a token request that lacks what the description demands is told it",
        arguments: [
            ("github", [:], ["User-Agent": nil], "the field User-Agent"),
            ("github", ["client_secret": nil], ["Authorization": "Basic c2FuZGJveDp4"], "the parameter client_secret"),
            ("github", ["client_secret": "wrong"], [:], "wrong"),
            ("notion", [:], ["Content-Type": "application/x-www-form-urlencoded"], "application/json"),
            ("notion", [:], ["Authorization": nil], "in a Basic header"),
            ("trovo", [:], ["Client-ID": "another"], "the field Client-ID"),
            ("slack", ["client_secret": "x"], [:], "has no secret"),
            ("withings", ["action": nil], [:], "the parameter action"),
            ("startgg", ["scope": nil], [:], "the scopes in token requests"),
            ("figma", ["grant_type": "refresh_token", "refresh_token": "x"], [:], "the grant type authorization_code"),
            ("github", ["code_verifier": "another"], [:], "code_verifier does not match"),
        ] as [(String, [String: String?], [String: String?], String)])
    func demandsOfTokens(
        _ name: String, _ changes: [String: String?], _ fields: [String: String?], _ words: String
    ) async throws {
        try await withImitations(name) { sandbox in
            let steps = try ServiceSteps(sandbox, name)
            let answer = try await steps.redeem(changes, fields: fields)
            #expect(answer.value(steps.text("token_place") ?? "/access_token") == nil)
            let text = answer.value(steps.text("error_text_pointer") ?? "/error_description") as? String
            #expect(text?.contains(words) == true, "\(answer.text)")
        }
    }

    @Test("errors, refused refreshes and refusals of users are in the service's own words")
    func words() async throws {
        try await withImitations("github", "twitch", "fitbit", "linkedin", "bitly") { sandbox in
            let github = try await ServiceSteps(sandbox, "github").redeem(code: "unknown")
            #expect(github.status == 200 && github.value("/error") as? String == "invalid_grant", "\(github.text)")
            let twitch = try ServiceSteps(sandbox, "twitch")
            let refresh = try #require(try await twitch.redeem().value("/refresh_token") as? String)
            sandbox.revokeRefreshTokens(twitch.service.name)
            let ended = try await twitch.refresh(refresh)
            #expect(ended.status == 400 && ended.value("/message") as? String == "Invalid refresh token")
            let fitbit = try await ServiceSteps(sandbox, "fitbit").redeem(code: "unknown")
            #expect(fitbit.value("/errors/0/errorType") as? String == "invalid_grant", "\(fitbit.text)")
            let denied: [(String, [String: String])] = [
                ("github", ["error": "access_denied"]), ("linkedin", ["error": "user_cancelled_login"]),
                ("bitly", ["error": "invalid", "reason": "The user declined."]),
            ]
            for (name, expected) in denied {
                let steps = try ServiceSteps(sandbox, name)
                let redirect = try await sandbox.refuse(steps.service.origin + steps.authorization())
                #expect(ServiceSteps.query(redirect) == expected.merging(["state": "s-1"]) { $1 })
            }
        }
    }

    @Test("approving at an address that is not the page of the description says that there is none")
    func elsewhere() async throws {
        try await withImitations("github", "keycloak") { sandbox in
            for name in ["github", "keycloak"] {
                let steps = try ServiceSteps(sandbox, name)
                let query: Substring = try steps.authorization().drop { $0 != "?" }
                let page = steps.service.origin + "/elsewhere"
                let error = SandboxError.pageInsteadOfRedirect(
                    status: 404, text: "There is no authorization endpoint at \(page).")
                await #expect(throws: error) { try await sandbox.approve("\(page)\(query)") }
                #expect(try await steps.allowed()["code"] != nil)
            }
        }
    }

    @Test("a refresh token comes only with what the description says brings it")
    func offline() async throws {
        try await withImitations("dropbox", "atlassian") { sandbox in
            for (name, change) in [("dropbox", ["token_access_type": nil]), ("atlassian", ["scope": "read:me"])]
                as [(String, [String: String?])]
            {
                let steps = try ServiceSteps(sandbox, name)
                let code = try await steps.allowed(change)["code"]
                let without = try await steps.redeem(code: code)
                #expect(without.status == 200 && without.value("/refresh_token") == nil, "\(without.text)")
                #expect(try await steps.redeem().value("/refresh_token") != nil)
            }
        }
    }

    @Test("a token that was revoked at the service's address counts no more")
    func revocation() async throws {
        try await withImitations("twitch") { sandbox in
            let steps = try ServiceSteps(sandbox, "twitch")
            let access = try #require(try await steps.redeem().value("/access_token") as? String)
            #expect(try await steps.user(access).status == 200)
            #expect(try await steps.token(["token": access], at: "revocation_url").status == 200)
            #expect(try await steps.user(access).status == 401)
        }
    }

    @Test("sign-in on another device is refused at the service's own address", arguments: ["keycloak", "github"])
    func device(_ name: String) async throws {
        try await withImitations(name) { sandbox in
            let steps = try ServiceSteps(sandbox, name)
            let answer = try await steps.token([:], at: "device_authorization_url")
            #expect(answer.status == (name == "github" ? 200 : 400))
            #expect(answer.value("/error") as? String == "unauthorized_client", "\(answer.text)")
        }
    }

    @Test(
        "a service with OpenID Connect publishes its own addresses and signs ID tokens, at the tenant that was asked for",
        arguments: [
            ("google", "", ""), ("keycloak", "/realms/garden", "/realms/garden"),
            ("microsoft", "/common/v2.0", "/6f9d1c1e-2b7a-4a55-9f0e-0b6f3f2a7c11/v2.0"),
        ])
    func openID(_ name: String, _ path: String, _ issuer: String) async throws {
        try await withImitations(name) { sandbox in
            let steps = try ServiceSteps(sandbox, name)
            let metadata = try await steps.wire.send("GET", path + "/.well-known/openid-configuration")
            let origin = steps.service.origin
            let published = name == "microsoft" ? "/{tenantid}/v2.0" : issuer
            #expect(metadata.string("issuer") == origin + published, "\(metadata.text)")
            let place = try #require(metadata.string("token_endpoint"))
            let keys = try #require(metadata.string("jwks_uri")).dropFirst(origin.count)
            func redeemed(_ changes: [String: String?] = [:]) async throws -> WireClient.Answer {
                let code = try #require(try await steps.allowed(changes)["code"])
                let secret = steps.service.clients[0].secret.map { ["client_secret": $0] } ?? [:]
                let parameters = [
                    "grant_type": "authorization_code", "code": code, "redirect_uri": ServiceSteps.redirect,
                    "code_verifier": OAuthSteps.verifier, "client_id": "sandbox",
                ].merging(secret) { $1 }
                return try await steps.wire.send(
                    "POST", String(place.dropFirst(origin.count)),
                    headers: ["Content-Type": "application/x-www-form-urlencoded"], body: OAuthSteps.form(parameters))
            }
            let answer = try await redeemed()
            let token = try IDToken(try #require(answer.string("id_token"), "\(answer.text)"))
            #expect(try token.isSigned(by: try await steps.wire.send("GET", String(keys)).body))
            #expect(token.claims["iss"] as? String == origin + issuer)
            #expect(token.claims["aud"] as? String == "sandbox" && token.claims["nonce"] as? String == "n-1")
            #expect(token.claims["sub"] as? String == steps.service.users[0].subject)
            // A developer who forgets openid finds out here.
            let without = try await redeemed(["scope": "profile"])
            #expect(without.string("access_token") != nil && without.string("id_token") == nil, "\(without.text)")
        }
    }

    @Test("a token of which nothing says when it ends lives as long as the sandbox is told, and no time is too long")
    func configuredLifetime() async throws {
        for (lifetime, isAlive) in [(5, false), (Int.max, true)] {
            let sandbox = try await Sandbox.start(
                .init(accessTokenLifetime: lifetime),
                imitating: try ["salesforce", "medium"].map(ServiceSteps.imitated))
            do {
                sandbox.holdClock(at: Date(timeIntervalSince1970: Double(heldTime)))
                let steps = try ServiceSteps(sandbox, "salesforce")
                let answer = try await steps.redeem()
                #expect(answer.value("/expires_in") == nil, "\(answer.text)")
                let stated = try await ServiceSteps(sandbox, "medium").redeem().value("/expires_at") as? Int
                #expect(stated == (heldTime + min(lifetime, 3_155_760_000)) * 1_000)
                sandbox.advanceClock(by: 6)
                let access = try #require(answer.value("/access_token") as? String)
                #expect(try await steps.user(access).status == (isAlive ? 200 : 401))
            } catch {
                await sandbox.stop()
                throw error
            }
            await sandbox.stop()
        }
    }

    @Test("the scopes of a refresh are divided as those of the page")
    func refreshedScopes() async throws {
        try await withImitations("figma") { sandbox in
            let steps = try ServiceSteps(sandbox, "figma")
            let scopes = ["scope": "current_user:read,file_content:read"]
            let code = try #require(try await steps.allowed(scopes)["code"])
            let refresh = try #require(try await steps.redeem(code: code).value("/refresh_token") as? String)
            for (scope, status) in [("file_content:read,current_user:read", 200), ("file_content:read a", 400)] {
                let answer = try await steps.token(
                    ["grant_type": "refresh_token", "refresh_token": refresh, "scope": scope], at: "refresh_url")
                #expect(answer.status == status, "\(scope): \(answer.text)")
                #expect((answer.string("error_description")?.contains("“,”") ?? false) == (status == 400))
            }
        }
    }

    @Test("scopes are read in linear time")
    func manyScopes() throws {
        let rules = Dialect.ScopeRules(known: [], separators: [" "], standard: [], takesOthers: true)
        let words = (0..<30_000).map { "scope-\($0)" }
        let time = try processorTime {
            let read = try rules.read(words.joined(separator: " "))
            #expect(read == words)
        }
        #expect(time < .seconds(5))
    }
}

extension Array {
    /// The results of a body for each element, one after the other.
    fileprivate func asyncMap<Result>(_ body: (Element) async throws -> Result) async throws -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await body(element)) }
        return results
    }
}
