/// Who is registered at the Recurse Center stand-in (Recurse Center dossier, section 6, row "data").
enum RecurseCenterFixtures {
    /// A token of the first person that never expires (Recurse Center dossier, section 2.2).
    static let personalAccessToken = "sandbox-personal-access-token-759"

    private static let redirects = [AuthorizationRequest.outOfBand, "secrethandshake://oauth"] + SharedRedirects.all

    static let clients = [
        SandboxClient(
            id: "recurse-public", secret: nil, kind: .public, redirectURIs: redirects,
            grantTypes: ["authorization_code", "refresh_token"], note: "PKCE with S256 demanded, no secret"),
        SandboxClient(
            id: "recurse-app", secret: "recurse-app-secret", kind: .confidential, redirectURIs: redirects,
            grantTypes: ["authorization_code", "refresh_token"], note: "client_secret in the body, as Rails apps do"),
    ]

    private static let summer = RecursePerson.Batch(
        id: 11, name: "Summer 1, 2014", shortName: "S1'14", alternativeName: "Summer 1 '14", startDate: "2014-06-09",
        endDate: "2014-08-28")

    /// The ordinary person; one without photo, e-mail and batch, with a non-ASCII name and the highest 16-bit id; and
    /// one whose id does not fit in 16 bits.
    static let people = [
        RecursePerson(
            id: 759, firstName: "Ada", lastName: "Example", email: "ada@example.test", github: "ada-example",
            hasPhoto: true, batch: summer),
        RecursePerson(
            id: 65_535, firstName: "Zoë", lastName: "Ångström", email: nil, github: nil, hasPhoto: false, batch: nil),
        RecursePerson(
            id: 70_000, firstName: "Quentin", lastName: "Late", email: "quentin@example.test", github: nil,
            hasPhoto: true, batch: summer),
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
            takesHeadlessAnswers: true, refresh: { _ in .rotated })
    }
}
