import OAuth

/// Sending the user to the service, and handling the return (dossier 3.4 to 3.7).
extension ConnectActivation {
    mutating func leave(with context: AttemptContext) -> [Effect] {
        guard var attempt, let connection else { return [] }
        // Only the web flow creates accounts (dossier 3.3).
        let isNew = newAccount != nil
        let kind: Destination.Kind = goesByApp && !isNew || !context.canOpenPages ? .app : .web
        let isFirst = !attempt.isAway
        attempt.isAway = true
        self.attempt = attempt
        failure = nil
        let request = request(for: attempt, with: context)
        state = .goingToService(kind)
        let destination = Destination(
            kind: kind, url: kind == .app ? request.appURL() : request.webURL, redirect: configuration.redirect,
            state: attempt.state)
        let open = Effect.open(ask(.comingBack), destination)
        return kind == .web && isFirst ? [.report(.connectionClicked(connection)), open] : [open]
    }

    /// Sends the user to the service again. A used code is invalid, so the context is gathered again.
    mutating func reopen() -> [Effect] {
        guard case .goingToService = state, attempt?.isAway ?? false else { return [] }
        failure = nil
        return [.gather(ask(.reopen), .handoff)]
    }

    private func request(for attempt: Attempt, with context: AttemptContext) -> ActivationRequest {
        var request = request(callback: configuration.redirect.carrying(attempt.state))
        request.anonymousID = context.anonymousID
        request.user = attempt.user
        request.oauthCode = context.oauthCode
        request.inviteCode = context.inviteCode
        request.mailClients = context.mailClients
        return request
    }

    /// The parts of a request that are the same for all users.
    private func request(callback returnTo: String) -> ActivationRequest {
        var request = ActivationRequest(
            configuration.connection, at: configuration.addresses, callback: returnTo)
        request.identity = configuration.identity
        request.locale = configuration.locale
        request.skipsConfiguration = configuration.skipsConfiguration
        return request
    }

    /// The URL that manages the connection in the IFTTT app (dossier 4.9). Nil on platforms other than iOS, when the
    /// app is not known to be installed, or when it has no such URL.
    public var appEditURL: String? {
        guard isAppInstalled == true, configuration.identity.platform == .ios else { return nil }
        return request(callback: configuration.redirect.rawValue).appURL(.edit)
    }

    mutating func openingFailed(_ ticket: Ticket) -> [Effect] {
        guard case .goingToService(let kind) = state, take(ticket, for: .comingBack) != nil else { return [] }
        guard kind == .app else { return giveUp(.browserNotOpened) }
        hasAppFailed = true
        return capabilities?.canOpenPages ?? false ? goOnWithoutApp() : giveUp(.appNotOpened)
    }

    /// The page was closed. The attempt stays pending: the user may continue through a link in a mail.
    mutating func browserClosed(_ ticket: Ticket) -> [Effect] {
        guard case .goingToService = state, take(ticket, for: .comingBack) != nil else { return [] }
        state = restingState
        return [.deliver(.cancelled)]
    }

    /// The IFTTT app opened. If the user returns without finishing, the button works again; if the user finishes, the
    /// redirect still counts.
    mutating func enteredBackground() -> [Effect] {
        if state == .goingToService(.app) {
            awaited = nil
            state = restingState
        }
        return [.flushReports]
    }

    /// The browser navigated back to the page with the button.
    mutating func leaveService() -> [Effect] {
        guard case .goingToService = state else { return [] }
        awaited = nil
        state = restingState
        return [.deliver(.cancelled)]
    }

    mutating func cancel() -> [Effect] {
        switch state {
        case .confirmingDisconnection, .undoableDisconnection, .disconnecting: return keepConnection()
        case .connecting:
            guard awaited?.purpose == .enable else { return [] }
            abandonEnabling()
            return endAttempt()
        case .enteringEmail, .verifying, .creatingAccount, .goingToService: return endAttempt()
        default: return []
        }
    }

    /// Remembers the awaited request to turn on: it cannot be cancelled, and the service may still perform it.
    mutating func abandonEnabling() {
        guard let awaited, awaited.purpose == .enable else { return }
        // More than a user can start before the first one is answered or has timed out.
        cancelledEnablings = Array(((cancelledEnablings ?? []) + [awaited.ticket]).suffix(8))
    }

    private mutating func endAttempt() -> [Effect] {
        let effects = endDeadline() + (state == .goingToService(.web) ? [.closeBrowser] : [])
        abandonAttempt()
        awaited = nil
        failure = nil
        state = restingState
        return effects + [.deliver(.cancelled)]
    }

    /// Ends the attempt, and remembers one whose user is at the service: what the user finishes there must not stay silent.
    private mutating func abandonAttempt() {
        defer { attempt = nil }
        guard var abandoned = attempt, abandoned.isAway else { return }
        // Only the state and the time are of use.
        abandoned.user = nil
        // More than a user starts and cancels before the first one is finished.
        cancelledAttempts = Array(((cancelledAttempts ?? []) + [abandoned]).suffix(8))
    }

    /// Handles a URL, which may be a redirect to the callback. It is handled as ``Event/redirected(_:at:)`` then,
    /// otherwise with ``Effect/refused(_:)``.
    ///
    /// - Parameters:
    ///   - url: the full URL.
    ///   - time: seconds since 1970.
    public mutating func open(_ url: String, at time: Double) -> [Effect] {
        do {
            return handle(.redirected(try configuration.redirect.redirect(from: url), at: time))
        } catch {
            return [.refused(error)]
        }
    }

    mutating func redirected(_ redirect: ActivationRedirect, at time: Double) -> [Effect] {
        guard let attempt else { return [.refused(.noPendingAttempt)] }
        guard let state = redirect.state else { return [.refused(.stateMissing)] }
        guard attempt.state.matches(state) else { return [.refused(.otherAttempt)] }
        guard attempt.isAway else { return [.refused(.noPendingAttempt)] }
        return conclude(attempt, redirect.nextStep, at: time)
    }

    /// Handles the redirect of an attempt that the user has cancelled here and finished at the service, once; nil for any other.
    ///
    /// The connection is on, so it is fetched and shown, or the failure is. It completes an attempt that the user has started
    /// since; one whose user is at the service goes on instead, and its own redirect counts. After the lifetime of the cancelled
    /// attempt it completes none. Where the user is turning the connection off, that goes on.
    mutating func finishedAfterCancel(_ redirect: ActivationRedirect, at time: Double) -> [Effect]? {
        guard case .complete(let token) = redirect.nextStep, let returned = redirect.state, attempt?.isAway != true,
            let index = cancelledAttempts?.firstIndex(where: { $0.state.matches(returned) }),
            let cancelled = cancelledAttempts?.remove(at: index)
        else { return nil }
        switch state {
        case .connected, .pendingConfiguration: return refresh()
        // The service may have turned it on after it has performed the request to turn off.
        case .disconnecting: return [.disable(ask(.disable))]
        case .connecting where awaited?.purpose != .enable: return []
        case .initial, .disconnected, .enteringEmail, .verifying, .creatingAccount, .goingToService, .connecting: break
        case .idle, .loading, .loadingFailed, .confirmingDisconnection, .undoableDisconnection, .unavailable: return []
        }
        let isExpired = time >= cancelled.startedAt + configuration.attemptLifetime
        // What is not believed does not end the attempt that the user has started since.
        if isExpired, attempt != nil { return [] }
        let effects = endDeadline()
        abandonEnabling()
        attempt = nil
        awaited = nil
        failure = nil
        guard !isExpired else {
            return effects + fail(.attemptExpired, to: restingState) + [.fetch(ask(.refresh))]
        }
        return effects + completed(token)
    }

    /// Ends the attempt: no later redirect counts.
    private mutating func conclude(
        _ attempt: Attempt, _ nextStep: ActivationRedirect.NextStep, at time: Double
    ) -> [Effect] {
        let closing: [Effect] = state == .goingToService(.web) ? [.closeBrowser] : []
        self.attempt = nil
        awaited = nil
        failure = nil
        // A clock that was set back does not expire a redirect; then only the state protects.
        guard time < attempt.startedAt + configuration.attemptLifetime else {
            // The service may have turned it on nevertheless.
            return closing + fail(.attemptExpired, to: restingState) + [.fetch(ask(.refresh))]
        }
        switch nextStep {
        case .complete(let token): return closing + completed(token)
        case .accountCreationFailed: return closing + fail(.accountCreationFailed, to: restingState)
        case .configurationCancelled: return closing + fail(.configurationCancelled, to: restingState)
        case .failed(let type):
            return closing + fail(.refusedByService(type: type.map { quoted($0, limit: 100) }), to: restingState)
        case .unknown: return closing + fail(.unknownRedirect, to: restingState)
        }
    }

    private mutating func completed(_ token: UserToken?) -> [Effect] {
        var effects: [Effect] = []
        if let token, configuration.takesTokenFromRedirect {
            effects.append(.storeToken(token))
            capabilities?.hasUserToken = true
        }
        hasAppFailed = false
        // Earlier rejections no longer matter: the user has been at the service since.
        hasDroppedToken = false
        if let connection { effects.append(.report(.turnedOn(connection))) }
        state = .connecting
        return effects + [.report(.connectingShown(configuration.connection)), .fetch(ask(.confirm))]
    }

    /// Verifies the redirect with the service (dossier 10.2, W15).
    mutating func confirmed(_ ticket: Ticket, _ result: Result<Connection, Failure>) -> [Effect] {
        switch result {
        case .success(let fetched) where fetched.status == .disabled || fetched.status == .neverEnabled:
            adopt(fetched)
            return fail(.notConfirmed(fetched.status), to: restingState)
        case .success(let fetched):
            isPendingConfiguration = configuration.skipsConfiguration
            adopt(fetched.with(.enabled))
            return arrive(isConfirmed: fetched.status == .enabled)
        case .failure(let reason):
            isPendingConfiguration = configuration.skipsConfiguration
            connection = connection?.with(.enabled)
            return (reason == .unauthorized ? [drop(ticket)] : []) + arrive(isConfirmed: false)
        }
    }

    /// Completes the attempt.
    mutating func arrive(isConfirmed: Bool) -> [Effect] {
        state = restingState
        failure = nil
        guard let connection else { return [] }
        return [.deliver(.connected(connection, isConfirmed: isConfirmed, isPending: isPendingConfiguration))]
    }

    mutating func configurationSaved() -> [Effect] {
        guard state == .pendingConfiguration else { return [] }
        isPendingConfiguration = false
        return arrive(isConfirmed: true) + [.fetch(ask(.refresh))]
    }
}
