#if Server
import ConnectButton
import Handshake
import IFTTTConnect
import Logging
import ServiceLifecycle

/// Reading the state of a connection.
extension ConnectSessions {
    /// How long a request waits for IFTTT when nothing is known.
    static let fetchTimeout = Duration.seconds(3)

    /// Reads the state.
    ///
    /// Returns the stored state immediately. When it is stale, IFTTT is asked in the background, and streams of changes
    /// show the result. Only without stored state the answer is awaited, up to ``fetchTimeout``: after that, the button shows that it
    /// is loading.
    ///
    /// - Parameters:
    ///   - place: the user and the connection.
    ///   - locale: the locale of the page.
    /// - Throws: ``RequestRefusal`` when nothing is known and this process has too many requests in progress.
    func look(at place: Place, in locale: ConnectButtonLocale) async throws -> ConnectSession {
        let entry = fetches.enter(place.key)
        let freshness = settings.freshness / .seconds(1)
        var session = try await entry == .free ? begin(place, locale, freshness: freshness) : stored(at: place)
        if session?.isKnown != true, entry != .full {
            await fetches.end(of: place.key, within: Self.fetchTimeout, on: settings.time.clock)
            session = try await stored(at: place) ?? session
        }
        guard let session, session.isKnown || entry != .full else { throw RequestRefusal.busy }
        return session
    }

    /// Asks IFTTT again in the background, whatever the age of the state. Does nothing without a session.
    func refetch(at place: Place) async throws {
        guard try await stored(at: place) != nil else { return }
        var entry = fetches.enter(place.key)
        if entry == .underway {
            // The running request may have been answered before the change that the caller knows of.
            await fetches.end(of: place.key, within: Self.fetchTimeout, on: settings.time.clock)
            entry = fetches.enter(place.key)
        }
        guard entry == .free else { return }
        _ = try await begin(place, nil, freshness: 0)
    }

    /// The stored session; nil when there is none.
    func stored(at place: Place) async throws -> ConnectSession? {
        try await vault.record(place.key).flatMap(ConnectSession.init(stored:))
    }

    /// Starts a fetch in the background.
    private func begin(
        _ place: Place, _ locale: ConnectButtonLocale?, freshness: Double
    ) async throws -> ConnectSession? {
        let now = settings.time.now()
        let turn = Turn(locale: locale) { session in
            guard abs(now - session.lookedAt) >= freshness else { return [] }
            session.lookedAt = now
            return session.activation.state == .loadingFailed
                ? session.activation.handle(.retryLoading) : session.activation.handle(.refresh)
        }
        let begun: Step?
        do {
            begun = try await step(turn, at: place)
        } catch {
            fetches.leave(place.key)
            throw error
        }
        guard let begun, begun.effects.contains(where: \.isQuestion) else {
            fetches.leave(place.key)
            return begun?.session
        }
        Task {
            await finish(begun, unattendedAt: place)
            fetches.leave(place.key)
        }
        return begun.session
    }

    /// Completes a fetch. It is cancelled with the server; the next fetch replaces it.
    private func finish(_ begun: Step, unattendedAt place: Place) async {
        let isHarmless = begun.effects.allSatisfy { $0.isFetch || !$0.isQuestion }
        do {
            // An overdue action of the user is carried out even during shutdown.
            if isHarmless {
                _ = try await cancelWhenGracefulShutdown { try await finish(begun, at: place) }
            } else {
                _ = try await finish(begun, at: place)
            }
        } catch is CancellationError {
            await abandon(begun.session, at: place)
        } catch {
            log.warning("a fetch was not finished", metadata: ["reason": "\(type(of: error))"])
        }
    }

    /// Leaves a session to the next fetch, in whichever process.
    private func abandon(_ begun: ConnectSession, at place: Place) async {
        // Not in the task that was cancelled: no vault would be waited for.
        await Task {
            try? await vault.update(place.key) { record in
                guard var session = await record.contents.flatMap(ConnectSession.init(stored:)),
                    session.token == begun.token, session.lookedAt == begun.lookedAt
                else { return }
                session.lookedAt = 0
                session.lease = nil
                try await record.replace(with: try session.stored())
            }
        }.value
    }
}

extension ConnectSession {
    /// Whether the state is known, beyond that it is loading.
    fileprivate var isKnown: Bool {
        switch activation.state {
        case .idle, .loading: false
        default: true
        }
    }
}
#endif
