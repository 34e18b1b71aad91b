#if Server
import ConnectButton
import Crypto
import HTTPTypes
import Handshake
import IFTTTConnect
import Logging
import OAuth

/// Runs the activations of many users: applies an event under the vault's lock, performs the activation's effects outside
/// it, and applies their results.
///
/// All state is in the vault, so any process can continue the work of another. A process marks its work with a lease; if
/// it dies, the first request after the lease returns the activation to a state in which the user can
/// decide.
struct ConnectSessions: Sendable {
    /// Seconds after which other processes consider a working process dead.
    static let lease = 60.0

    let settings: ConnectButtonSettings
    let accounts: Handshake
    /// The URLs of IFTTT, from the client of the user tokens.
    let hosts: Hosts
    var vault: any Vault { accounts.vault }
    let log: Logger
    let accountLookUps: RateLimit
    let fetches = BackgroundFetches(maximum: 256)
    let work = BackgroundWork()

    /// - Throws: ``HandshakeServerError/configuration(member:problem:)`` for invalid settings, or for settings that contradict
    ///   the accounts.
    init(settings: ConnectButtonSettings, accounts: Handshake, log: Logger) throws(HandshakeServerError) {
        try settings.check()
        let clients = accounts.clients.filter { $0.service.name == Service.ifttt.name }
        guard clients.count == 1, let client = clients.first else {
            throw .configuration(
                member: "accounts",
                problem: "there must be one client of \(Service.ifttt.name), but there are \(clients.count)")
        }
        let hosts = Hosts(of: client.service)
        guard settings.analytics.map({ $0.hosts == hosts }) ?? true else {
            throw .configuration(
                member: "analytics", problem: "its hosts differ from those of the IFTTT client; pass the same ones")
        }
        self.hosts = hosts
        self.settings = settings
        self.accounts = accounts
        self.log = log
        accountLookUps = RateLimit(settings.limits.accountLookUps)
    }

    /// The state from the vault alone; nil without a session. Applies what is overdue first.
    func peek(at place: Place) async throws -> ConnectSession? {
        guard let session = try await vault.record(place.key).flatMap(ConnectSession.init(stored:)) else { return nil }
        let now = settings.time.now()
        guard session.isDue(now: now) || session.isOrphaned(now: now) else { return session }
        do {
            return try await advance(Turn(session: session.token) { _ in [] }, at: place).session
        } catch let refusal as RequestRefusal where refusal == .staleToken {
            return nil
        }
    }

    /// Applies the user's action. Its effects at IFTTT run in the background.
    ///
    /// - Throws: ``RequestRefusal`` for a token of another session, and beyond the rate limit of look-ups.
    func take(
        _ message: ConnectButtonMessage, at place: Place, in locale: ConnectButtonLocale
    ) async throws -> Step {
        let (now, random) = (settings.time.now(), settings.random)
        // Overdue deadlines come first, so that the message is about what the page shows.
        guard let session = try await peek(at: place), Secret(message.token).matches(Secret(session.token)) else {
            throw RequestRefusal.staleToken
        }
        let opens: @Sendable (ConnectSession) -> Bool = { session in
            message.event == .proceed && session.page == message.page && session.isCurrent(message.revision)
        }
        let turn = Turn(locale: locale, session: session.token, opens: opens) { session in
            let interrupts = message.event.isInterruption && session.mayInterrupt(message.revision)
            // A double tap, or another page: the message is about an outdated state.
            guard session.isCurrent(message.revision) || interrupts else { return [] }
            guard !session.isSuperseded(message) else { return [] }
            let (before, revision) = (session.activation.state, session.revision)
            defer { session.noteDecision(about: revision, from: before) }
            session.touchedAt = now
            if session.destination != nil, opens(session) { return [] }
            var effects: [ConnectActivation.Effect] = []
            if message.event.isBeginning, let withdrawal = session.withdrawal(from: message.page) {
                effects += session.activation.handle(withdrawal)
                session.revision += 1
            }
            if !message.event.isInterruption { session.page = message.page }
            let event = message.event.activationEvent(
                for: session.activation, at: now, attempt: { AttemptState(random: random) })
            effects += event.map { session.activation.handle($0) } ?? []
            if effects.contains(where: \.isAccountLookUp) { try accountLookUps.check(place.user.id, now: now) }
            return effects
        }
        return try await advance(turn, at: place)
    }

    /// Applies a redirect.
    func handleRedirect(_ url: String, at place: Place) async throws -> Step {
        let now = settings.time.now()
        let turn = Turn { session in
            let effects = session.activation.open(url, at: now)
            if !effects.contains(where: \.isRefusal) { session.touchedAt = now }
            return effects
        }
        return try await advance(turn, at: place)
    }

    /// Records that the app has configured a pending connection, and awaits IFTTT's answer.
    func configured(_ place: Place) async throws -> ConnectSession {
        try await Task {
            let step = try await self.step(Turn { $0.activation.handle(.configurationSaved) }, at: place)
            guard let step else { throw RequestRefusal.staleToken }
            return try await finish(step, at: place).session
        }.value
    }

    /// Applies an event, and performs its effects in the background. It ends with the session: an answer never creates a
    /// new one.
    ///
    /// - Throws: ``RequestRefusal/staleToken`` when the session no longer exists.
    private func advance(_ turn: Turn, at place: Place) async throws -> Step {
        // In an unstructured task: a user's action is stored even when the page is closed.
        let step = try await Task { try await self.step(turn, at: place) }.value
        guard let step else { throw RequestRefusal.staleToken }
        guard step.effects.contains(where: \.isQuestion) else { return step }
        work.begin(place.key) {
            do {
                _ = try await finish(step, at: place)
            } catch {
                log.warning("an attempt was not finished", metadata: ["reason": "\(type(of: error))"])
            }
        }
        return step
    }

    /// Performs the effects of a step.
    func finish(_ first: Step, at place: Place) async throws -> Step {
        var step = first
        var questions = step.effects[...]
        while let effect = questions.popFirst() {
            guard let answer = await answer(to: effect, place) else { continue }
            // A cancelled question has no answer.
            try Task.checkCancellation()
            let turn = Turn(session: step.session.token, askedWith: answer.askedWith) {
                $0.activation.handle(answer.answer)
            }
            guard let next = try await self.step(turn, at: place) else { break }
            questions += next.effects
            step.session = next.session
        }
        return step
    }

    /// Applies one turn under the vault's lock; nil when its session no longer exists.
    func step(_ turn: Turn, at place: Place) async throws -> Step? {
        let step = try await vault.update(place.key) { record -> Step? in
            let now = settings.time.now()
            let stored = await record.contents.flatMap(ConnectSession.init(stored:))
            if let session = turn.session, session != stored?.token { return nil }
            var session = try current(stored, place, locale: turn.locale, now: now)
            let isNew = stored == nil
            var before = ConnectButtonState(session.activation)
            let isEndOfNotice = session.isDue(now: now) && session.deadline?.deadline.name == .invalidEmailNotice
            var effects = catchUp(&session, now: now)
            if !isNew { session.noteChange(from: before, isEndOfNotice: isEndOfNotice) }
            before = ConnectButtonState(session.activation)
            let opens = turn.opens(session)
            effects += try turn.change(&session)
            if !isNew { session.noteChange(from: before) }
            var step = Step(session: session, effects: effects)
            if opens { swap(&step.open, &step.session.destination) }
            try await settle(&step, place, stored, turn.askedWith, now: now)
            if step.session != stored { try await record.replace(with: try step.session.stored()) }
            return step
        }
        guard let step else { return nil }
        for effect in step.effects { await announce(effect, place) }
        return step
    }

    /// The stored session, or a new one when there is none. It begins again when the user has been away for longer than an
    /// attempt lives. A button that is off adopts what has changed: the page's locale for IFTTT's pages, the app's settings,
    /// and the user's email address.
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
        guard session.deadline == nil, !session.isWaiting else { return session }
        // A clock that was set back expires nothing.
        session.touchedAt = min(session.touchedAt, now)
        if now - session.touchedAt > configuration.attemptLifetime {
            // What rests stays as it is: the user's next tap is about it.
            let rests = [.initial, .connected, .pendingConfiguration].contains(activation.state)
            session.activation = activation.restarted(configuration, isLoaded: rests)
            session.touchedAt = now
            let isSame = ConnectButtonState(session.activation) == ConnectButtonState(activation)
            if !rests || !isSame { session.revision += 1 }
        } else if activation.state == .initial,
            // A restart loses the displayed error: only a new locale is worth that.
            activation.failure == nil
                ? activation.configuration != configuration : activation.configuration.locale != wanted
        {
            session.activation = activation.restarted(configuration, isLoaded: true)
        }
        return session
    }

    private func configuration(
        of place: Place, locale: String?
    ) throws(ConnectError) -> ConnectActivation.Configuration {
        let id = place.offer.connection
        var configuration = ConnectActivation.Configuration(
            id, callback: try CallbackURL("\(settings.callbackURL)?connection=\(id)"),
            suggestedEmail: place.user.suggestedEmail, skipsConfiguration: place.offer.skipsConfiguration,
            locale: locale)
        configuration.disconnection = place.offer.disconnection
        configuration.takesTokenFromRedirect = settings.tokenDelivery(place.user.id).isFromRedirect
        configuration.addresses = ActivationAddresses(hosts)
        configuration.attemptLifetime = place.offer.attemptLifetime / .seconds(1)
        configuration.appName = settings.analytics?.appName
        return configuration
    }

    /// Applies the deadlines that have passed.
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

    /// Performs effects that come before storing the new state: a token is stored before anything depends on it.
    private func settle(
        _ step: inout Step, _ place: Place, _ stored: ConnectSession?, _ askedWith: UserToken?, now: Double
    ) async throws {
        for effect in step.effects {
            switch effect {
            case .storeToken(let token):
                step.session.welcome(token)
                try await tokens(of: place.user).store(token)
            case .dropToken:
                guard let askedWith else { continue }
                step.session.refuse(askedWith)
                try await tokens(of: place.user).forget(ifStill: askedWith)
            case .forgetToken: try await tokens(of: place.user).forget()
            case .start(let deadline, let seconds):
                step.session.deadline = ConnectSession.Due(deadline: deadline, at: now + seconds, seconds: seconds)
            case .cancel: step.session.deadline = nil
            case .open(_, let destination):
                step.session.destination = destination.url
                // The page gets a new revision even when it shows the same as before.
                if step.session.revision == stored?.revision { step.session.revision += 1 }
            case .refused(let refusal): step.refusal = refusal
            default: break
            }
        }
        if case .goingToService = step.session.activation.state {} else { step.session.destination = nil }
        if !step.session.isWaiting {
            step.session.lease = nil
        } else if step.session.lease == nil || step.effects.contains(where: \.isQuestion) {
            step.session.lease = now + Self.lease
        }
    }

    /// Performs effects that come after storing the new state.
    private func announce(_ effect: ConnectActivation.Effect, _ place: Place) async {
        switch effect {
        case .deliver(let outcome): await settings.ended(place.user.id, place.offer.connection, outcome)
        case .refused(let refusal):
            log.notice("a redirect was rejected", metadata: ["reason": "\(refusal.rawValue)"])
        case .report(let event): await count(event, place)
        case .start(_, let seconds):
            // If this process ends earlier, or the deadline is more than a day away, the next request applies it.
            guard (0...86_400).contains(seconds) else { return }
            Task {
                try await settings.time.clock.sleep(for: .seconds(seconds))
                _ = try await peek(at: place)
            }
        default: break
        }
    }
}
#endif
