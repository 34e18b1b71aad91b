/// Turning off (dossier 3.9; 10.2, W1).
extension ConnectActivation {
    private var isOn: Bool { state == .connected || state == .pendingConfiguration }

    mutating func disconnect() -> [Effect] {
        guard isOn else { return [] }
        failure = nil
        awaited = nil
        switch configuration.disconnection {
        case .confirmed:
            state = .confirmingDisconnection
            return []
        case .undoable(let seconds):
            state = .undoableDisconnection(seconds: seconds)
            return [start(.undo, seconds: seconds)]
        case .immediate: return turnOff()
        }
    }

    mutating func confirmDisconnection() -> [Effect] {
        guard state == .confirmingDisconnection else { return [] }
        return turnOff()
    }

    mutating func keepConnection() -> [Effect] {
        switch state {
        case .confirmingDisconnection, .undoableDisconnection:
            state = restingState
            return endDeadline()
        case .disconnecting:
            // A sent request cannot be cancelled: its answer decides whether to turn the connection on again.
            guard let awaited, awaited.purpose == .disable else { return [] }
            self.awaited = Awaited(ticket: awaited.ticket, purpose: .keep)
            state = .connecting
            return []
        default: return []
        }
    }

    private mutating func turnOff() -> [Effect] {
        // An answer that is still pending must not turn it on again.
        attempt = nil
        state = .disconnecting
        let click = connection.map { [Effect.report(.connectionClicked($0))] } ?? []
        return click + [.disable(ask(.disable))]
    }

    mutating func disabled(_ ticket: Ticket, _ result: Result<Connection, Failure>) -> [Effect] {
        guard let purpose = take(ticket, for: .disable, .keep) else { return [] }
        guard purpose == .disable else { return keep(ticket, result) }
        switch result {
        case .success(let answered) where answered.id != configuration.connection:
            return fail(.unreadableAnswer("the answer is about another connection"), to: restingState)
        case .success(let answered) where answered.status == .enabled:
            return fail(.notConfirmed(.enabled), to: restingState)
        case .success(let answered) where answered.status == .unknown: return [.fetch(ask(.confirmOff))]
        case .success(let answered): return turnedOff(answered)
        // A missing connection cannot be turned off, however often it is retried: fetch its state.
        case .failure(.notFound): return [.fetch(ask(.confirmOff))]
        case .failure(.unauthorized): return [drop(ticket)] + stranded()
        case .failure(let reason): return fail(reason, to: restingState)
        }
    }

    /// The user undid turning off during the request: if it was turned off, turns it on again.
    mutating func keep(_ ticket: Ticket, _ result: Result<Connection, Failure>) -> [Effect] {
        switch result {
        case .success(let answered) where isTurnedOn(answered):
            adopt(answered)
            state = restingState
            return []
        case .success(let answered) where answered.id == configuration.connection:
            adopt(answered.status == .unknown ? answered.with(.disabled) : answered)
            return [.enable(ask(.enableKept))]
        case .failure(.unauthorized): return [drop(ticket)] + stranded()
        case .success, .failure: return [.fetch(ask(.confirmKept))]
        }
    }

    /// The state of the connection, after the answer to turning off was lost.
    mutating func confirmedKept(_ ticket: Ticket, _ result: Result<Connection, Failure>) -> [Effect] {
        switch result {
        case .success: return keep(ticket, result)
        case .failure(.unauthorized): return off + [drop(ticket)] + stranded()
        case .failure(let reason): return off + fail(reason, to: restingState)
        }
    }

    /// Tells the app that it is off if an answer to turning off has said so.
    private var off: [Effect] {
        guard let connection, [.disabled, .neverEnabled].contains(connection.status) else { return [] }
        return [.deliver(.disconnected(connection))]
    }

    mutating func enabledKept(_ ticket: Ticket, _ result: Result<Connection, Failure>) -> [Effect] {
        if case .success(let answered) = result, isTurnedOn(answered) {
            adopt(answered)
            state = restingState
            return []
        }
        // It stays off: tell the user and the app.
        guard case .failure(let reason) = result else { return off + fail(.notConfirmed(.disabled), to: restingState) }
        let dropped = reason == .unauthorized ? [drop(ticket)] : []
        return off + dropped + fail(reason, to: restingState)
    }

    /// The state of the connection, after the answer to turning off did not contain it.
    mutating func confirmedOff(_ ticket: Ticket, _ result: Result<Connection, Failure>) -> [Effect] {
        switch result {
        case .success(let fetched) where fetched.status == .enabled:
            adopt(fetched)
            return fail(.notConfirmed(.enabled), to: restingState)
        case .success(let fetched): return turnedOff(fetched)
        case .failure(.notFound): return fail(.notFound, to: .loadingFailed)
        case .failure(.unauthorized): return [drop(ticket)] + stranded()
        case .failure(let reason): return fail(reason, to: restingState)
        }
    }

    private mutating func turnedOff(_ answered: Connection) -> [Effect] {
        adopt(answered.status == .unknown ? answered.with(.disabled) : answered)
        state = .disconnected
        guard let connection else { return [] }
        return [.deliver(.disconnected(connection)), start(.disconnectedNotice, seconds: 2)]
    }

    /// The user of the connection is unknown, so it cannot be turned off here: the user has to connect again (dossier 10.2, W10).
    private mutating func stranded() -> [Effect] {
        forgetUser()
        return fail(.unauthorized, to: restingState)
    }

    mutating func deadlinePassed(_ passed: Deadline) -> [Effect] {
        guard passed == deadline else { return [] }
        deadline = nil
        switch (passed.name, state) {
        case (.undo, .undoableDisconnection): return turnOff()
        case (.disconnectedNotice, .disconnected): state = restingState
        case (.invalidEmailNotice, .enteringEmail(let entry)): state = .enteringEmail(EmailEntry(entry.text))
        default: break
        }
        return []
    }

    /// Continues in another process: questions have no answers here, and deadlines are gone.
    ///
    /// A user who is at the service is still awaited, a disconnection that was not undone is performed, and one that was undone
    /// too late is taken back. Everything else returns to a state in which the user can decide; what may have changed at the
    /// service is fetched.
    mutating func restore() -> [Effect] {
        let purpose = awaited?.purpose
        awaited = nil
        cancelledEnablings = nil
        deadline = nil
        hasAppFailed = false
        switch state {
        case .idle: return []
        case .unavailable: return [.gather(ask(.prepare), .capabilities)]
        case .enteringEmail(let entry):
            state = .enteringEmail(EmailEntry(entry.text))
            return []
        case .loading, .loadingFailed:
            state = .idle
            return appear()
        case .connecting where attempt == nil:
            switch purpose {
            case .keep, .confirmKept, .enableKept: return [.fetch(ask(.confirmKept))]
            default: return [.fetch(ask(.confirm))]
            }
        case .verifying, .creatingAccount, .connecting:
            attempt = nil
            state = restingState
        // The user has turned it off, and did not undo it while that was shown.
        case .undoableDisconnection: return turnOff()
        default: state = restingState
        }
        return [.fetch(ask(.refresh))]
    }
}
