import ConnectButton
import Crypto
import HTTPTypes
import Handshake
import IFTTTConnect
import Logging
import OAuth

/// Runs the activations of many users: takes an event in under the vault's lock, does outside of it what the
/// activation asks for, and takes the answers in.
///
/// Everything is in the vault, so any process can go on with what another one has begun. A process that takes work
/// over marks it with a lease; when it dies, whoever looks next after the lease brings the activation back to where
/// the user can decide.
struct ConnectSessions: Sendable {
    /// Seconds for which a process may be at work before others take it for dead.
    static let lease = 60.0

    let settings: ConnectButtonSettings
    let vault: any Vault
    let accounts: Handshake
    let log: Logger

    /// One user and one connection.
    struct Place: Sendable {
        let user: ConnectButtonUser
        let offer: ConnectButtonOffer

        var key: VaultKey {
            let digest = SHA256.hash(data: Array(user.id.utf8))
            return VaultKey(.activation, [offer.connection.rawValue, Base64URL.encode(digest)])
        }
    }

    /// What came of an event.
    struct Step: Sendable {
        var session: ConnectSession
        /// What is to be done now, in order.
        var effects: [ConnectActivation.Effect]
        /// Where the user is to go.
        var open: String?
        /// Why a redirect was not taken.
        var refusal: RedirectRefusal?
    }

    typealias Change = @Sendable (inout ConnectSession) -> [ConnectActivation.Effect]

    /// Looks how it stands, asking IFTTT when that is not known or was asked too long ago.
    ///
    /// - Parameters:
    ///   - place: whose, and which connection.
    ///   - locale: the locale of the page.
    func look(at place: Place, in locale: ConnectButtonLocale) async throws -> ConnectSession {
        let (now, freshness) = (settings.time.now(), settings.freshness)
        return try await run(place, locale: locale) { session in
            guard abs(now - session.lookedAt) > freshness else { return [] }
            session.lookedAt = now
            return session.activation.state == .loadingFailed
                ? session.activation.handle(.retryLoading) : session.activation.handle(.refresh)
        }.session
    }

    /// How it stands, from the vault alone. What is overdue is done first.
    func peek(at place: Place) async throws -> ConnectSession? {
        guard let session = try await vault.record(place.key).flatMap(ConnectSession.init(stored:)) else { return nil }
        let now = settings.time.now()
        guard session.isDue(now: now) || session.isOrphaned(now: now) else { return session }
        return try await run(place, locale: nil) { _ in [] }.session
    }

    /// Takes in what the user did.
    ///
    /// - Throws: ``RequestRefusal`` for a token that is not this session's.
    func take(
        _ message: ConnectButtonMessage, at place: Place, in locale: ConnectButtonLocale
    ) async throws -> Step {
        let (now, random) = (settings.time.now(), settings.random)
        let token = Secret(message.token)
        let current =
            if let session = try await peek(at: place) { session } else { try await look(at: place, in: locale) }
        guard token.matches(Secret(current.token)) else {
            throw RequestRefusal(
                .forbidden, "stale_token", "The page is older than the session; ask for the state again")
        }
        var step = try await run(place, locale: locale) { session in
            // A double tap, or another tab: it is about what is no longer so.
            guard message.revision == session.revision else { return [] }
            session.touchedAt = now
            let event = message.event.activationEvent(
                for: session.activation, at: now, attempt: { AttemptState(random: random) })
            return event.map { session.activation.handle($0) } ?? []
        }
        if message.event == .proceed, message.revision == step.session.revision,
            case .goingToService = step.session.activation.state
        {
            let id = await anonymousID(of: place)
            step.open = step.session.destination.map { CountedAddress($0).with(id) }
        }
        return step
    }

    /// Takes in a redirect.
    func comeBack(_ url: String, at place: Place) async throws -> Step {
        let now = settings.time.now()
        return try await run(place, locale: nil) { session in
            let effects = session.activation.handle(.redirected(url, at: now))
            if !effects.contains(where: \.isRefusal) { session.touchedAt = now }
            return effects
        }
    }

    /// Says that the app has configured a pending connection.
    func configured(_ place: Place) async throws -> ConnectSession {
        try await run(place, locale: nil) { $0.activation.handle(.configurationSaved) }.session
    }

    /// Takes an event in and does all that follows from it. What a user has begun is finished also when the page is
    /// left: the work does not end with the request.
    private func run(_ place: Place, locale: ConnectButtonLocale?, _ change: @escaping Change) async throws -> Step {
        try await Task {
            var step = try await self.step(place, locale: locale, change)
            var questions = step.effects[...]
            while let effect = questions.popFirst() {
                guard let event = await answer(to: effect, place) else { continue }
                let next = try await self.step(place, locale: nil) { $0.activation.handle(event) }
                questions += next.effects
                step.session = next.session
                step.open = next.open ?? step.open
            }
            // Somebody who went back meanwhile is not sent away.
            if case .goingToService = step.session.activation.state {} else { step.open = nil }
            return step
        }.value
    }

    /// One event, under the vault's lock.
    private func step(_ place: Place, locale: ConnectButtonLocale?, _ change: @escaping Change) async throws -> Step {
        let step = try await vault.update(place.key) { record in
            let now = settings.time.now()
            let stored = await record.contents.flatMap(ConnectSession.init(stored:))
            var session = try current(stored, place, locale: locale, now: now)
            let before = ConnectButtonState(session.activation)
            var effects = catchUp(&session, now: now)
            effects += change(&session)
            var step = Step(session: session, effects: effects)
            try await settle(&step, place, now: now)
            if stored != nil, ConnectButtonState(step.session.activation) != before { step.session.revision += 1 }
            try await record.replace(with: try step.session.stored())
            return step
        }
        for effect in step.effects { await announce(effect, place, step.session) }
        return step
    }

    /// The session as stored, or a new one for who has none or has been away for longer than an attempt lives. A
    /// button that is off takes over the page's locale, for IFTTT's pages to come.
    private func current(
        _ stored: ConnectSession?, _ place: Place, locale: ConnectButtonLocale?, now: Double
    ) throws -> ConnectSession {
        let wanted = locale?.tag ?? stored?.activation.configuration.locale
        let configuration = try configuration(of: place, locale: wanted)
        guard var session = stored else {
            return ConnectSession(
                ConnectActivation(configuration), token: Base64URL.encode(settings.random.bytes(32)), now: now)
        }
        let activation = session.activation
        guard session.deadline == nil, !session.isWaiting, !activation.isPendingConfiguration else { return session }
        if abs(now - session.touchedAt) > configuration.attemptLifetime {
            session.activation = ConnectActivation(configuration)
            session.destination = nil
            session.touchedAt = now
            session.revision += 1
        } else if activation.state == .initial, activation.configuration.locale != wanted,
            let connection = activation.connection
        {
            session.activation = try ConnectActivation(configuration, prefetched: connection)
            // What there is to show is the same, and that it is shown is counted when the page says so.
            _ = session.activation.handle(.appeared)
        }
        return session
    }

    private func configuration(
        of place: Place, locale: String?
    ) throws(ConnectError) -> ConnectActivation.Configuration {
        let id = place.offer.connection
        var configuration = ConnectActivation.Configuration(
            id, returningTo: try ReturnAddress("\(settings.returnAddress)?connection=\(id)"),
            suggestedEmail: place.user.suggestedEmail, skipsConfiguration: place.offer.skipsConfiguration,
            locale: locale)
        configuration.disconnection = place.offer.disconnection
        configuration.tokenDelivery = place.offer.tokenDelivery
        configuration.addresses = ActivationAddresses(settings.hosts)
        configuration.appName = settings.analytics?.appName
        return configuration
    }

    /// What time itself has brought about.
    private func catchUp(_ session: inout ConnectSession, now: Double) -> [ConnectActivation.Effect] {
        var effects: [ConnectActivation.Effect] = []
        if session.isOrphaned(now: now) { effects += session.activation.handle(.restored) }
        if session.isDue(now: now), let due = session.deadline {
            session.deadline = nil
            effects += session.activation.handle(.deadlinePassed(due.deadline))
        }
        if session.activation.state == .idle {
            session.lookedAt = now
            effects += session.activation.handle(.appeared)
        }
        return effects
    }

    /// Does what has to be done before the new state is stored: a token is sealed before anything follows from it.
    private func settle(_ step: inout Step, _ place: Place, now: Double) async throws {
        for effect in step.effects {
            switch effect {
            case .storeToken(let token):
                step.session.refusedToken = nil
                try await tokens(of: place).store(token)
            case .dropToken:
                if let token = try await token(of: place, refused: nil) {
                    step.session.refusedToken = Self.digest(token)
                }
                try await tokens(of: place).forget()
            case .start(let deadline, let seconds):
                step.session.deadline = ConnectSession.Due(deadline: deadline, at: now + seconds)
            case .cancel: step.session.deadline = nil
            case .open(_, let destination):
                step.session.destination = CountedAddress(destination.url).plain
                step.open = destination.url
            case .refused(let refusal): step.refusal = refusal
            default: break
            }
        }
        if !step.session.isWaiting {
            step.session.lease = nil
        } else if step.session.lease == nil || step.effects.contains(where: \.isQuestion) {
            step.session.lease = now + Self.lease
        }
    }

    /// Does what may be done once the new state is stored.
    private func announce(_ effect: ConnectActivation.Effect, _ place: Place, _ session: ConnectSession) async {
        switch effect {
        case .deliver(let outcome): await settings.ended(place.user.id, place.offer.connection, outcome)
        case .refused(let refusal):
            log.notice("a redirect was not taken", metadata: ["reason": "\(refusal.rawValue)"])
        case .report(let event): await count(event, place)
        case .start(_, let seconds):
            // When this process ends before, whoever looks next does it.
            Task {
                try await settings.time.clock.sleep(for: .seconds(seconds))
                _ = try await peek(at: place)
            }
        default: break
        }
    }
}

extension ConnectSessions {
    /// Where a user's token rests.
    func tokens(of place: Place) -> UserTokens {
        UserTokens(in: accounts, as: place.user.id, time: settings.time)
    }

    /// The user's token: the one that rests in the vault, else the app's, unless IFTTT has refused it.
    ///
    /// - Parameter refused: the digest of a token that is not to be used.
    func token(of place: Place, refused: String?) async throws -> UserToken? {
        if let stored = try await tokens(of: place).token() { return stored }
        guard let token = try await settings.partnerToken(place.user.id), Self.digest(token) != refused else {
            return nil
        }
        return token
    }

    static func digest(_ token: UserToken) -> String {
        Base64URL.encode(SHA256.hash(data: Array(token.secret.reveal().utf8)))
    }
}
