/// How one service differs from the others, as data.
struct Dialect: Sendable {
    let name: SandboxService.Name
    /// The service's name for people.
    let title: String
    let clients: [SandboxClient]
    let users: [SandboxUser]
    let scopes: ScopeRules
    let codeLifetime: Double
    let accessTokenLifetime: Int
    let tokenForm: TokenForm
    let wording: ConsentWording
    /// Every client must use PKCE, not only the public ones.
    var demandsProofKeyOfEveryone = false
    /// A doubled parameter is `invalid_request` (RFC 6749 section 3.1); else the last one wins.
    var refusesDoubledParameters = false
    /// `iss` is part of authorization responses (RFC 9207).
    var namesIssuer = false
    /// The sign-in page has a field for a two-factor code.
    var asksForTwoFactorCode = false
    /// `as` and `deny` in an authorization request answer it without a page.
    var takesHeadlessAnswers = false
    let refresh: @Sendable (SandboxClient) -> RefreshPolicy

    /// Which scopes there are and how a list of them is written.
    struct ScopeRules: Sendable {
        let known: [String]
        let separators: Set<Character>
        /// What a request without a scope gets.
        let standard: [String]
    }

    /// What tokens look like.
    enum TokenForm: Sendable {
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

    /// What a refresh does to the refresh token.
    enum RefreshPolicy: Sendable {
        /// It stays valid, and the answer has none.
        case kept
        /// It works once; a second use is refused and changes nothing else.
        case rotated
        /// It works once; a second use ends everything that came from the same sign-in (RFC 9700 section 4.14.2).
        case rotatedWithReuseDetection
    }

    /// The words of the consent page.
    struct ConsentWording: Sendable {
        let allow: String
        let refuse: String
        /// What each scope means, in a few words.
        let scopes: [String: String]
        /// What the service says about the app besides its name.
        var facts: [String] = []
    }

    func client(_ id: String) -> SandboxClient? {
        clients.first { $0.id == id }
    }

    func user(_ name: String) -> SandboxUser? {
        users.first { $0.name == name }
    }

    func user(subject: String) -> SandboxUser? {
        users.first { $0.subject == subject }
    }
}

extension Dialect.ScopeRules {
    /// The known scopes in a text, each once.
    ///
    /// - Throws: `invalid_scope` for an unknown one.
    func read(_ text: String?) throws(OAuthFailure) -> [String] {
        guard let text else { return standard }
        var scopes: [String] = []
        for word in text.split(whereSeparator: separators.contains).map(String.init) where !scopes.contains(word) {
            guard known.contains(word) else { throw .invalidScope("The scope \(word) is unknown.") }
            scopes.append(word)
        }
        return scopes.isEmpty ? standard : scopes
    }
}
