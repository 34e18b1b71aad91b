#if Sandbox
import SandboxCore

/// The clients and users of the Recurse Center stand-in (Recurse Center dossier, section 6, row "data").
enum Fixtures {
    /// A user's token that never expires (Recurse Center dossier, section 2.2).
    static func personalAccessToken(of user: SandboxUser) -> String {
        "sandbox-personal-access-token-\(user.subject)"
    }

    private static let redirects = [PendingAuthorization.outOfBand, "secrethandshake://oauth"] + SharedRedirects.all

    /// What the README's server registers, at any port.
    private static let server = SharedRedirects.server("recurse-center")

    /// What the server of a circle registers, on this machine at any port and elsewhere.
    private static let circle = ["http://127.0.0.1/circle/v1/callback", "https://circle.example/rc/v1/callback"]

    static let clients = [
        SandboxClient(
            id: "recurse-public", secret: nil, kind: .public, redirectURIs: redirects,
            grantTypes: ["authorization_code", "refresh_token"], note: "PKCE with S256 demanded, no secret"),
        SandboxClient(
            id: "recurse-app", secret: "recurse-app-secret", kind: .confidential,
            redirectURIs: redirects + server + circle,
            grantTypes: ["authorization_code", "refresh_token"], note: "client_secret in the body, as Rails apps do"),
    ]

    static let users = [
        SandboxUser(
            name: "ada@example.test", password: "never-graduate", subject: "759", displayName: "Ada Example",
            oneTimeCode: nil, note: "an ordinary Recurser"),
        SandboxUser(
            name: "zoe@example.test", password: "be-kind", subject: "65535", displayName: "Zoë Ångström",
            oneTimeCode: nil, note: "no photo, no e-mail in the profile, no batch"),
        SandboxUser(
            name: "quentin@example.test", password: "pair-often", subject: "70000", displayName: "Quentin Late",
            oneTimeCode: nil, note: "an id beyond 16 bits"),
    ]

    static func dialect(accessTokenLifetime: Int) -> Dialect {
        Dialect(
            name: .recurseCenter, title: "Recurse Center", clients: clients, users: users,
            scopes: Dialect.ScopeRules(known: ["public"], separators: [" "], standard: ["public"]),
            codeLifetime: 600, accessTokenLifetime: accessTokenLifetime, tokenForm: .base64URL,
            wording: Dialect.ConsentWording(
                allow: "Authorize", refuse: "Deny",
                scopes: ["public": "see your profile and those of other Recursers"]),
            colors: PageColors(
                light: "--accent:#2d651d;--tint:#eef5ea",
                dark: "--accent:#a3d68f;--accent-ink:#0f2108;--tint:#232e1f"),
            takesHeadlessAnswers: true, refresh: { _ in .rotated })
    }
}
#endif
