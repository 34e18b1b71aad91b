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
    /// Where IFTTT is.
    public var hosts: Hosts
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
    /// How old, in seconds, what IFTTT said may be before a page that is opened asks again.
    public var freshness: Double
    /// How long the content of a message may take to arrive.
    public var patience: Duration
    /// Server-sent events: how often the vault is looked at, after which silence something is sent, and how long one
    /// stream lives.
    public var streams: Streams
    /// How often a user may do what costs somebody something.
    public var limits: Limits

    /// How often each user may do what costs somebody something. It is counted in each process; what is refused is
    /// answered with 429 and when to try again, and has changed nothing.
    public struct Limits: Sendable, Hashable {
        /// Messages, of all buttons together: 30 at once and one each second unless stated.
        public var messages = Rate(burst: 30, interval: 1)
        /// Questions whether an address has an IFTTT account: 5 at once and one each minute unless stated. Whoever is
        /// signed in could otherwise find out whose addresses have one.
        public var accountLookUps = Rate(burst: 5, interval: 60)

        public init() {}
    }

    /// So many at once, and one more after each interval.
    public struct Rate: Sendable, Hashable {
        /// How many at once; at least one.
        public var burst: Int
        /// Seconds until there is room for one more.
        public var interval: Double

        public init(burst: Int, interval: Double) {
            self.burst = burst
            self.interval = interval
        }
    }

    /// What streams of changes may cost.
    public struct Streams: Sendable, Hashable {
        /// How often the vault is looked at, so that changes made by another process are seen.
        public var interval: Duration = .milliseconds(500)
        /// After which silence a comment is sent, so that nothing between takes the stream for dead.
        public var heartbeat: Duration = .seconds(15)
        /// After which time a stream ends; the component then asks from time to time.
        public var lifetime: Duration = .seconds(300)
        /// How often the app is asked whether the user of a stream is still the one of its browser; a stream whose user
        /// has logged out, or is somebody else, ends then.
        public var userInterval: Duration = .seconds(10)
        /// How many streams one user may have in this process.
        public var mostPerUser = 8
        /// How many streams this process has.
        public var most = 1024

        public init() {}
    }

    /// Settings with defaults for everything that the app can leave out.
    ///
    /// - Parameters:
    ///   - address: where the routes are reached from outside.
    ///   - offers: the connections.
    /// - Throws: ``HandshakeServerError/configuration(member:problem:)`` for no connection, for one that is given twice, and
    ///   for a time to take back that is none.
    public init(at address: PublicAddress, offering offers: [ConnectButtonOffer]) throws(HandshakeServerError) {
        guard !offers.isEmpty, Set(offers.map(\.connection)).count == offers.count else {
            throw .configuration(member: "offers", problem: "one for each connection, and at least one")
        }
        for case .undoable(let seconds) in offers.map(\.disconnection) where !(seconds.isFinite && seconds >= 0) {
            // No session could be stored with it.
            throw .configuration(member: "disconnection", problem: "\(seconds) is no time to take something back")
        }
        self.address = address
        self.offers = offers
        page = .root
        hosts = .production
        transport = .platform
        time = .system
        random = .system
        oauthCode = { _ in nil }
        tokenDelivery = { _ in .redirect }
        inviteCode = { nil }
        ended = { _, _, _ in }
        freshness = 10
        patience = .seconds(10)
        streams = Streams()
        limits = Limits()
    }

    /// The address that is to be registered at IFTTT.
    public var returnAddress: String { "\(address)/return" }
}

/// A connection that a server has a button for.
public struct ConnectButtonOffer: Sendable, Hashable {
    public let connection: ConnectionID
    /// Whether the service's configuration page is left out; the app then has one of its own.
    public var skipsConfiguration = false
    /// Where users get back to; nil is ``ConnectButtonSettings/page``.
    public var page: LocalPath?
    /// What turning off asks of the user.
    public var disconnection = ConnectActivation.Disconnection.confirmed

    public init(_ connection: ConnectionID) {
        self.connection = connection
    }
}

/// Somebody who is signed in to the app.
public struct ConnectButtonUser: Sendable, Hashable {
    /// The app's own identifier. Everything that is kept for the user is kept under it.
    public let id: String
    /// What the email field begins with; nothing is sent before the user confirms it.
    public var suggestedEmail: String

    public init(id: String, suggestedEmail: String = "") {
        self.id = id
        self.suggestedEmail = suggestedEmail
    }
}
