import AsyncSupport
internal import Crypto
import Handshake
import OAuth

/// One synchronization: for whom it runs, what it fetches, and how it ends.
extension PlacesSynchronizer {
    /// The user for whom a synchronization runs.
    struct Session: Sendable {
        /// Calls with the token that was compared, whatever is stored meanwhile.
        let api: ConnectAPI
        let user: String
    }

    func attempt(_ reason: Reason) async -> Outcome {
        var token: UserToken?
        lastFailure = nil
        do {
            try await queueFoundCrossings()
            token = try await storedToken()
            guard let token, let session = try await session(token) else {
                await requireSignIn(token)
                return .noData
            }
            var hasNews = false
            // A crossing goes first; its connections were fetched when its area was registered.
            let known = try await store.connections()
            if reason != .crossing || !known.isComplete { hasNews = try await refresh(known, in: session) }
            if try await upload(in: session) { hasNews = true }
            if known.failure != nil { try await store.change { $0.failure = nil } }
            pace.failures = 0
            changePause(to: configuration.interval)
            return hasNews ? .newData : .noData
        } catch let error as ConnectError where error.problemKind == .unauthorized {
            lastFailure = error
            await refuse(token)
            return .failed
        } catch {
            await fail(error)
            return .failed
        }
    }

    private func storedToken() async throws -> UserToken? {
        do { return try await api.caller.userToken() } catch { throw ConnectError.placing(error) }
    }

    /// Compares the token with those that are known, and asks the service whose it is if it is none of them.
    ///
    /// - Returns: nil for the token that the service refused.
    func session(_ token: UserToken) async throws -> Session? {
        let (fingerprint, api) = (token.fingerprint, api.acting(with: token))
        let known = try await store.connections()
        guard known.refusedToken != fingerprint else { return nil }
        if known.verifiedToken == fingerprint, let user = known.user { return Session(api: api, user: user) }
        guard let user = try await api.me(retry: configuration.retry).login else {
            throw ConnectError.malformed(
                answer: "me", member: "user_login", expected: "the user's name", found: "nothing")
        }
        if known.user == nil { try await forgetPosition() }
        if let owner = known.user, owner != user { try await discardAll() }
        try await store.change { $0.signIn(as: user, by: fingerprint) }
        return Session(api: api, user: user)
    }

    /// Removes where a user was and what waits, because another user has signed in.
    private func discardAll() async throws {
        let discarded = try await inTurn { synchronizer in
            let crossings = try await synchronizer.queue.crossings()
            try await synchronizer.queue.removeAll()
            try await synchronizer.store.removeProgress()
            synchronizer.tracking = nil
            return crossings
        }
        for crossing in discarded { report(.discarded(crossing, .otherUser)) }
    }

    /// Forgets where the device was before its user was known; crossings that were recorded stay.
    private func forgetPosition() async throws {
        try await inTurn { synchronizer in
            try await synchronizer.queueFoundCrossings()
            try await synchronizer.store.removeProgress()
            synchronizer.tracking = nil
        }
    }

    /// - Returns: whether an area changed.
    private func refresh(_ known: WatchedConnections, in session: Session) async throws -> Bool {
        let before = known.regions
        var failure: (any Error)?
        for id in known.watched {
            do {
                let connection = try await session.api.connection(id, retry: configuration.retry)
                let now = time.now()
                try await change(in: session) { $0.update(id, with: connection, at: now) }
            } catch let error as ConnectError where error.problemKind == .notFound {
                let (now, pause) = (time.now(), Double(configuration.interval.components.seconds))
                // A name that never was one is a mistake of the caller that watches it.
                if known[id].fetchedAt == nil { failure = failure ?? error }
                try await change(in: session) { $0.miss(id, at: now, confirmedAfter: pause) }
            } catch let error as ConnectError where error.problemKind != .unauthorized {
                // One that fails keeps the others from nothing.
                failure = failure ?? error
            }
        }
        let connections = try await store.connections()
        await publish(connections)
        if let failure {
            _ = try await upload(in: session)
            throw failure
        }
        return connections.regions != before
    }

    /// Changes the connections unless another process has seen another user meanwhile.
    private func change(in session: Session, _ body: @escaping @Sendable (inout WatchedConnections) -> Void)
        async throws
    {
        try await store.change { if $0.user == session.user { body(&$0) } }
    }

    // MARK: Sign-in

    /// Whether there is a token that the service has not refused.
    ///
    /// - Throws: ``ConnectError/account(_:)`` when the vault cannot be read.
    public var isSignedIn: Bool { get async throws { try await isSignedIn(store.connections()) } }

    func isSignedIn(_ connections: WatchedConnections) async throws -> Bool {
        guard let token = try await storedToken() else { return false }
        return connections.refusedToken != token.fingerprint
    }

    /// Remembers that the service refused a token, for every process.
    private func refuse(_ token: UserToken?) async {
        if let fingerprint = token?.fingerprint {
            do { try await store.change { $0.refusedToken = fingerprint } } catch { return await fail(error) }
        }
        await requireSignIn(token)
    }

    private func requireSignIn(_ token: UserToken?) async {
        changePause(to: min(configuration.signInPause, configuration.interval))
        if let fingerprint = token?.fingerprint, fingerprint != reportedRefusal {
            reportedRefusal = fingerprint
            report(.signInRequired)
        }
        if let connections = try? await store.connections() { await publish(connections) }
    }

    // MARK: Pace

    /// When the next periodic synchronization is due.
    struct Pace {
        var pause: Duration
        var failures = 0
        /// The sleep until then.
        var sleep: Task<Void, any Error>?
        var isShortened = false
    }

    /// Watches connections, besides those of earlier calls, and synchronizes. It does so now and every
    /// ``Configuration/interval``, sooner after a failure, and soon after a sign-in of any process. Runs until the task
    /// is cancelled.
    ///
    /// - Throws: `CancellationError`; ``ConnectError/account(_:)`` when the connections cannot be written.
    public func run(activating connections: [ConnectionID] = []) async throws {
        try await activate(connections)
        while true {
            repeat {
                pace.isShortened = false
                let sleep = Task { [clock = time.clock, pause = pace.pause] in try await clock.sleep(for: pause) }
                pace.sleep = sleep
                await withTaskCancellationHandler {
                    _ = await sleep.result
                } onCancel: {
                    sleep.cancel()
                }
                try Task.checkCancellation()
            } while pace.isShortened
            await synchronize(.periodic)
        }
    }

    private func changePause(to pause: Duration) {
        if pause < pace.pause {
            pace.isShortened = true
            pace.sleep?.cancel()
        }
        pace.pause = pause
    }

    private func fail(_ error: any Error) async {
        guard let error = ConnectError.placing(error) as? ConnectError else { return }
        lastFailure = error
        let failure = WatchedConnections.Failure(code: error.code, time: time.now())
        // What cannot be written is reported by the event.
        _ = try? await store.change { $0.failure = failure }
        report(.synchronizationFailed(error))
        pace.failures += 1
        let backOff = BackOff(first: configuration.failurePause, longest: configuration.interval)
        changePause(to: backOff.pause(afterFailures: pace.failures))
    }
}

extension UserToken {
    /// Tells tokens apart without being one: 16 bytes of the SHA-256, in hexadecimal digits.
    fileprivate var fingerprint: String {
        Hexadecimal.text(of: SHA256.hash(data: Array(secret.reveal().utf8)).prefix(16))
    }
}

extension ConnectAPI {
    /// The same calls with a certain token.
    fileprivate func acting(with token: UserToken) -> ConnectAPI {
        var caller = caller
        caller.userToken = { token }
        return ConnectAPI(caller, at: hosts, through: exchange)
    }
}
