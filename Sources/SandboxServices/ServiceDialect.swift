#if Sandbox
import SandboxCore

extension ImitatedService {
    /// The client that is registered with every stand-in of a service.
    static let clientID = "sandbox"
    /// With characters that Basic encodes in two ways. A fixture, which protects nothing.
    static let clientSecret = "sandbox-secret of/every+service"

    /// Scopes of the stand-in's own, for what no scope of the service stands for. They are never sent.
    private static let identity = "sandbox:identity"
    private static let offlineAccess = "sandbox:offline"

    /// The scopes of a grant that the service has.
    static func shown(_ scopes: [String]) -> [String] {
        scopes.filter { $0 != identity && $0 != offlineAccess }
    }

    var client: SandboxClient {
        let isPublic = authentication == .none
        return SandboxClient(
            id: Self.clientID, secret: isPublic ? nil : Self.clientSecret, kind: isPublic ? .public : .confidential,
            redirectURIs: SharedRedirects.all + SharedRedirects.server(name.rawValue),
            grantTypes: ["authorization_code", "refresh_token"], note: "as the description of \(title) says")
    }

    private static let users = SandboxUser.plain(passwords: "nothing-is-real", "all-is-imitated")

    /// - Parameter lifetime: of access tokens whose end is stated, in seconds; nil for the description's.
    func dialect(accessTokenLifetime lifetime: Int?) -> Dialect {
        let service = title
        var dialect = Dialect(
            name: name, title: "\(title)’s stand-in", clients: [client], users: Self.users,
            scopes: Dialect.ScopeRules(known: [], separators: [" "], standard: [Self.identity], takesOthers: true),
            codeLifetime: 600, accessTokenLifetime: self.lifetime(lifetime), tokenForm: .base64URL,
            wording: Dialect.ConsentWording(
                allow: "Allow", refuse: "Deny",
                scopes: [
                    Self.identity: "know who you are", Self.offlineAccess: "stay connected while you are away",
                    "openid": "sign you in", "profile": "see your name", "email": "see your e-mail address",
                    "offline_access": "ask for new access without you",
                ],
                facts: [
                    "This page imitates \(title) by its public description, on this machine. It is not \(title), "
                        + "and no account of \(title) is touched."
                ],
                otherScope: { "use what \(service) calls “\($0)”" }),
            demandsProofKeyOfEveryone: text("pkce") == "required",
            refresh: { [rotates = facts["refresh_rotates"] != .bool(false)] _ in rotates ? .rotated : .kept })
        dialect.reading = { [self] query throws(OAuthFailure) in try read(query) }
        dialect.isOffline = { $0.contains(Self.offlineAccess) }
        dialect.denial = denial
        return dialect
    }

    /// What the redirect says when the user refuses.
    private var denial: [(name: String, value: String)] {
        let code = texts("denial_codes").first ?? "access_denied"
        var pairs: [(name: String, value: String)] = [("error", code)]
        if let name = text("denial_parameter") { pairs.append((name, "The user declined.")) }
        return pairs
    }

    /// How long an access token lives. One of which the description says that it never ends does not.
    private func lifetime(_ configured: Int?) -> Int {
        if let seconds = facts["absent_expiry"]?.integer {
            return configured ?? min(max(1, seconds), Sandbox.Configuration.maximumLifetime)
        }
        if text("absent_expiry") == "unknown" { return configured ?? Sandbox.Configuration.maximumLifetime }
        return statesExpiry ? configured ?? 3600 : Sandbox.Configuration.maximumLifetime
    }

    /// Whether answers say when an access token ends.
    var statesExpiry: Bool { !facts.has("absent_expiry") && !flag("zero_expiry_is_never") }

    /// An authorization request in the standard's words.
    ///
    /// - Throws: what the description demands and the request does not have.
    private func read(_ query: FormParameters) throws(OAuthFailure) -> FormParameters {
        for (name, value) in table("authorize_parameters") {
            guard let sent = query[name], TextTemplate(value).values(in: sent) != nil else {
                throw .invalidRequest("\(title) demands the parameter \(name) of this value: \(value)")
            }
        }
        let named = try scopes(query)
        var scopes = [Self.identity] + named
        if isOffline(query, named) { scopes.append(Self.offlineAccess) }
        let own = [scopeParameter, "scope"] + (usesProofKeys ? [] : ["code_challenge", "code_challenge_method"])
        return FormParameters(
            query.pairs.filter { !own.contains($0.name) } + [("scope", scopes.joined(separator: " "))])
    }

    /// The scopes of a request, each as the service calls it.
    func scopes(_ parameters: FormParameters) throws(OAuthFailure) -> [String] {
        if scopeParameter != "scope", parameters[scopeParameter] == nil, parameters["scope"] != nil {
            throw .invalidRequest("\(title) takes scopes in \(scopeParameter), not in scope.")
        }
        let text = parameters[scopeParameter] ?? ""
        guard scopeDelimiter == " " || !text.contains(" ") else {
            throw .invalidRequest("\(title) divides scopes by “\(scopeDelimiter)”, not by a space.")
        }
        return text.split(separator: scopeDelimiter).map { String($0) }
    }

    /// The scopes of a refresh that states some, in the standard's words.
    ///
    /// - Throws: what the description demands of scopes and the request does not have.
    func refreshed(_ parameters: FormParameters) throws(OAuthFailure) -> FormParameters {
        let names = ["scope", scopeParameter]
        guard parameters.pairs.contains(where: { names.contains($0.name) }) else { return parameters }
        let scopes = try scopes(parameters) + [Self.identity, Self.offlineAccess]
        return FormParameters(
            parameters.pairs.filter { !names.contains($0.name) } + [("scope", scopes.joined(separator: " "))])
    }

    private func isOffline(_ query: FormParameters, _ named: [String]) -> Bool {
        switch offline {
        case .always: true
        case .never: false
        case .asked(let scopes, let parameters):
            scopes.allSatisfy(named.contains) && parameters.allSatisfy { query[$0.name] == $0.value }
        }
    }
}
#endif
