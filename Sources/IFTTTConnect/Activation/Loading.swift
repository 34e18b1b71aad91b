/// Showing the connection: loading it, and looking again (dossier 3.2).
extension ConnectActivation {
    mutating func appear() -> [Effect] {
        guard state == .idle else { return [] }
        if let connection { return show(connection) }
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
            guard awaited == nil || awaited?.purpose == .refresh else { return [] }
            return [.fetch(ask(.refresh))]
        default: return []
        }
    }

    mutating func fetched(_ ticket: Ticket, _ result: Result<Connection, Failure>) -> [Effect] {
        guard let purpose = take(ticket) else { return [] }
        let result = result.flatMap { fetched in
            fetched.id == configuration.connection
                ? .success(fetched) : .failure(Failure.unreadableAnswer("the answer is about another connection"))
        }
        return switch purpose {
        case .load: loaded(ticket, result)
        case .confirm: confirmed(ticket, result)
        default: refreshed(ticket, result)
        }
    }

    private mutating func loaded(_ ticket: Ticket, _ result: Result<Connection, Failure>) -> [Effect] {
        switch result {
        case .success(let fetched): return show(fetched)
        case .failure(.unauthorized) where !hasDroppedToken:
            // A token that has expired must not keep the button from being shown (dossier 10.2, W10).
            hasDroppedToken = true
            return [.dropToken(ticket), .fetch(ask(.load))]
        case .failure(let reason):
            state = .loadingFailed
            failure = reason
            return [.watchConnectivity]
        }
    }

    private mutating func show(_ fetched: Connection) -> [Effect] {
        adopt(fetched)
        state = restingState
        failure = nil
        return [.report(.connectionShown(fetched, appName: configuration.appName))]
    }

    private mutating func refreshed(_ ticket: Ticket, _ result: Result<Connection, Failure>) -> [Effect] {
        guard case .success(let fetched) = result else {
            // What is shown stays; the next question is asked with another token, or without (dossier 10.2, W10).
            return if case .failure(.unauthorized) = result { [.dropToken(ticket)] } else { [] }
        }
        adopt(fetched)
        switch state {
        case .initial, .connected, .pendingConfiguration: state = restingState
        default: break
        }
        return []
    }

    /// Takes over what the service says.
    mutating func adopt(_ fetched: Connection) {
        switch fetched.status {
        case .enabled:
            // The service has no word for "pending". What it has is a configuration with nothing in it.
            let isEmpty = fetched.userConnection.map { $0.features.isEmpty && !fetched.features.isEmpty } ?? false
            isPendingConfiguration = isPendingConfiguration || (configuration.skipsConfiguration && isEmpty)
            connection = fetched
        case .disabled, .neverEnabled:
            isPendingConfiguration = false
            connection = fetched
        case .unknown:
            // An anonymous look knows less than what is known already.
            connection = fetched.with(connection?.status ?? .unknown)
        }
    }
}
