#if Sandbox
/// The differences between the services, as data.
package struct Dialect: Sendable {
    package let name: SandboxService.Name
    /// The service's display name.
    package var title: String
    package let clients: [SandboxClient]
    package let users: [SandboxUser]
    package let scopes: ScopeRules
    package let codeLifetime: Double
    package let accessTokenLifetime: Int
    package let tokenForm: TokenForm
    package let wording: ConsentWording
    /// The colours of its pages; nil for those of ``Stylesheet``.
    package let colors: PageColors?
    /// Whether every client must use PKCE, not only the public ones.
    package let demandsProofKeyOfEveryone: Bool
    /// Whether a duplicated parameter is `invalid_request` (RFC 6749 section 3.1); otherwise the last one wins.
    package let refusesDoubledParameters: Bool
    /// `iss` is part of authorization responses (RFC 9207).
    package let namesIssuer: Bool
    /// The sign-in page has a field for a two-factor code.
    package let asksForTwoFactorCode: Bool
    /// The other services that the sign-in page offers, and the pages that it links.
    package let elsewhere: SignInElsewhere
    /// `as` and `deny` in an authorization request answer it without a page.
    package let takesHeadlessAnswers: Bool
    package let refresh: @Sendable (SandboxClient) -> RefreshPolicy
    /// An authorization request in the standard's own words, from a service that has others.
    package var reading: @Sendable (FormParameters) throws(OAuthFailure) -> FormParameters = { $0 }
    /// Whether a refresh token comes with these scopes (OpenID Connect Core section 11: OpenID clients ask for one by name).
    package var isOffline: @Sendable ([String]) -> Bool = { !$0.contains("openid") || $0.contains("offline_access") }
    /// What the redirect says when the user refuses.
    package var denial: [(name: String, value: String)] = [
        ("error", "access_denied"), ("error_description", "The user did not allow access."),
    ]

    package init(
        name: SandboxService.Name, title: String, clients: [SandboxClient], users: [SandboxUser], scopes: ScopeRules,
        codeLifetime: Double, accessTokenLifetime: Int, tokenForm: TokenForm, wording: ConsentWording,
        colors: PageColors? = nil,
        demandsProofKeyOfEveryone: Bool = false, refusesDoubledParameters: Bool = false, namesIssuer: Bool = false,
        asksForTwoFactorCode: Bool = false, elsewhere: SignInElsewhere = SignInElsewhere(),
        takesHeadlessAnswers: Bool = false,
        refresh: @escaping @Sendable (SandboxClient) -> RefreshPolicy
    ) {
        self.name = name
        self.title = title
        self.clients = clients
        self.users = users
        self.scopes = scopes
        self.codeLifetime = codeLifetime
        self.accessTokenLifetime = accessTokenLifetime
        self.tokenForm = tokenForm
        self.wording = wording
        self.colors = colors
        self.demandsProofKeyOfEveryone = demandsProofKeyOfEveryone
        self.refusesDoubledParameters = refusesDoubledParameters
        self.namesIssuer = namesIssuer
        self.asksForTwoFactorCode = asksForTwoFactorCode
        self.elsewhere = elsewhere
        self.takesHeadlessAnswers = takesHeadlessAnswers
        self.refresh = refresh
    }

    /// What a sign-in page offers besides a password.
    package struct SignInElsewhere: Sendable {
        /// Services whose users may sign in with them. In a sandbox, each vouches for every user.
        package var providers: [String] = []
        /// The path of the page for a forgotten password.
        package var passwordPage: String?
        /// The path of the page that creates an account.
        package var registrationPage: String?

        package init(providers: [String] = [], passwordPage: String? = nil, registrationPage: String? = nil) {
            self.providers = providers
            self.passwordPage = passwordPage
            self.registrationPage = registrationPage
        }
    }

    /// The scopes and their notation.
    package struct ScopeRules: Sendable {
        package let known: [String]
        package let separators: Set<Character>
        /// The scopes of a request without a scope.
        package let standard: [String]
        /// Whether any other scope is taken too, since not all of them are known.
        package let takesOthers: Bool

        package init(known: [String], separators: Set<Character>, standard: [String], takesOthers: Bool = false) {
            self.known = known
            self.separators = separators
            self.standard = standard
            self.takesOthers = takesOthers
        }
    }

    /// The format of tokens.
    package enum TokenForm: Sendable {
        /// 40 lower-case hexadecimal digits.
        case hexadecimal
        /// 43 characters of the URL alphabet.
        case base64URL

        var random: String {
            switch self {
            case .hexadecimal: RandomText.hex(bytes: 20)
            case .base64URL: RandomText.base64URL(bytes: 32)
            }
        }
    }

    /// What a refresh does with the refresh token.
    package enum RefreshPolicy: Sendable {
        /// It stays valid, and the response has none.
        case kept
        /// It is single-use; a second use is rejected without further effect.
        case rotated
        /// It is single-use; a second use revokes everything from the same sign-in (RFC 9700 section 4.14.2).
        case rotatedWithReuseDetection
    }

    /// The texts of the consent page.
    package struct ConsentWording: Sendable {
        package let allow: String
        package let refuse: String
        /// The description of each scope.
        package let scopes: [String: String]
        /// Facts about the app besides its name.
        package let facts: [String]
        /// The description of any other scope.
        package let otherScope: @Sendable (String) -> String

        package init(
            allow: String, refuse: String, scopes: [String: String], facts: [String] = [],
            otherScope: @escaping @Sendable (String) -> String = { $0 }
        ) {
            self.allow = allow
            self.refuse = refuse
            self.scopes = scopes
            self.facts = facts
            self.otherScope = otherScope
        }
    }

    package func client(_ id: String) -> SandboxClient? {
        clients.first { $0.id == id }
    }

    package func user(_ name: String) -> SandboxUser? {
        users.first { $0.name == name }
    }

    package func user(subject: String) -> SandboxUser? {
        users.first { $0.subject == subject }
    }
}

extension Dialect.ScopeRules {
    /// The known scopes in a text, each once, in linear time.
    ///
    /// - Throws: `invalid_scope` for an unknown one.
    package func read(_ text: String?) throws(OAuthFailure) -> [String] {
        guard let text else { return standard }
        var scopes: [String] = []
        var seen: Set<String> = []
        for word in text.split(whereSeparator: separators.contains).map(String.init) where seen.insert(word).inserted {
            guard takesOthers || known.contains(word) else { throw .invalidScope("The scope \(word) is unknown.") }
            scopes.append(word)
        }
        return scopes.isEmpty ? standard : scopes
    }
}
#endif
