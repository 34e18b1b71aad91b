/// From the user's wish to who the user is (dossier 3.3).
extension ConnectActivation {
    mutating func connect(_ attemptState: AttemptState, at time: Double) -> [Effect] {
        guard state == .initial || state == .disconnected, connection != nil else { return [] }
        let effects = endDeadline()
        attempt = Attempt(state: attemptState, begunAt: time)
        state = .verifying
        failure = nil
        return effects + [.gather(ask(.choose))]
    }

    mutating func gathered(_ ticket: Ticket, _ result: Result<Circumstances, Failure>) -> [Effect] {
        guard let purpose = take(ticket, for: .choose, .leave), attempt != nil else { return [] }
        switch result {
        case .failure(let reason): return giveUp(reason)
        case .success(var circumstances):
            if attempt?.cannotOpenApp ?? false { circumstances.isAppInstalled = false }
            attempt?.isAppInstalled = circumstances.isAppInstalled
            attempt?.canOpenPages = circumstances.canOpenPages
            guard circumstances.isAppInstalled || circumstances.canOpenPages else {
                attempt = nil
                state = .unavailable
                return []
            }
            return purpose == .leave ? leave(with: circumstances) : choose(with: circumstances)
        }
    }

    private mutating func choose(with circumstances: Circumstances) -> [Effect] {
        guard circumstances.hasUserToken else {
            // Nothing has been waited for since these were read, so they are as good for leaving.
            return circumstances.isAppInstalled ? leave(with: circumstances) : askForEmail()
        }
        if connection?.status == .disabled {
            state = .connecting
            return [.enable(ask(.enable))]
        }
        return [.lookUpUser(ask(.user))]
    }

    /// Goes on without a token.
    private mutating func goOnUnknown() -> [Effect] {
        if attempt?.isAppInstalled ?? false {
            state = .verifying
            return [.gather(ask(.leave))]
        }
        return askForEmail()
    }

    /// The app is not there any more, or the user kept it closed: IFTTT's pages lead to the same end. The reason is shown until
    /// the user goes on.
    mutating func goOnWithoutApp() -> [Effect] {
        attempt?.cannotOpenApp = true
        attempt?.isAppInstalled = false
        attempt?.isAway = false
        failure = .appNotOpened
        guard attempt?.user != nil else { return askForEmail() }
        state = .verifying
        return [.gather(ask(.leave))]
    }

    private mutating func askForEmail() -> [Effect] {
        state = .enteringEmail(EmailEntry(configuration.suggestedEmail.trimmed))
        return [.report(.emailShown(configuration.connection))]
    }

    mutating func userLookedUp(_ ticket: Ticket, _ answer: UserLookUp) -> [Effect] {
        guard take(ticket, for: .user) != nil, attempt != nil else { return [] }
        switch answer {
        case .login(let name):
            attempt?.user = .username(name)
            return [.gather(ask(.leave))]
        case .nobody:
            // A token that has expired does not block the way, the user is found out otherwise (dossier 10.2, W10).
            return [drop(ticket)] + goOnUnknown()
        case .couldNotAsk(let reason): return giveUp(reason)
        }
    }

    mutating func enabled(_ ticket: Ticket, _ result: Result<Connection, Failure>) -> [Effect] {
        guard take(ticket, for: .enable) != nil, attempt != nil else { return [] }
        switch result {
        case .success(let fetched) where fetched.id == configuration.connection && fetched.status == .enabled:
            attempt = nil
            let turnedOn = connection.map { [Effect.report(.turnedOn($0))] } ?? []
            adopt(fetched)
            return turnedOn + arrive(isConfirmed: true)
        case .failure(.unreachable): return giveUp(.unreachable)
        case .failure(.unauthorized): return [drop(ticket)] + goOnUnknown()
        case .success, .failure:
            // What cannot be turned on by asking goes through the service's pages.
            state = .verifying
            return [.lookUpUser(ask(.user))]
        }
    }

    mutating func editEmail(_ text: String) -> [Effect] {
        guard case .enteringEmail(let entry) = state else { return [] }
        let edited = EmailEntry(text)
        guard edited != entry else { return [] }
        state = .enteringEmail(edited)
        failure = nil
        return endDeadline()
    }

    mutating func confirmEmail(_ text: String) -> [Effect] {
        guard case .enteringEmail = state, attempt != nil else { return [] }
        let effects = endDeadline() + [.report(.emailConfirmed(configuration.connection))]
        failure = nil
        guard let email = EmailAddress(rawValue: text) else {
            state = .enteringEmail(EmailEntry(text, isInvalid: true))
            return effects + [start(.invalidEmailNotice, seconds: 2)]
        }
        attempt?.user = .existing(email)
        state = .verifying
        return effects + [.lookUpAccount(ask(.account), email)]
    }

    mutating func accountLookedUp(_ ticket: Ticket, _ answer: AccountLookUp) -> [Effect] {
        guard take(ticket, for: .account) != nil, case .existing(let email) = attempt?.user else { return [] }
        switch answer {
        case .exists: return [.gather(ask(.leave))]
        case .doesNotExist:
            attempt?.user = .new(email)
            state = .creatingAccount(email)
            return [.gather(ask(.leave))]
        case .couldNotAsk(let reason):
            attempt?.user = nil
            return fail(reason, to: .enteringEmail(EmailEntry(email.rawValue)))
        }
    }

    /// Ends the attempt with a reason.
    mutating func giveUp(_ reason: Failure) -> [Effect] {
        attempt = nil
        return fail(reason, to: restingState)
    }
}

extension String {
    /// The text without white space around it.
    fileprivate var trimmed: String {
        String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}
