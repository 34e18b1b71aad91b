/// Showing the connection: loading it, and looking again (dossier 3.2).
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
            // A user at the service is waited for; asking must not put another answer in that one's place.
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
            // Whether it can work here is known before it is shown (dossier 3.2).
            return [.gather(ask(.prepare), .capabilities)]
        case .failure(.unauthorized) where !hasDroppedToken:
            // A token that has expired must not keep the button from being shown (dossier 10.2, W10).
            return [drop(ticket), .fetch(ask(.load))]
        case .failure(let reason):
            state = .loadingFailed
            failure = reason
            // Only what the network keeps away can come with it.
            return reason == .unreachable ? [.watchConnectivity] : []
        }
    }

    /// It was looked what there is to go on with; where that failed, the user is told when it is needed.
    mutating func prepared() -> [Effect] {
        guard let connection else { return [] }
        // What is on can be turned off without a way to anywhere.
        if let capabilities, !capabilities.hasWay, connection.status != .enabled { return hide() }
        return state == .loading || state == .unavailable ? show(connection) : []
    }

    /// There is no way to the service from here, and nothing to be shown (dossier 3.2).
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
            // Asked again with another token, or without: what an expired one knew must not stay for ever (10.2, W10).
            let isFirst = !hasDroppedToken
            return [drop(ticket)] + (isFirst ? [.fetch(ask(.refresh))] : [])
        case .failure: return []
        }
        switch state {
        case .initial, .connected, .pendingConfiguration: state = restingState
        default: return []
        }
        if state != before {
            // Why a button that was on is off: no user has turned it off.
            failure = state == .initial && connection?.status == .unknown ? .unauthorized : nil
        }
        return capabilities == nil ? [.gather(ask(.prepare), .capabilities)] : []
    }

    /// Takes over what the service says.
    mutating func adopt(_ fetched: Connection) {
        if fetched.status != .unknown { hasDroppedToken = false }
        switch fetched.status {
        case .enabled:
            // Where the user's part is not told, what is known stays.
            isPendingConfiguration = fetched.isUnconfigured ?? isPendingConfiguration
            connection = fetched
        case .disabled, .neverEnabled:
            isPendingConfiguration = false
            connection = fetched
        case .unknown where !hasDroppedToken:
            // An anonymous look knows less than what is known already.
            connection = fetched.with(connection?.status ?? .unknown)
        case .unknown: forgetUser(seeing: fetched)
        }
    }

    /// What was known in the name of a user is not known any more (dossier 10.2, W10).
    ///
    /// - Parameter fetched: the connection as any user sees it; nil keeps what is known of it otherwise.
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
        cancelledEnabling = nil
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
