public import Handshake
import OAuth

/// The Recurse Center for one signed-in user: profiles, search, batches, places, visits to the hub, photos.
///
/// ```swift
/// let center = RecurseCenter(account)
/// let me = try await center.profile(.me)
/// try await center.checkIn(me.id)
/// ```
///
/// A value: it holds no user state of its own. Requests that only read are repeated by ``retry`` after status 429, a failure
/// of the server or a lost connection; those that change something are sent once (dossier 3).
///
/// The service may say "unauthorized" by status 403 or 404 (dossier 3). So a 403 or 404 is believed only when the user's own
/// profile can be read with the same token. Otherwise the token is refreshed once and the request sent once more;
/// no such answer ends a session by itself.
public struct RecurseCenter: Sendable {
    /// The user's account.
    public let account: Account
    /// Which of the service's two ways to tell of people is asked for.
    public let shape: Shape
    /// How requests that only read are repeated.
    public let retry: RetryPolicy

    let time: TimeSource
    let transport: any Transport

    /// The service's two ways to tell of people. Both are read as ``Profile``.
    public enum Shape: Sendable, Hashable {
        /// `/profiles`, the documented one (dossier 4.3).
        case profiles
        /// `/people`, the one of 2014 (dossier 4.2): for servers that know no other.
        case people
    }

    /// Opens the service for an account.
    ///
    /// - Parameters:
    ///   - account: an account of `Service.recurseCenter`, or of the same service elsewhere, with whatever kind of token.
    ///   - shape: which of the service's two ways to tell of people is asked for.
    ///   - retry: how requests that only read are repeated.
    ///   - time: what day it is, and what pauses are measured on.
    ///   - transport: how photos are fetched. They never see the account's token.
    public init(
        _ account: Account, shape: Shape = .profiles, retry: RetryPolicy = RetryPolicy(), time: TimeSource = .system,
        transport: any Transport = .platform
    ) {
        self.account = account
        self.shape = shape
        self.retry = retry
        self.time = time
        self.transport = transport
    }

    /// Today's date where the hub is (dossier 4.1).
    public var today: CalendarDate {
        CalendarDate(inNewYorkAt: time.now())
    }

    var api: Exchange {
        Exchange(account: account, ownProfile: ownProfilePath, retrying: retrying)
    }

    var retrying: Retrying {
        Retrying(policy: retry, time: time)
    }

    private var ownProfilePath: String {
        shape == .profiles ? "profiles/me" : "people/me"
    }
}
