public import Handshake
import OAuth

/// The Recurse Center for one signed-in user. It has profiles, search, batches, places, visits to the hub, and photos.
///
/// ```swift
/// let center = RecurseCenter(account)
/// let me = try await center.profile(.me)
/// try await center.checkIn(me.id)
/// ```
///
/// A value without state. Idempotent reads are retried by ``retry`` after status 429, a server error or a lost connection;
/// requests that change something are sent once (dossier 3).
///
/// The service may answer an expired token with status 403 or 404 (dossier 3). A 403 or 404 is therefore trusted only when
/// the same token can read the user's own profile. Otherwise the token is refreshed once and the request retried once.
/// Such an answer alone never ends the session.
public struct RecurseCenter: Sendable {
    /// The user's account.
    public let account: Account
    /// The representation of people that is requested.
    public let shape: Shape
    /// How idempotent reads are retried.
    public let retry: RetryPolicy

    let time: TimeSource
    let transport: any Transport

    /// The service's two representations of people. Both are read as ``Profile``.
    public enum Shape: Sendable, Hashable {
        /// `/profiles`, the documented one (dossier 4.3).
        case profiles
        /// `/people`, the one of 2014 (dossier 4.2), for servers without `/profiles`.
        case people

        /// The representation in which a service says who the user is.
        init(of service: Service) {
            let path = service.identityEndpoint?.url.path ?? ""
            self = path.hasSuffix("/" + Shape.people.ownProfile) ? .people : .profiles
        }

        /// The user's own profile, below the API.
        var ownProfile: String { self == .profiles ? "profiles/me" : "people/me" }
    }

    /// - Parameters:
    ///   - account: an account of `Service.recurseCenter`, or of the same service at another address, with any kind of token.
    ///   - shape: the representation of people that is requested; unless stated the one of the account's service, which is `.people`
    ///     for `Service.hackerSchool(at:)`.
    ///   - retry: how idempotent reads are retried.
    ///   - time: the current date, and the clock of pauses.
    ///   - transport: fetches photos, without the account's token.
    public init(
        _ account: Account, shape: Shape? = nil, retry: RetryPolicy = RetryPolicy(), time: TimeSource = .system,
        transport: any Transport = .platform
    ) {
        self.account = account
        self.shape = shape ?? Shape(of: account.service)
        self.retry = retry
        self.time = time
        self.transport = transport
    }

    /// Today's date in New York, where the hub is (dossier 4.1).
    public var today: CalendarDate {
        CalendarDate(inNewYorkAt: time.now())
    }

    var api: Exchange {
        Exchange(account: account, ownProfile: shape.ownProfile, retrying: retrying)
    }

    var retrying: Retrying {
        Retrying(policy: retry, time: time)
    }
}
