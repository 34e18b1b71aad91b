import OAuth

extension Keeper {
    /// When accounts are refreshed, and how fast.
    public struct Options: Sendable, Hashable {
        /// How many seconds before its expiry an access token is refreshed. 900 by default.
        ///
        /// For a token with a short life it is a quarter of that life.
        public var lead = 900.0

        /// By which part of its life a refresh is earlier than that, at most. Chance decides. 0.1 by default.
        public var spread = 0.1

        /// After how many seconds an account is refreshed, also before its token expires. A day by default.
        ///
        /// Services seldom say how long a refresh token lives that is not used; some let it lapse after a week. Where one says so, the account is
        /// refreshed before that too (`Grant.refreshTokenExpiresAt`), unless less than two minutes are left after a refresh, or the service
        /// refreshes only shortly before the access token expires.
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
        ///
        /// The rate is reached as long as an answer takes less than `concurrent / perSecond` seconds. On Linux at most 64 connections to a host
        /// are open, so more than 64 run concurrently only with a transport of your own.
        public var concurrent: Int

        /// States a limit. Values that make no sense become the nearest that do.
        ///
        /// - Parameters:
        ///   - perSecond: how many refreshes begin in a second.
        ///   - concurrent: how many run concurrently; nil for as many as begin in a second, from 8 to 64.
        public init(perSecond: Double = 10, concurrent: Int? = nil) {
            self.perSecond = perSecond.isFinite ? min(max(perSecond, 0.000_1), 1_000_000) : 10
            // Enough for answers that take a second.
            self.concurrent = min(max(concurrent ?? min(max(Int(self.perSecond.rounded(.up)), 8), 64), 1), 100_000)
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

    /// The shortest life of a refresh token, in seconds, whose end an account is refreshed before.
    ///
    /// An end that the last refresh has passed was none. A shorter life is a mistake, such as 30 for as many days, or what is left of a
    /// session that no refresh extends: refreshes before such ends would follow each other without a pause.
    private static let shortestRefreshTokenLife = 120.0

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
        func before(_ end: Double) -> RefreshSchedule {
            let life = max(end - grant.issuedAt, 0)
            let latest = end - min(lead.isFinite ? max(lead, 0) : 900, life / 4)
            return RefreshSchedule(earliest: latest - life * spread, latest: latest)
        }
        var schedules = [byAge]
        if let end = grant.refreshTokenExpiresAt, end.isFinite, end - grant.issuedAt >= Self.shortestRefreshTokenLife {
            schedules.append(before(end))
        }
        if let end = grant.expiresAt, end.isFinite {
            if let margin {
                let time = end - min(margin, max(end - grant.issuedAt, 0) / 4)
                return RefreshSchedule(earliest: time, latest: time)
            }
            schedules.append(before(end))
        }
        return schedules.min { $0.latest < $1.latest }
    }
}
