/// Identifying the user (dossier 3.3).
extension ConnectActivation {
    mutating func connect(_ attemptState: AttemptState, at time: Double) -> [Effect] {
        guard state == .initial || state == .disconnected, connection != nil else { return [] }
        let effects = endDeadline()
        attempt = Attempt(state: attemptState, startedAt: time)
        failure = nil
        // Shows the field immediately (3.3, case C). A token or the app may have appeared since the last check, so gathers anyway.
        let field = asksForEmail ? askForEmail() : []
        if field.isEmpty { state = .verifying }
        return effects + field + [.gather(ask(.choose), .capabilities)]
    }

    mutating func gathered(_ ticket: Ticket, _ result: Result<AttemptContext, Failure>) -> [Effect] {
        guard let purpose = take(ticket, for: .prepare, .choose, .leave, .reopen) else { return [] }
        if case .success(let context) = result { capabilities = Capabilities(context) }
        guard purpose != .prepare else { return prepared() }
        guard attempt != nil else { return [] }
        switch result {
        case .failure(let reason) where purpose == .reopen:
            // A user who is already at the service is still awaited.
            failure = reason
            return []
        case .failure(let reason): return endDeadline() + giveUp(reason)
        case .success where !(capabilities?.hasWay ?? true): return hide()
        case .success(let context): return purpose == .choose ? choose() : leave(with: context)
        }
    }

    private mutating func choose() -> [Effect] {
        guard capabilities?.hasUserToken ?? false else { return goOnUnknown() }
        let effects = endDeadline()
        if connection?.status == .disabled {
            state = .connecting
            return effects + [.report(.connectingShown(configuration.connection)), .enable(ask(.enable))]
        }
        state = .verifying
        return effects + [.lookUpUser(ask(.user))]
    }

    /// Continues without a token.
    private mutating func goOnUnknown() -> [Effect] {
        if goesByApp {
            let effects = endDeadline()
            state = .verifying
            return effects + [.gather(ask(.leave), .handoff)]
        }
        if case .enteringEmail = state { return [] }
        return askForEmail()
    }

    /// The app was removed, or the user did not allow opening it: IFTTT's pages work as well. The failure is shown until the
    /// user continues.
    mutating func goOnWithoutApp() -> [Effect] {
        attempt?.isAway = false
        failure = .appNotOpened
        guard attempt?.user != nil else { return askForEmail() }
        state = .verifying
        return [.gather(ask(.leave), .handoff)]
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
            return [.gather(ask(.leave), .handoff)]
        case .noUser:
            // An expired token does not block the attempt: the user is identified in another way (dossier 10.2, W10).
            return [drop(ticket)] + goOnUnknown()
        case .couldNotAsk(let reason): return giveUp(reason)
        }
    }

    mutating func enabled(_ ticket: Ticket, _ result: Result<Connection, Failure>) -> [Effect] {
        if let index = cancelledEnablings?.firstIndex(of: ticket) {
            cancelledEnablings?.remove(at: index)
            return enabledAfterCancel(result)
        }
        guard let purpose = take(ticket, for: .enable, .enableKept) else { return [] }
        guard purpose == .enable else { return enabledKept(ticket, result) }
        guard attempt != nil else { return [] }
        switch result {
        case .success(let fetched) where isTurnedOn(fetched):
            attempt = nil
            let turnedOn = connection.map { [Effect.report(.turnedOn($0))] } ?? []
            adopt(fetched)
            return turnedOn + arrive(isConfirmed: true)
        case .failure(.unreachable): return giveUp(.unreachable)
        case .failure(.unauthorized): return [drop(ticket)] + goOnUnknown()
        case .success, .failure:
            // If the API cannot turn it on, the service's pages can.
            state = .verifying
            return [.lookUpUser(ask(.user))]
        }
    }

    /// The answer to turning on arrived after the user cancelled: what was turned on is turned off again, or belongs to the
    /// attempt that the user has started since.
    private mutating func enabledAfterCancel(_ result: Result<Connection, Failure>) -> [Effect] {
        let isResting =
            (state == .initial || state == .disconnected) && [nil, .refresh, .prepare].contains(awaited?.purpose)
        switch result {
        case .success(let fetched) where isTurnedOn(fetched):
            adopt(fetched)
            if let attempt, !attempt.isAway {
                abandonEnabling()
                self.attempt = nil
                awaited = nil
                return endDeadline() + arrive(isConfirmed: true)
            }
            // The service may have performed it after a request to turn off that was sent before this answer.
            guard isResting || awaited?.purpose == .disable else { return [] }
            let effects = endDeadline()
            state = .disconnecting
            return effects + [.disable(ask(.disable))]
        // The answer was lost: the service may have turned it on.
        case .failure where isResting: return [.fetch(ask(.refresh))]
        case .success, .failure: return []
        }
    }

    func isTurnedOn(_ answered: Connection) -> Bool {
        answered.id == configuration.connection && answered.status == .enabled
    }

    mutating func confirmEmail(_ text: String) -> [Effect] {
        guard case .enteringEmail = state, attempt != nil else { return [] }
        let effects = endDeadline() + [.report(.emailConfirmed(configuration.connection))]
        failure = nil
        guard let email = EmailAddress(rawValue: text) else { return effects + refuse(text) }
        attempt?.user = .existing(email)
        state = .verifying
        return effects + [.lookUpAccount(ask(.account), email)]
    }

    mutating func accountLookedUp(_ ticket: Ticket, _ answer: AccountLookUp) -> [Effect] {
        guard take(ticket, for: .account) != nil, case .existing(let email) = attempt?.user else { return [] }
        switch answer {
        case .exists: return [.gather(ask(.leave), .handoff)]
        case .doesNotExist:
            attempt?.user = .new(email)
            state = .creatingAccount(email)
            return [.gather(ask(.leave), .handoff)]
        // The service itself will find that the address is invalid.
        case .couldNotAsk(.service(status: 422, _, _)):
            attempt?.user = nil
            return refuse(email.rawValue)
        case .couldNotAsk(let reason):
            attempt?.user = nil
            return fail(reason, to: .enteringEmail(EmailEntry(email.rawValue)))
        }
    }

    /// Reports an invalid address.
    private mutating func refuse(_ text: String) -> [Effect] {
        // A stored machine can have any number.
        refusals &+= 1
        state = .enteringEmail(EmailEntry(text, isInvalid: true))
        return [start(.invalidEmailNotice, seconds: 2)]
    }

    /// Ends the attempt with a failure.
    mutating func giveUp(_ reason: Failure) -> [Effect] {
        attempt = nil
        return fail(reason, to: restingState)
    }
}
