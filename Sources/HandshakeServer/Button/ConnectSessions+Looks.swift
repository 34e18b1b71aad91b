#if Server
import ConnectButton
import Handshake
import IFTTTConnect
import Logging
import ServiceLifecycle

/// Looking how a connection stands.
extension ConnectSessions {
    /// How long a request waits for IFTTT when nothing is known.
    static let patience = Duration.seconds(3)

    /// Looks how it stands.
    ///
    /// What the vault knows is told immediately. When that is too old IFTTT is asked behind the answer, and whoever follows the
    /// changes hears of it. Only where nothing is known the answer is waited for, and no longer than ``patience``: then it
    /// is loading.
    ///
    /// - Parameters:
    ///   - place: whose, and which connection.
    ///   - locale: the locale of the page.
    /// - Throws: ``RequestRefusal`` when nothing is known and this process is busy with too many.
    func look(at place: Place, in locale: ConnectButtonLocale) async throws -> ConnectSession {
        let entry = looks.enter(place.key)
        let freshness = settings.freshness / .seconds(1)
        var session = try await entry == .free ? begin(place, locale, freshness: freshness) : stored(at: place)
        if session?.isKnown != true, entry != .full {
            await looks.end(of: place.key, within: Self.patience, on: settings.time.clock)
            session = try await stored(at: place) ?? session
        }
        guard let session, session.isKnown || entry != .full else { throw RequestRefusal.busy }
        return session
    }

    /// Asks IFTTT again behind the caller, however fresh what is known; who has no session gets none.
    func lookAnew(at place: Place) async throws {
        guard try await stored(at: place) != nil else { return }
        var entry = looks.enter(place.key)
        if entry == .underway {
            // It may have been answered before what the caller knows of has happened.
            await looks.end(of: place.key, within: Self.patience, on: settings.time.clock)
            entry = looks.enter(place.key)
        }
        guard entry == .free else { return }
        _ = try await begin(place, nil, freshness: 0)
    }

    /// The session as it is in the vault; nil when there is none.
    func stored(at place: Place) async throws -> ConnectSession? {
        try await vault.record(place.key).flatMap(ConnectSession.init(stored:))
    }

    /// Begins a look and leaves it to itself.
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
            looks.leave(place.key)
            throw error
        }
        guard let begun, begun.effects.contains(where: \.isQuestion) else {
            looks.leave(place.key)
            return begun?.session
        }
        Task {
            await finish(begun, unattendedAt: place)
            looks.leave(place.key)
        }
        return begun.session
    }

    /// Brings a look to its end. It ends with the server: what was only to be known is then left to the next look.
    private func finish(_ begun: Step, unattendedAt place: Place) async {
        let isHarmless = begun.effects.allSatisfy { $0.isFetch || !$0.isQuestion }
        do {
            // A user's wish that was overdue is done also while the server goes down.
            if isHarmless {
                _ = try await cancelWhenGracefulShutdown { try await finish(begun, at: place) }
            } else {
                _ = try await finish(begun, at: place)
            }
        } catch is CancellationError {
            await abandon(begun.session, at: place)
        } catch {
            log.warning("a look was not finished", metadata: ["reason": "\(type(of: error))"])
        }
    }

    /// Leaves a session to the next look, whichever process that is.
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
    /// Whether there is something to show besides that it is being loaded.
    fileprivate var isKnown: Bool {
        switch activation.state {
        case .idle, .loading: false
        default: true
        }
    }
}
#endif
