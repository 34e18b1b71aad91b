#if Sandbox
import SandboxCore

/// The services, connections, accounts and tokens of the IFTTT stand-in (IFTTT Connect dossier, section 11.1).
///
/// | login, email | partner's user | user token | `aB3dE5fG` and `mAnyFt05` |
/// |---|---|---|---|
/// | `ada_l`, `ada@example.test` | `garden-1001` | `utk_sandbox_ada` | enabled |
/// | `grace_h`, `grace@example.test` | `garden-1002` | `utk_sandbox_grace` | disabled; re-enabling `mAnyFt05` needs the web flow |
/// | `alan_t`, `alan@example.test` | `garden-1003` | `utk_sandbox_alan` | pending |
/// | `edsger_d`, `edsger@example.test` | `garden-1004` | `utk_sandbox_edsger` | never enabled |
/// | none, `new@example.test` | `garden-1005` | none | never enabled |
///
/// `utk_sandbox_revoked` is revoked. `access_sandbox_ada` and so on are the partner's access tokens of the first four.
/// The connections are in ``ConnectionFixtures``.
enum Fixtures {
    static let garden = Partner(
        serviceID: "lumen_garden", serviceKey: "sandbox-service-key-lumen-garden", inviteCode: nil, isPublished: true,
        redirectURLs: redirects)

    static let orchard = Partner(
        serviceID: "quiet_orchard", serviceKey: "sandbox-service-key-quiet-orchard", inviteCode: "orchard-invite-7",
        isPublished: false, redirectURLs: redirects)

    private static let redirects =
        SharedRedirects.all + [
            "gardenapp://connect_callback", "http://127.0.0.1/connect_callback", "http://[::1]/connect_callback",
            "https://garden.example.test/connect_callback",
        ]

    static let partnerUsers = [
        user("ada", "Ada Example", "analytical-engine", "garden-1001", "IFTTT user ada_l, connections enabled"),
        user("grace", "Grace Example", "nanosecond-wire", "garden-1002", "IFTTT user grace_h, connections disabled"),
        user("alan", "Alan Example", "bombe-rotor", "garden-1003", "IFTTT user alan_t, connections pending"),
        user("edsger", "Edsger Example", "shortest-path", "garden-1004", "IFTTT user edsger_d, never enabled any"),
        user("new", "New Example", "fresh-start", "garden-1005", "has no IFTTT account"),
    ]

    private static func user(
        _ name: String, _ displayName: String, _ password: String, _ subject: String, _ note: String
    ) -> SandboxUser {
        SandboxUser(
            name: "\(name)@example.test", password: password, subject: subject, displayName: displayName,
            oneTimeCode: nil, note: note)
    }

    static let accounts = zip(["ada_l", "grace_h", "alan_t", "edsger_d"], partnerUsers).map { login, user in
        Account(
            login: login, email: user.name, password: user.password,
            connectedServices: login == "ada_l" ? ["skylark_weather"] : [])
    }

    /// Who is signed in to the app, unless the app is told otherwise.
    static let appLogin = "ada_l"

    static let userTokens = [
        "utk_sandbox_ada": UserToken(login: "ada_l", serviceID: garden.serviceID),
        "utk_sandbox_grace": UserToken(login: "grace_h", serviceID: garden.serviceID),
        "utk_sandbox_alan": UserToken(login: "alan_t", serviceID: garden.serviceID),
        "utk_sandbox_edsger": UserToken(login: "edsger_d", serviceID: garden.serviceID),
        "utk_sandbox_ada_orchard": UserToken(login: "ada_l", serviceID: orchard.serviceID),
        "utk_sandbox_revoked": UserToken(login: "ada_l", serviceID: garden.serviceID, isRevoked: true),
    ]

    static func state(seed: UInt64?) -> State {
        var state = State(identifiers: Identifiers(seed: seed))
        for service in ConnectionFixtures.services { state.services[service.id] = service }
        for partner in [garden, orchard] { state.partners[partner.serviceID] = partner }
        state.connections = ConnectionFixtures.connections
        state.accounts = accounts
        state.links = zip(accounts, partnerUsers).map { account, user in
            Link(serviceID: garden.serviceID, partnerUserID: user.subject, login: account.login)
        }
        state.links.append(
            Link(serviceID: orchard.serviceID, partnerUserID: "garden-1001", login: "ada_l"))
        state.userTokens = userTokens
        state.userConnections = UserConnectionFixtures.all
        return state
    }

    /// The partner's access tokens, "granted to IFTTT when that user connected" (section 2.8).
    static func grantPartnerAccess(at server: AuthorizationServer) {
        for user in partnerUsers.dropLast() {
            server.grantAccess("access_sandbox_\(user.name.prefix { $0 != "@" })", to: user)
        }
    }

    /// IFTTT's own words; the people have the same addresses and passwords as at the partner.
    static func siteDialect(_ partner: Dialect) -> Dialect {
        var site = partner
        site.title = "IFTTT"
        return site
    }

    /// The partner's authorization server (section 2.12).
    static func partnerDialect(accessTokenLifetime: Int) -> Dialect {
        Dialect(
            name: .ifttt, title: "Lumen Garden",
            clients: [
                SandboxClient(
                    id: AuthorizationServer.iftttClientID, secret: "sandbox-secret-of-ifttt-at-the-partner",
                    kind: .confidential,
                    redirectURIs: [garden, orchard].flatMap { partner in
                        ["https://ifttt.com", "http://127.0.0.1", "http://[::1]"].map {
                            "\($0)/channels/\(partner.serviceID)/authorize"
                        }
                    },
                    grantTypes: ["authorization_code", "refresh_token"],
                    note: "IFTTT at the partner: secret in the body, scope ifttt, PKCE not demanded")
            ],
            users: partnerUsers,
            scopes: Dialect.ScopeRules(known: ["ifttt"], separators: [" "], standard: ["ifttt"]), codeLifetime: 600,
            accessTokenLifetime: accessTokenLifetime, tokenForm: .base64URL,
            wording: Dialect.ConsentWording(
                allow: "Allow", refuse: "Do not allow",
                scopes: ["ifttt": "use your garden from IFTTT: read its sensors and start its drip lines"]),
            colors: PageColors(
                light: "--accent:#222;--tint:#f1f1f1", dark: "--accent:#fff;--accent-ink:#111;--tint:#2b2f33"),
            refresh: { _ in .rotated })
    }
}
#endif
