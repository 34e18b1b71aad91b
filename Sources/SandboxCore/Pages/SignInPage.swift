#if Sandbox
import Mustache

/// Why the sign-in page is shown again.
enum SignInProblem: Sendable {
    case wrongPassword
    case wrongTwoFactorCode
    case staleForm

    var text: String {
        switch self {
        case .wrongPassword: "Wrong email address or password. The valid ones are listed below."
        case .wrongTwoFactorCode: "This account needs its two-factor code. It is listed below."
        case .staleForm: "This form has expired or belongs to another browser. Sign in again."
        }
    }
}

extension Pages {
    private struct SignIn {
        let brand: String
        let client: String
        let action: String
        let formID: String
        let formToken: String
        let name: String
        let problem: String?
        let isPasswordWrong: Bool
        let isCodeWrong: Bool
        let asksForTwoFactorCode: Bool
        let providers: [String]
        let passwordPage: String?
        let registrationPage: String?
        let people: [Person]
    }

    private struct Person {
        let name: String
        let password: String
        let displayName: String
        let note: String
        let oneTimeCode: String?
        let link: String
    }

    /// The sign-in page, with the default user's name filled in.
    func signIn(
        _ authorization: PendingAuthorization, formToken: String, name: String? = nil, problem: SignInProblem? = nil
    ) -> Answer {
        let view = SignIn(
            brand: dialect.title, client: authorization.client.id, action: authorization.target,
            formID: AuthorizationEndpoint.signInForm, formToken: formToken,
            name: name ?? authorization.loginHint ?? dialect.users.first?.name ?? "", problem: problem?.text,
            isPasswordWrong: problem == .wrongPassword, isCodeWrong: problem == .wrongTwoFactorCode,
            asksForTwoFactorCode: dialect.asksForTwoFactorCode, providers: dialect.elsewhere.providers,
            passwordPage: dialect.elsewhere.passwordPage, registrationPage: dialect.elsewhere.registrationPage,
            people: dialect.users.map { person($0, target: authorization.target) })
        return page("Sign in", Template.signIn.render(view), formTargets: Self.formTargets(authorization))
    }

    private func person(_ user: SandboxUser, target: String) -> Person {
        let request = IncomingRequest(method: "GET", target: target)
        let query = request.query.removing("login_hint").urlEncoded
        return Person(
            name: user.name, password: user.password, displayName: user.displayName, note: user.note,
            oneTimeCode: user.oneTimeCode,
            link: "\(request.path)?\(query)&login_hint=\(PercentCoding.encoded(user.name))")
    }

    /// The content security policy source for the redirect that a form may end in.
    static func formTargets(_ authorization: PendingAuthorization) -> [String] {
        formTargets(redirect: authorization.redirectURI)
    }

    /// The same for any address; a `urn:` has none.
    package static func formTargets(redirect uri: String) -> [String] {
        guard let colon = uri.firstIndex(of: ":"), !uri.hasPrefix("urn:") else { return [] }
        let scheme = uri[..<colon]
        guard scheme == "http" || scheme == "https" else { return ["\(scheme):"] }
        let authority = uri[colon...].dropFirst(3).prefix { $0 != "/" && $0 != "?" }
        return ["\(scheme)://\(authority)"]
    }
}
#endif
