#if Server
public import Handshake
public import IFTTTConnect
public import OAuth

/// What a server's Connect Buttons are about and what they need of the app.
public struct ConnectButtonSettings: Sendable {
    /// Where the routes are reached, such as `https://groceries.example/connect`. Register its `/return` at IFTTT.
    public let address: PublicAddress
    /// Where users get back to when IFTTT has sent them to the return route.
    public var page: LocalPath
    /// The connections, each with what it is about. Buttons of other connections are answered with 404.
    public let offers: [ConnectButtonOffer]
    /// How requests reach it.
    public var transport: any Transport
    public var time: TimeSource
    public var random: RandomSource
    /// A one-time code of the app's own OAuth server for a signed-in user, which spares that user the partner's
    /// log-in page; nil leaves it to that page. It is asked for when the user is sent away.
    public var oauthCode: @Sendable (_ user: String) async throws -> Secret?
    /// Where a user's token comes from. `TokenDelivery/partnerServer(_:)` has the app exchange it with its
    /// service key (``UserTokenRoutes``), and is asked each time.
    public var tokenDelivery: @Sendable (_ user: String) -> TokenDelivery
    /// What unlocks an unpublished service.
    public var inviteCode: @Sendable () async throws -> Secret?
    /// Is told how each attempt ended, after it was stored: once, or not at all when the process dies in between. The
    /// browser waits for it, so let it only note what is to be done.
    public var ended: @Sendable (_ user: String, ConnectionID, ConnectActivation.Outcome) async -> Void
    /// Counts what users do to the buttons, those who agreed; nil counts nothing.
    public var analytics: ConnectAnalytics?
    /// How old what IFTTT said may be before it is asked again behind the answer to a page that is opened; zero asks every time.
    public var freshness: Duration
    /// How long the content of a message may take to arrive; from a millisecond to an hour.
    public var patience: Duration
    /// Server-sent events: how often the vault is looked at, after which silence something is sent, and how long one
    /// stream lives.
    public var streams: Streams
    /// How often a user may do what is expensive.
    public var limits: Limits

    /// How often each user may do what is expensive. It is counted in each process; what is refused is
    /// answered with 429 and when to try again, and has changed nothing.
    public struct Limits: Sendable, Hashable {
        /// Messages, of all buttons together: 30 at once and one each second unless stated.
        public var messages = Rate(30, oneEach: .seconds(1))
        /// Questions whether an address has an IFTTT account: 5 at once and one each minute unless stated. Whoever is
        /// signed in could otherwise find out whose addresses have one.
        public var accountLookUps = Rate(5, oneEach: .seconds(60))

        public init() {}
    }

    /// What streams of changes may cost. Every time is from a millisecond to a day, every number at least one.
    public struct Streams: Sendable, Hashable {
        /// How often the vault is looked at, so that changes made by another process are seen.
        public var interval: Duration = .milliseconds(200)
        /// The same while nothing is under way: how soon an open page hears what was changed at IFTTT itself.
        public var restingInterval: Duration = .seconds(3)
        /// For how long a new stream looks at the vault as often as if something were under way: what was known when the page was
        /// opened may be too old, and IFTTT is being asked.
        public var attention: Duration = .seconds(15)
        /// After which silence a comment is sent, so that nothing between takes the stream for dead.
        public var heartbeat: Duration = .seconds(15)
        /// After which time a stream ends; the component then asks from time to time.
        public var lifetime: Duration = .seconds(300)
        /// How often the app is asked whether the user of a stream is still the one of its browser; a stream whose user
        /// has logged out, or is somebody else, ends then.
        public var userInterval: Duration = .seconds(10)
        /// How many streams one user may have in this process.
        public var maximumPerUser = 8
        /// How many streams this process has.
        public var most = 1024

        public init() {}
    }

    /// Settings with defaults for everything that the app can leave out.
    ///
    /// - Parameters:
    ///   - address: where the routes are reached from outside.
    ///   - offers: the connections.
    /// - Throws: ``HandshakeServerError/configuration(member:problem:)`` for no connection, for one that is given twice,
    ///   for a time to take back that is none, and for a lifetime of attempts that is none.
    public init(at address: PublicAddress, offering offers: [ConnectButtonOffer]) throws(HandshakeServerError) {
        guard !offers.isEmpty, Set(offers.map(\.connection)).count == offers.count else {
            throw .configuration(member: "offers", problem: "one for each connection, and at least one")
        }
        guard offers.allSatisfy({ (.seconds(60) ... .seconds(30 * 86_400)).contains($0.attemptLifetime) }) else {
            throw .configuration(member: "attemptLifetime", problem: "it is from a minute to 30 days")
        }
        for case .undoable(let seconds) in offers.map(\.disconnection) where !(seconds.isFinite && seconds >= 0) {
            // No session could be stored with it.
            throw .configuration(member: "disconnection", problem: "\(seconds) is no time to take something back")
        }
        self.address = address
        self.offers = offers
        page = .root
        transport = .platform
        time = .system
        random = .system
        oauthCode = { _ in nil }
        tokenDelivery = { _ in .redirect }
        inviteCode = { nil }
        ended = { _, _, _ in }
        freshness = .seconds(10)
        patience = .seconds(10)
        streams = Streams()
        limits = Limits()
    }

    /// What nobody could work with.
    func check() throws(HandshakeServerError) {
        let (times, days) = (Duration.milliseconds(1) ... .seconds(86_400), Duration.zero ... .seconds(365 * 86_400))
        guard days.contains(freshness) else {
            throw .configuration(member: "freshness", problem: "it is from zero to a year")
        }
        guard times.contains(patience), patience <= .seconds(3600) else {
            throw .configuration(member: "patience", problem: "it is from a millisecond to an hour")
        }
        let pauses = [
            streams.interval, streams.restingInterval, streams.attention, streams.heartbeat, streams.lifetime,
            streams.userInterval,
        ]
        guard pauses.allSatisfy(times.contains), streams.most >= 1, streams.maximumPerUser >= 1 else {
            throw .configuration(
                member: "streams", problem: "every time is from a millisecond to a day, every number at least one")
        }
    }

    /// The address that is to be registered at IFTTT.
    ///
    /// It takes the redirects of users whom a button has sent away, and no others. A `ConnectURL` that stands in a mail or a web page has
    /// no attempt, so its redirect is none that is waited for: give it a page of the app's own to come back to.
    public var callbackURL: String { "\(address)/return" }
}

/// A connection that a server has a button for.
public struct ConnectButtonOffer: Sendable, Hashable {
    public let connection: ConnectionID
    /// Whether the service's configuration page is left out; the app then has one of its own.
    public var skipsConfiguration = false
    /// Where users get back to; nil is ``ConnectButtonSettings/page``.
    public var page: LocalPath?
    /// The app's own set-up of a connection that is turned on without configuration: "Finish setup" leads there. Without it the page
    /// listens to the component's `setup` event.
    public var setUpPage: LocalPath?
    /// What turning off asks of the user.
    public var disconnection = ConnectActivation.Disconnection.confirmed
    /// How long IFTTT's redirect is waited for: an hour unless stated. It may come by mail; from a minute to 30 days.
    public var attemptLifetime = Duration.seconds(3600)

    public init(_ connection: ConnectionID) {
        self.connection = connection
    }
}

/// A user who is signed in to the app.
public struct ConnectButtonUser: Sendable, Hashable {
    /// The app's own identifier. Everything that is kept for the user is kept under it.
    public let id: String
    /// What the email field begins with; nothing is sent before the user confirms it.
    public var suggestedEmail: String

    /// - Parameters:
    ///   - id: the app's own identifier.
    ///   - suggestedEmail: what the email field begins with.
    /// - Throws: ``HandshakeServerError/configuration(member:problem:)`` for an empty identifier: all users without one would have
    ///   the same session, and the same token.
    public init(id: String, suggestedEmail: String = "") throws(HandshakeServerError) {
        guard !id.isEmpty else { throw .configuration(member: "user", problem: "the identifier is empty") }
        self.id = id
        self.suggestedEmail = suggestedEmail
    }
}
#endif
