#if Server
public import Handshake
public import IFTTTConnect
public import OAuth

/// The connections of a server's Connect Buttons, and what they need of the app.
public struct ConnectButtonSettings: Sendable {
    /// The public URL of the routes, such as `https://groceries.example/connect`. Register its `/return` at IFTTT.
    public let address: PublicAddress
    /// The page that users return to from IFTTT.
    public var page: LocalPath
    /// The connections with a button. Others are answered with 404.
    public let offers: [ConnectButtonOffer]
    /// The HTTP transport to IFTTT.
    public var transport: any Transport
    public var time: TimeSource
    public var random: RandomSource
    /// A one-time code of the app's own OAuth server for a signed-in user. It skips the partner's log-in page; nil
    /// shows that page. Called when the user goes to IFTTT.
    public var oauthCode: @Sendable (_ user: String) async throws -> Secret?
    /// How a user's token is obtained; called each time.
    public var tokenDelivery: @Sendable (_ user: String) -> TokenDelivery
    /// The invite code of an unpublished service.
    public var inviteCode: @Sendable () async throws -> Secret?
    /// Called once after an attempt's outcome was stored. It is never called when the process dies in between. The
    /// browser waits for it, so only record what is to be done.
    public var ended: @Sendable (_ user: String, ConnectionID, ConnectActivation.Outcome) async -> Void
    /// Counts what consenting users do; nil counts nothing.
    public var analytics: ConnectAnalytics?
    /// The age from which cached state is refreshed when a page opens. The refresh runs in the background; zero
    /// refreshes every time.
    public var freshness: Duration
    /// The timeout for receiving a message; from a millisecond to an hour.
    public var requestTimeout: Duration
    /// The intervals and limits of server-sent events.
    public var streams: Streams
    /// Rate limits for expensive requests.
    public var limits: Limits

    /// Rate limits per user and process. A refused request is answered with 429 and `Retry-After`, and changes
    /// nothing.
    public struct Limits: Sendable, Hashable {
        /// Messages of all buttons together. Default: a burst of 30, then one each second.
        public var messages = Rate(30, oneEach: .seconds(1))
        /// Look-ups whether an email address has an IFTTT account. Default: a burst of 5, then one each minute. Without a
        /// limit, a signed-in user could test other people's addresses.
        public var accountLookUps = Rate(5, oneEach: .seconds(60))

        public init() {}
    }

    /// The limits of streams. Every time is from a millisecond to a day, every number at least one.
    public struct Streams: Sendable, Hashable {
        /// How often the vault is polled for changes by other processes.
        public var interval: Duration = .milliseconds(200)
        /// How often the vault is polled while nothing is in progress. It is how soon an open page shows a change made
        /// at IFTTT.
        public var restingInterval: Duration = .seconds(3)
        /// How long a new stream polls at ``interval``. The state at its start may be stale, and IFTTT is being asked.
        public var attention: Duration = .seconds(15)
        /// The silence after which a comment is sent. The comment stops proxies from closing the stream.
        public var heartbeat: Duration = .seconds(15)
        /// How long a stream lives; the component then polls.
        public var lifetime: Duration = .seconds(300)
        /// How long nothing may be in progress until a stream ends. The component then looks twice more, and again when the page is shown.
        public var restingLifetime: Duration = .seconds(60)
        /// How often the app is asked for the browser's user. The stream ends when the user has logged out or changed.
        public var userInterval: Duration = .seconds(10)
        /// The maximum number of streams per user and process.
        public var maximumPerUser = 8
        /// The maximum number of streams per process.
        public var maximumCount = 1024

        public init() {}
    }

    /// Creates settings with defaults for everything optional.
    ///
    /// - Parameters:
    ///   - address: the public URL of the routes.
    ///   - offers: the connections.
    ///   - tokens: how a user's token is obtained; called each time. With `TokenDelivery/partnerServer(_:)` the app exchanges it
    ///     with its service key (``UserTokenRoutes``), and a token in a redirect is ignored (W14).
    /// - Throws: ``HandshakeServerError/configuration(member:problem:)`` for no connection, for a connection that comes twice,
    ///   and for an undo time or an attempt lifetime out of range.
    public init(
        at address: PublicAddress, offering offers: [ConnectButtonOffer],
        tokens: @escaping @Sendable (_ user: String) -> TokenDelivery
    ) throws(HandshakeServerError) {
        guard !offers.isEmpty, Set(offers.map(\.connection)).count == offers.count else {
            throw .configuration(
                member: "offers", problem: "there must be at least one, and only one for each connection")
        }
        guard offers.allSatisfy({ (.seconds(60) ... .seconds(30 * 86_400)).contains($0.attemptLifetime) }) else {
            throw .configuration(member: "attemptLifetime", problem: "it must be from a minute to 30 days")
        }
        for case .undoable(let seconds) in offers.map(\.disconnection) where !(seconds.isFinite && seconds >= 0) {
            // A session with such a number could not be encoded.
            throw .configuration(member: "disconnection", problem: "\(seconds) seconds is not a valid time to undo")
        }
        self.address = address
        self.offers = offers
        page = .root
        transport = .platform
        time = .system
        random = .system
        oauthCode = { _ in nil }
        tokenDelivery = tokens
        inviteCode = { nil }
        ended = { _, _, _ in }
        freshness = .seconds(10)
        requestTimeout = .seconds(10)
        streams = Streams()
        limits = Limits()
    }

    /// Checks the ranges of all settings.
    func check() throws(HandshakeServerError) {
        let (times, days) = (Duration.milliseconds(1) ... .seconds(86_400), Duration.zero ... .seconds(365 * 86_400))
        guard days.contains(freshness) else {
            throw .configuration(member: "freshness", problem: "it must be from zero to a year")
        }
        guard times.contains(requestTimeout), requestTimeout <= .seconds(3600) else {
            throw .configuration(member: "requestTimeout", problem: "it must be from a millisecond to an hour")
        }
        let pauses = [
            streams.interval, streams.restingInterval, streams.attention, streams.heartbeat, streams.lifetime,
            streams.restingLifetime, streams.userInterval,
        ]
        guard pauses.allSatisfy(times.contains), streams.maximumCount >= 1, streams.maximumPerUser >= 1 else {
            throw .configuration(
                member: "streams", problem: "every time must be from a millisecond to a day, every number at least one")
        }
    }

    /// The redirect URI to register at IFTTT.
    ///
    /// It accepts redirects of attempts that a button started, and no others. A `ConnectURL` in a mail or a web page belongs
    /// to no attempt: give it a page of the app's own as its callback.
    public var callbackURL: String { "\(address)/return" }
}

/// A connection with a button.
public struct ConnectButtonOffer: Sendable, Hashable {
    public let connection: ConnectionID
    /// Whether to skip the service's configuration page. The app then has one of its own.
    public var skipsConfiguration = false
    /// The page that users return to; nil is ``ConnectButtonSettings/page``.
    public var page: LocalPath?
    /// The app's set-up page for a connection turned on without configuration. "Finish setup" leads there. Without it,
    /// the tap opens IFTTT's page that manages the connection, unless the page prevents the component's `setup` event.
    public var setUpPage: LocalPath?
    /// How the user confirms turning the connection off.
    public var disconnection = ConnectActivation.Disconnection.confirmed
    /// How long an attempt waits for IFTTT's redirect, which may come by mail. From a minute to 30 days. Default: an
    /// hour.
    public var attemptLifetime = Duration.seconds(3600)

    public init(_ connection: ConnectionID) {
        self.connection = connection
    }
}

/// A user who is signed in to the app.
public struct ConnectButtonUser: Sendable, Hashable {
    /// The app's own identifier. All records of the user are stored under it.
    public let id: String
    /// The email field's initial text; sent only after the user confirms it.
    public var suggestedEmail: String

    /// - Parameters:
    ///   - id: the app's own identifier.
    ///   - suggestedEmail: the email field's initial text.
    /// - Throws: ``HandshakeServerError/configuration(member:problem:)`` for an empty identifier: all users without one would share
    ///   a session and a token.
    public init(id: String, suggestedEmail: String = "") throws(HandshakeServerError) {
        guard !id.isEmpty else { throw .configuration(member: "user", problem: "the identifier is empty") }
        self.id = id
        self.suggestedEmail = suggestedEmail
    }

    /// Compares bytes: equivalent spellings of an identifier are other users.
    public static func == (left: ConnectButtonUser, right: ConnectButtonUser) -> Bool {
        left.id.utf8.elementsEqual(right.id.utf8) && left.suggestedEmail.utf8.elementsEqual(right.suggestedEmail.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(Array(id.utf8))
    }
}
#endif
