/// Loading and refreshing the connection (dossier 3.2).
extension ConnectActivation {
    mutating func appear() -> [Effect] {
        guard state == .idle else { return [] }
        if let connection { return show(connection) + [.gather(ask(.prepare), .capabilities)] }
        return load()
    }

    mutating func retryLoading() -> [Effect] {
        guard state == .loadingFailed else { return [] }
        return [.stopWatchingConnectivity] + load()
    }

    mutating func connectivityReturned() -> [Effect] {
        retryLoading()
    }

    private mutating func load() -> [Effect] {
        state = .loading
        failure = nil
        hasDroppedToken = false
        return [.fetch(ask(.load))]
    }

    mutating func refresh() -> [Effect] {
        switch state {
        case .initial, .connected, .pendingConfiguration:
            // A user is at the service: a question must not replace the awaited redirect.
            guard [nil, .refresh, .prepare].contains(awaited?.purpose) else { return [] }
            return [.fetch(ask(.refresh))]
        case .unavailable: return [.gather(ask(.prepare), .capabilities)]
        default: return []
        }
    }

    mutating func fetched(_ ticket: Ticket, _ result: Result<Connection, Failure>) -> [Effect] {
        guard let purpose = take(ticket, for: .load, .refresh, .confirm, .confirmOff, .confirmKept) else { return [] }
        let result = result.flatMap { fetched in
            fetched.id == configuration.connection
                ? .success(fetched) : .failure(Failure.unreadableAnswer("the answer is about another connection"))
        }
        return switch purpose {
        case .load: loaded(ticket, result)
        case .confirm: confirmed(ticket, result)
        case .confirmOff: confirmedOff(ticket, result)
        case .confirmKept: confirmedKept(ticket, result)
        default: refreshed(ticket, result)
        }
    }

    private mutating func loaded(_ ticket: Ticket, _ result: Result<Connection, Failure>) -> [Effect] {
        switch result {
        case .success(let fetched):
            adopt(fetched)
            // Whether it can be turned on here is known before it is shown (dossier 3.2).
            return [.gather(ask(.prepare), .capabilities)]
        case .failure(.unauthorized) where !hasDroppedToken:
            // An expired token must not hide the button (dossier 10.2, W10).
            return [drop(ticket), .fetch(ask(.load))]
        case .failure(let reason):
            state = .loadingFailed
            failure = reason
            // Only network failures can resolve themselves.
            return reason == .unreachable ? [.watchConnectivity] : []
        }
    }

    /// The capabilities were checked; a failure is reported when they are needed.
    mutating func prepared() -> [Effect] {
        guard let connection else { return [] }
        // A connection that is on can be turned off without a browser.
        if let capabilities, !capabilities.hasWay, connection.status != .enabled { return hide() }
        return state == .loading || state == .unavailable ? show(connection) : []
    }

    /// Hides the button: there is no way to the service from here (dossier 3.2).
    mutating func hide() -> [Effect] {
        guard state != .unavailable else { return [] }
        attempt = nil
        return endDeadline() + fail(.browserNotOpened, to: .unavailable)
    }

    private mutating func show(_ fetched: Connection) -> [Effect] {
        adopt(fetched)
        state = restingState
        failure = nil
        return [.report(.connectionShown(fetched, appName: configuration.appName))]
    }

    private mutating func refreshed(_ ticket: Ticket, _ result: Result<Connection, Failure>) -> [Effect] {
        let before = state
        switch result {
        case .success(let fetched): adopt(fetched)
        case .failure(.unauthorized):
            // Ask again with another token, or without: the state of an expired token must not stay (10.2, W10).
            let isFirst = !hasDroppedToken
            return [drop(ticket)] + (isFirst ? [.fetch(ask(.refresh))] : [])
        case .failure: return []
        }
        switch state {
        case .initial, .connected, .pendingConfiguration: state = restingState
        // The notice stays unless the connection is on.
        case .disconnected where connection?.status == .enabled: state = restingState
        default: return []
        }
        if state != before {
            // Reports that a connection was turned off elsewhere.
            failure = state == .initial && connection?.status == .unknown ? .unauthorized : nil
        }
        return capabilities == nil ? [.gather(ask(.prepare), .capabilities)] : []
    }

    /// Adopts the service's state.
    mutating func adopt(_ fetched: Connection) {
        if fetched.status != .unknown { hasDroppedToken = false }
        switch fetched.status {
        case .enabled:
            // Without the user's part in the answer, keep the known one.
            isPendingConfiguration = fetched.isUnconfigured ?? isPendingConfiguration
            connection = fetched
        case .disabled, .neverEnabled:
            isPendingConfiguration = false
            connection = fetched
        case .unknown where !hasDroppedToken:
            // An anonymous answer knows less than the present state.
            connection = fetched.with(connection?.status ?? .unknown)
        case .unknown: forgetUser(seeing: fetched)
        }
    }

    /// Forgets everything known about the user (dossier 10.2, W10).
    ///
    /// - Parameter fetched: the connection as any user sees it; nil keeps the rest of the present one.
    mutating func forgetUser(seeing fetched: Connection? = nil) {
        isPendingConfiguration = false
        capabilities?.hasUserToken = false
        connection = (fetched ?? connection)?.with(.unknown)
    }

    mutating func signOut() -> [Effect] {
        let wasUnderWay = attempt != nil
        let effects = [.forgetToken] + endDeadline() + (state == .goingToService(.web) ? [.closeBrowser] : [])
        attempt = nil
        awaited = nil
        cancelledEnablings = nil
        cancelledAttempts = nil
        forgetUser()
        switch state {
        case .idle, .loadingFailed, .unavailable: return effects
        case .loading: return effects + load()
        default:
            state = restingState
            failure = nil
            return effects + (wasUnderWay ? [.deliver(.cancelled)] : []) + [.fetch(ask(.refresh))]
        }
    }
}
