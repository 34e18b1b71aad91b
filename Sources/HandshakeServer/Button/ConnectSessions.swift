#if Server
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
/// over marks it with a lease; when it dies, the next look after the lease brings the activation back to where
/// the user can decide.
struct ConnectSessions: Sendable {
    /// Seconds for which a process may be at work before others take it for dead.
    static let lease = 60.0

    let settings: ConnectButtonSettings
    let accounts: Handshake
    /// Where IFTTT is, by the client whose accounts the user tokens are.
    let hosts: Hosts
    var vault: any Vault { accounts.vault }
    let log: Logger
    let accountLookUps: RateLimit
    let looks = UnattendedLooks(most: 256)
    let work = BackgroundWork()

    /// - Throws: ``HandshakeServerError/configuration(member:problem:)`` for settings with which nothing works, or which say
    ///   something else than the accounts.
    init(settings: ConnectButtonSettings, accounts: Handshake, log: Logger) throws(HandshakeServerError) {
        try settings.check()
        let clients = accounts.clients.filter { $0.service.name == Service.ifttt.name }
        guard clients.count == 1, let client = clients.first else {
            throw .configuration(
                member: "accounts", problem: "they need one client of \(Service.ifttt.name), and have \(clients.count)")
        }
        let hosts = Hosts(of: client.service)
        guard settings.analytics.map({ $0.hosts == hosts }) ?? true else {
            throw .configuration(member: "analytics", problem: "they go to another IFTTT than the accounts' client")
        }
        self.hosts = hosts
        self.settings = settings
        self.accounts = accounts
        self.log = log
        accountLookUps = RateLimit(settings.limits.accountLookUps)
    }

    /// One user and one connection.
    struct Place: Sendable {
        let user: ConnectButtonUser
        let offer: ConnectButtonOffer

        var key: VaultKey { Self.key(of: user, offer.connection) }

        static func key(of user: ConnectButtonUser, _ connection: ConnectionID) -> VaultKey {
            VaultKey(.activation, [connection.rawValue, digest(of: user)])
        }

        static func digest(of user: ConnectButtonUser) -> String {
            Base64URL.encode(SHA256.hash(data: Array(user.id.utf8)))
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

    /// What happens to a session, in one go under the vault's lock.
    struct Turn: Sendable {
        /// The locale of the page.
        var locale: ConnectButtonLocale?
        /// The token of the session that it is about; nil for whichever there is, made again for who has none.
        var session: String?
        /// Whether the page may be told where to send the user.
        var opens: @Sendable (ConnectSession) -> Bool = { _ in false }
        /// What the question was asked with whose answer this is.
        var askedWith: UserToken?
        /// Takes the event in. What it throws leaves everything as it is.
        let change: @Sendable (inout ConnectSession) throws -> [ConnectActivation.Effect]
    }

    /// How it stands, from the vault alone; nil when there is no session. What is overdue is done first.
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

    /// Takes in what the user did. What follows from it at IFTTT goes on behind the answer.
    ///
    /// - Throws: ``RequestRefusal`` for a token that is not this session's, and for a look-up too many.
    func take(
        _ message: ConnectButtonMessage, at place: Place, in locale: ConnectButtonLocale
    ) async throws -> Step {
        let (now, random) = (settings.time.now(), settings.random)
        // What is overdue comes first, so that the message is about what the page has shown.
        guard let session = try await peek(at: place), Secret(message.token).matches(Secret(session.token)) else {
            throw RequestRefusal.staleToken
        }
        let opens: @Sendable (ConnectSession) -> Bool = { session in
            message.event == .proceed && session.page == message.page && session.isCurrent(message.revision)
        }
        let turn = Turn(locale: locale, session: session.token, opens: opens) { session in
            let interrupts = message.event.isInterruption && session.mayInterrupt(message.revision)
            // A double tap, or another page: it is about what is no longer so.
            guard session.isCurrent(message.revision) || interrupts else { return [] }
            session.touchedAt = now
            if session.destination != nil, opens(session) { return [] }
            var effects: [ConnectActivation.Effect] = []
            if message.event == .turnOn, session.asksForEmail(elsewhereThan: message.page) {
                effects += session.activation.handle(.cancel)
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

    /// Takes in a redirect.
    func comeBack(_ url: String, at place: Place) async throws -> Step {
        let now = settings.time.now()
        let turn = Turn { session in
            let effects = session.activation.handle(.redirected(url, at: now))
            if !effects.contains(where: \.isRefusal) { session.touchedAt = now }
            return effects
        }
        return try await advance(turn, at: place)
    }

    /// Says that the app has configured a pending connection, and waits for what IFTTT says of it.
    func configured(_ place: Place) async throws -> ConnectSession {
        try await Task {
            let step = try await self.step(Turn { $0.activation.handle(.configurationSaved) }, at: place)
            guard let step else { throw RequestRefusal.staleToken }
            return try await finish(step, at: place).session
        }.value
    }

    /// Takes an event in, and does all that follows from it behind the caller. It ends when the session does: an answer makes no
    /// new one.
    ///
    /// - Throws: ``RequestRefusal/staleToken`` when the session that the turn is about is no more.
    private func advance(_ turn: Turn, at place: Place) async throws -> Step {
        // What a user has begun is stored also when the page is left.
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

    /// Does all that follows from a step.
    func finish(_ first: Step, at place: Place) async throws -> Step {
        var step = first
        var questions = step.effects[...]
        while let effect = questions.popFirst() {
            guard let answer = await answer(to: effect, place) else { continue }
            // Who was cancelled has no answer.
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

    /// One turn, under the vault's lock; nil when the session that it is about is no more.
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

    /// The session as stored, or a new one for who has none or has been away for longer than an attempt lives. A button
    /// that is off takes over what has changed: the page's locale, for IFTTT's pages to come, the app's settings, and the
    /// user's address.
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
        // A clock that was set back ends nothing.
        session.touchedAt = min(session.touchedAt, now)
        if now - session.touchedAt > configuration.attemptLifetime {
            session.activation = activation.restarted(configuration, isLoaded: false)
            session.touchedAt = now
            session.revision += 1
        } else if activation.state == .initial,
            // Beginning again loses the reason that is shown: only the page's locale is worth that.
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
                // The page is told, also where it shows the same as before.
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

    /// Does what may be done once the new state is stored.
    private func announce(_ effect: ConnectActivation.Effect, _ place: Place) async {
        switch effect {
        case .deliver(let outcome): await settings.ended(place.user.id, place.offer.connection, outcome)
        case .refused(let refusal):
            log.notice("a redirect was not taken", metadata: ["reason": "\(refusal.rawValue)"])
        case .report(let event): await count(event, place)
        case .start(_, let seconds):
            // When this process ends before, or the app has set longer than a day, the next look does it.
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
