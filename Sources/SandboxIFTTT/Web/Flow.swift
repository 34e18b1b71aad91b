#if Sandbox
import SandboxCore

/// The steps of the web flow and of the app as changes of the state (IFTTT Connect dossier, sections 11.3 and 11.4).
struct Flow: Sendable {
    let store: Store

    /// How an attempt ends at the app's address.
    enum Outcome: String, Sendable, CaseIterable {
        case complete
        case completeWithoutToken = "complete_without_token"
        case accountCreation = "account_creation"
        case authError = "auth_error"
        case error
        case configurationCancelled = "user_cancelled_configuration"
        case unknown
        case nothing
        case verificationFailed = "verification_failed"
        case connectionRequestFailed = "connection_request_failed"

        /// The failures that a surface can be asked for; ``complete`` is no failure.
        static func failures(on surface: Attempt.Surface) -> [Outcome] {
            allCases.filter { outcome in
                switch outcome {
                case .complete: false
                case .verificationFailed, .connectionRequestFailed: surface == .app
                default: true
                }
            }
        }

        func items(token: String?) -> [(name: String, value: String)] {
            switch self {
            case .complete: [("next_step", "complete")] + (token.map { [("user_token", $0)] } ?? [])
            case .completeWithoutToken: [("next_step", "complete")]
            case .error: [("next_step", "error")]
            case .accountCreation, .authError, .verificationFailed, .connectionRequestFailed:
                [("next_step", "error"), ("error_type", rawValue)]
            case .configurationCancelled: [("next_step", rawValue)]
            case .unknown: [("next_step", "something_else")]
            case .nothing: []
            }
        }
    }

    /// Begins an attempt for a browser.
    func begin(_ request: FlowRequest, sessionID: String, cookieLogin: String?) -> Attempt {
        let now = store.now
        return store.change { state in
            var attempt = Attempt(
                id: state.identifiers.word("way"), connection: request.connection,
                surface: request.entrance == .app ? .app : .web, action: request.action, returnURL: request.returnURL,
                skipsConfiguration: request.skipsConfiguration, deliversToken: request.entrance != .publicURL,
                createsAccount: request.createsAccount, hint: request.hint, mailSchemes: request.mailSchemes,
                createdAt: now, sessionID: sessionID, code: request.code)
            Self.identify(&attempt, cookieLogin: cookieLogin, in: &state)
            if attempt.step(in: state) == .checkMail { Self.sendMail(&attempt, at: now, in: &state) }
            state.web.set(attempt)
            return attempt
        }
    }

    /// Step 2 of section 11.3.
    private static func identify(_ attempt: inout Attempt, cookieLogin: String?, in state: inout State) {
        var hinted: Account?
        switch attempt.hint {
        case .username(let name)?: hinted = state.account(login: name)
        case .email(let email)?:
            hinted = state.account(email: email)
            if hinted == nil, attempt.createsAccount, attempt.action == .activation,
                state.accounts.count < State.accountLimit
            {
                attempt.login = state.addAccount(email: email).login
                attempt.isIdentityConfirmed = true
                return
            }
        case nil: break
        }
        switch attempt.surface {
        case .app: attempt.login = hinted?.login ?? cookieLogin ?? Fixtures.appLogin
        case .web: attempt.login = attempt.hint == nil || hinted?.login == cookieLogin ? cookieLogin : nil
        }
    }

    /// Sends the link that goes on in any browser; the links of the same attempt before it stay what they are.
    static func sendMail(_ attempt: inout Attempt, at now: Double, in state: inout State) {
        guard let hint = attempt.hint,
            let account = state.account(email: hint.text) ?? state.account(login: hint.text)
        else { return }
        state.web.add(
            Mail(
                word: state.identifiers.word("mail"), attemptID: attempt.id, to: account.email, login: account.login,
                connectionName: attempt.connection.name, sentAt: now))
    }

    /// Tries the code that the app brought, once (step 3).
    func tryCode(_ id: String) {
        let code = store.change { state -> String? in
            guard var attempt = state.web.attempts[id], attempt.step(in: state) == .partner else { return nil }
            let code = attempt.code
            attempt.code = nil
            state.web.set(attempt)
            return code
        }
        guard let code, let user = try? store.partnerServer.redeemForIFTTT(code) else { return }
        link(user, to: id)
    }

    /// Connects the partner's user with the IFTTT account of the attempt.
    ///
    /// One partner user can be connected with one account only (section 2.3).
    func link(_ user: SandboxUser, to id: String) {
        store.change { state in
            guard var attempt = state.web.attempts[id], let login = attempt.login else { return }
            attempt.partnerState = nil
            let serviceID = attempt.connection.ownerID
            let other = state.link(serviceID: serviceID, partnerUserID: user.subject)
            if let other, other.login != login {
                attempt.failure = "\(user.displayName) is connected with another IFTTT account, \(other.login)."
            } else if other == nil {
                state.links.append(Link(serviceID: serviceID, partnerUserID: user.subject, login: login))
            }
            state.web.set(attempt)
        }
    }

    /// Stores what the user decided (step 6) and notifies the partner.
    ///
    /// - Returns: the token that the redirect delivers; nil when the attempt is not that far.
    func finish(_ id: String, features: [UserFeature]) -> String? {
        let now = store.now
        let result = store.change { state -> (String, Webhook?)? in
            guard var attempt = state.web.attempts[id], let login = attempt.login,
                attempt.step(in: state) == .review || attempt.step(in: state) == .configure
            else { return nil }
            let key = State.Key(login: login, connectionID: attempt.connection.id)
            let isSkipped = attempt.skipsConfiguration && attempt.action == .activation
            // The user was not asked for a configuration, so a stored one stays in use.
            if !isSkipped || state.userConnections[key]?.isEnabled != true {
                state.userConnections[key] = UserConnection(
                    isEnabled: true, isPending: isSkipped, features: features)
            }
            state.connect(Array(attempt.connection.serviceIDs.dropFirst()), for: login)
            attempt.isDone = true
            state.web.set(attempt)
            // An activation turns the connection on, also when it was on (section 11.3, step 6).
            let hook = state.webhook(
                attempt.action == .activation ? .enabled : .updated, login: login, connection: attempt.connection,
                at: now)
            return (state.userToken(login: login, serviceID: attempt.connection.ownerID), hook)
        }
        store.deliver(result?.1)
        return result?.0
    }
}

extension State {
    /// The maximum number of accounts; beyond, new users must sign in to an existing one.
    static let accountLimit = 10_000

    /// A new account, named after its address.
    mutating func addAccount(email: String) -> Account {
        let stem = email.prefix { $0 != "@" }.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }
        var login = String(stem)
        var number = 2
        while account(login: login) != nil {
            login = "\(String(stem))_\(number)"
            number += 1
        }
        let account = Account(login: login, email: email, password: nil)
        accounts.append(account)
        return account
    }

    mutating func connect(_ serviceIDs: [String], for login: String) {
        guard let index = accounts.firstIndex(where: { $0.login == login }) else { return }
        accounts[index].connectedServices.formUnion(serviceIDs)
    }
}
#endif
