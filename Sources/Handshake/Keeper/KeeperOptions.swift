import OAuth

extension Keeper {
    /// When accounts are refreshed, and how fast.
    public struct Options: Sendable, Hashable {
        /// How many seconds before its expiry an access token is refreshed. 900 by default.
        ///
        /// Of a token with a short life it is a quarter of the life.
        public var lead = 900.0

        /// By which part of its life a refresh is earlier than that, at most. Chance decides. 0.1 by default.
        public var spread = 0.1

        /// After how many seconds an account is refreshed, also before its token expires. A day by default.
        ///
        /// Services seldom say how long a refresh token lives that is not used; some let it lapse after a week.
        public var maximumAge = 86_400.0

        /// How many seconds pass between two listings, which find new accounts. 900 by default.
        public var scanInterval = 900.0

        /// Whether all accounts of the vault are kept. True by default.
        ///
        /// Otherwise ``Keeper/run()`` lists none, and repeats only refreshes that a process began and did not finish, where the vault can tell
        /// (``Vault/claimUnfinished(of:except:)``). With a vault that cannot tell (files, SQLite) it then does nothing. It is for servers that
        /// refresh an account when it is used, however many there are.
        public var listsAccounts = true

        /// The longest pause in seconds after a failure, whatever a service asks for. 3,600 by default.
        ///
        /// A service that asks for a longer one is asked again after this, by one account.
        public var maximumPause = 3_600.0

        /// How fast accounts of a service are refreshed by this process.
        public var limit = RateLimit()

        /// How fast, for services with limits of their own, by the service's name.
        public var limits: [String: RateLimit] = [:]

        /// The usual values.
        public init() {}
    }

    /// How fast one process refreshes accounts at one service.
    ///
    /// Several processes share no count: with four of them, give each a quarter of what the service allows.
    public struct RateLimit: Sendable, Hashable {
        /// How many refreshes begin in a second.
        public var perSecond: Double
        /// How many run concurrently.
        public var concurrent: Int

        /// States a limit. Values that make no sense become the nearest that do.
        public init(perSecond: Double = 10, concurrent: Int = 8) {
            self.perSecond = perSecond.isFinite ? min(max(perSecond, 0.000_1), 1_000_000) : 10
            self.concurrent = min(max(concurrent, 1), 100_000)
        }
    }
}

/// Between which times an account is refreshed, in seconds since 1970.
struct RefreshSchedule: Sendable, Hashable {
    let earliest: Double
    let latest: Double

    func time(chance: Double) -> Double {
        latest - (latest - earliest) * chance
    }
}

extension Keeper.Options {
    /// How long a refresh that another process began may take, in seconds.
    private static let journalAge = 30.0

    /// When an account is refreshed; nil when it need not or cannot be.
    ///
    /// - Parameter margin: how many seconds before the token expires the service begins to refresh it; nil for at any time.
    func schedule(of record: AccountRecord, within margin: Double? = nil) -> RefreshSchedule? {
        let grant = record.grant
        guard record.isUsable, record.refreshMethod == .refreshToken,
            grant.refreshToken != nil || record.unchecked?.grant.refreshToken != nil
        else { return nil }
        // A refresh without an outcome is repeated soon: services that forgive a repeat do so for a short time only.
        if case .refreshing(let since) = record.state {
            return RefreshSchedule(earliest: since + Self.journalAge, latest: since + Self.journalAge)
        }
        let spread = spread.isFinite ? min(max(spread, 0), 0.5) : 0
        let age = maximumAge.isFinite ? max(maximumAge, 1) : 86_400
        let byAge = RefreshSchedule(
            earliest: grant.issuedAt + age * (1 - spread), latest: grant.issuedAt + age)
        guard let end = grant.expiresAt, end.isFinite else { return byAge }
        let life = max(end - grant.issuedAt, 0)
        if let margin {
            let time = end - min(margin, life / 4)
            return RefreshSchedule(earliest: time, latest: time)
        }
        let latest = end - min(lead.isFinite ? max(lead, 0) : 900, life / 4)
        let byExpiry = RefreshSchedule(earliest: latest - life * spread, latest: latest)
        return byExpiry.latest < byAge.latest ? byExpiry : byAge
    }
}
