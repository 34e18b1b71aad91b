#if Sandbox
import SandboxCore

/// The clients and users of the Sequencing.com stand-in (Sequencing dossier, section 9.3).
///
/// | user | password | subject | own files |
/// |---|---|---|---|
/// | `ada@example.test` | `analytical-engine` | 4711 | eleven, in all four own categories: ``OwnFiles`` |
/// | `charles@example.test` | `difference-engine` | 4712 | none |
/// | `grace@example.test`, two-factor code 314159 | `nanosecond-wire` | 4713 | one |
/// | `herman@example.test` | `punched-cards` | 4714 | five thousand: ``LongFileList`` |
/// | `rosalind@example.test` | `photograph-51` | 4715 | one, of an unknown category |
///
/// All users see the ten ``SampleFiles``. The tables of the rest stand with what they describe: ``ChainCatalogue`` (answers
/// and job scripts by chain number), ``ReportFiles`` (ids), ``ImportScripts`` (by login), ``AccountRoutes`` (by address)
/// and ``ConnectRoutes`` (known secrets).
enum Fixtures {
    static let legacyClient = SandboxClient(
        id: "My Genome App (iPhone)",
        secret: "c2FuZGJveC1zZWNyZXQtZm9yLXRlc3RzLW9ubHktbm90aGluZy1yZWFsLWhlcmU_sandbox-_0123456789abc",
        kind: .confidential, redirectURIs: ["authapp://Default/Authcallback"] + SharedRedirects.all,
        grantTypes: ["authorization_code", "refresh_token"],
        note: "legacy: raw Basic authentication, PKCE not demanded, refresh tokens are kept")

    static let publicClient = SandboxClient(
        id: "my-genome-app", secret: nil, kind: .public,
        redirectURIs: SharedRedirects.all + SharedRedirects.server("sequencing"),
        grantTypes: ["authorization_code", "refresh_token"],
        note: "PKCE with S256 demanded, refresh tokens rotate")

    static let ada = SandboxUser(
        name: "ada@example.test", password: "analytical-engine", subject: "4711", displayName: "Ada Example",
        oneTimeCode: nil, note: "has files")

    static let charles = SandboxUser(
        name: "charles@example.test", password: "difference-engine", subject: "4712",
        displayName: "Charles Example", oneTimeCode: nil, note: "has no files")

    static let grace = SandboxUser(
        name: "grace@example.test", password: "nanosecond-wire", subject: "4713",
        displayName: "Grace Example", oneTimeCode: "314159", note: "needs a two-factor code")

    static let herman = SandboxUser(
        name: "herman@example.test", password: "punched-cards", subject: "4714",
        displayName: "Herman Example", oneTimeCode: nil, note: "has 5,000 files")

    static let rosalind = SandboxUser(
        name: "rosalind@example.test", password: "photograph-51", subject: "4715",
        displayName: "Rosalind Example", oneTimeCode: nil, note: "has a file of an unknown category")

    static let users = [ada, charles, grace, herman, rosalind]

    static func dialect(accessTokenLifetime: Int) -> Dialect {
        Dialect(
            name: .sequencing, title: "Sequencing.com", clients: [publicClient, legacyClient], users: users,
            scopes: Dialect.ScopeRules(
                known: ["demo", "external"], separators: [" ", ",", "|", "+"], standard: ["demo"]),
            codeLifetime: 60, accessTokenLifetime: accessTokenLifetime, tokenForm: .hexadecimal,
            wording: Dialect.ConsentWording(
                allow: "Yes (I authorize access)", refuse: "No (do not provide access)",
                scopes: [
                    "demo": "use the sample files and run app chains on them",
                    "external": "use your own files, run app chains on them and import more",
                ],
                facts: ["Security grade: A. Developer: verified. Both are made up."]),
            colors: PageColors(
                light: "--accent:#0b635c;--tint:#eaf4f2",
                dark: "--accent:#82d2c8;--accent-ink:#06211e;--tint:#1d2e2c"),
            asksForTwoFactorCode: true,
            elsewhere: Dialect.SignInElsewhere(
                providers: ["Google", "LinkedIn"], passwordPage: AccountPages.passwordPath,
                registrationPage: AccountPages.registrationPath),
            refresh: { $0.kind == .public ? .rotatedWithReuseDetection : .kept })
    }
}
#endif
