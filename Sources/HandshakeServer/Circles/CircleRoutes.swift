#if Server
import Circles
import HTTPTypes
public import Handshake
public import Hummingbird
public import Logging
import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The routes of a circle (circles dossier 4), below its public address.
///
/// | route | does |
/// |---|---|
/// | `GET v1` | says what the circle is; no token |
/// | `POST v1/attempts`, `GET …/verify`, `POST …/token` | a device joins: the browser signs in at the service |
/// | `PUT v1/me/member`, `PUT v1/me/keys` | publishes the identity and the day keys |
/// | `GET v1/me`, `PUT v1/me/settings`, `…/hidden/:number` | the own row, and from whom it is hidden |
/// | `DELETE v1/me/token`, `DELETE v1/me` | signs a device out; leaves |
/// | `GET v1/members`, `v1/keys`, `v1/photos/:pack` | the circle's tables, whole or what changed |
/// | `POST`, `GET v1/waves`, `DELETE v1/waves/:id` | waves |
///
/// A member proves membership once: the browser signs in at the service, the routes ask who that is, and revoke and forget the
/// service's token. Everything else is authorized by a bearer of 30 days. Nothing says who met whom: a table is fetched whole.
public struct CircleRoutes<Context: RequestContext>: Sendable {
    let circle: MemberCircle
    let handshake: Handshake
    let attempts: CircleAttempts
    let cookies: SignInCookies
    let cleaning: SignInCleaning
    let reader: ContentReader
    let limits: CircleLimits
    let failures: FailureAnswers
    let log: Logger
    let applicant: @Sendable (Account) async throws -> CircleApplicant?
    let callers: CircleCallers<Context>

    /// Creates the routes.
    ///
    /// - Parameters:
    ///   - circle: the members.
    ///   - handshake: the app's client at the community's service, with the redirect URI `ADDRESS/v1/callback`. Its vault holds
    ///     an account only while a browser signs in: give it a `MemoryVault`.
    ///   - log: receives warnings, never a number, name, token or address.
    ///   - address: the IP address of a request's caller, without a port. Attempts to join are limited for each IPv4 address and
    ///     each /64 of IPv6. While too many run in all, the /16, /24 and addresses of IPv4, and the /32, /48, /56 and /64 of
    ///     IPv6, share the places equally. Unless stated it is the other end of the connection, if the context conforms to
    ///     `RemoteAddressRequestContext`; behind a reverse proxy that is the proxy: pass ``forwardedAddress(_:_:)``. Callers
    ///     whose address is unknown share one limit, and the log says so once.
    ///   - applicant: asks the service who an account belongs to; nil when it is no member of the community. It shrinks the photo
    ///     to ``CircleApplicant/maximumPhotoSize``.
    /// - Throws: ``HandshakeServerError/configuration(member:problem:)`` for another redirect URI or several clients.
    public init(
        _ circle: MemberCircle, joiningThrough handshake: Handshake, log: Logger = Logger(label: "handshake.server"),
        address: (@Sendable (Request, Context) -> String?)? = nil,
        applicant: @escaping @Sendable (Account) async throws -> CircleApplicant?
    ) throws(HandshakeServerError) {
        let redirect = "\(circle.address)/v1/callback"
        guard handshake.clients.count == 1, case .uri(let uri)? = handshake.clients.first?.redirect,
            uri.string == redirect
        else { throw .configuration(member: "redirect", problem: "there must be one client, with \(redirect)") }
        self.circle = circle
        self.handshake = handshake
        self.log = log
        self.applicant = applicant
        callers = CircleCallers(address, log: log)
        attempts = CircleAttempts(random: circle.random)
        cookies = SignInCookies(address: circle.address, random: circle.random)
        cleaning = SignInCleaning(
            of: handshake, time: circle.time, log: log, interval: CircleAttempts.lifetime)
        reader = ContentReader(time: circle.time, timeout: .seconds(10))
        limits = CircleLimits()
        failures = FailureAnswers(what: "a circle's route", log: log)
    }

    /// Adds the routes to a router, or to the group whose path is that of the address.
    public func add(to router: some RouterMethods<Context>) {
        addJoining(to: router)
        addTables(to: router)
        addMember(to: router)
        addWaves(to: router)
    }

    // MARK: Requests of members

    /// Runs a member's request.
    ///
    /// - Throws: 401 or 403 for the bearer, 429 beyond the limit.
    func asMember(
        _ request: Request, _ limit: KeyPath<CircleLimits, CircleLimits.Member>,
        _ body: (CircleMember) async throws -> Response
    ) async -> Response {
        await failures.answering {
            let bearer = try Self.bearer(of: request)
            let member = try await circle.owner(ofBearer: bearer)
            try limits[keyPath: limit].check(bearer, of: member.number, now: circle.time.now())
            try await circle.inTurn { try await $0.cleanIfDue() }
            return try await body(member)
        }
    }

    /// The bearer of a request (RFC 6750, section 2.1).
    static func bearer(of request: Request) throws(RequestRefusal) -> String {
        let fields = request.headers[values: .authorization]
        guard fields.count == 1, let field = fields.first, field.prefix(7).lowercased() == "bearer " else {
            throw MemberCircle.unknownBearer
        }
        let bearer = field.dropFirst(7).drop { $0 == " " }
        guard bearer.utf8.count == 43 else { throw MemberCircle.unknownBearer }
        return String(bearer)
    }

    /// Reads a JSON object.
    func object(_ request: Request, limit: Int = 8_192) async throws -> JSONObject {
        let content = try await reader.content(of: request, type: "application/json", limit: limit)
        guard let object = (try? JSONValue(parsing: Array(content)))?.object else {
            throw RequestRefusal(.badRequest, "malformed", "The content is not a JSON object")
        }
        return object
    }

    /// Reads octets.
    func octets(_ request: Request) async throws -> [UInt8] {
        Array(try await reader.content(of: request, type: "application/octet-stream", limit: 2_048))
    }

    /// A parameter that is a member's number.
    func number(_ context: Context) throws(RequestRefusal) -> UInt32 {
        guard let number = context.parameters.get("number").flatMap({ UInt32($0) }), number > 0 else {
            throw RequestRefusal(.notFound, "not_found", "That is no member's number")
        }
        return number
    }
}

/// How often members may ask, per process: a burst, then one each (circles dossier 4).
struct CircleLimits: Sendable {
    let attempts = RateLimit(Rate(5, oneEach: .seconds(60)))
    let reads = Member(60, oneEach: 60)
    let writes = Member(10, oneEach: 600)
    let waves = Member(10, oneEach: 144 * 60)
    let photos = Member(300, oneEach: 60)

    /// A limit for each device of a member, and a larger one for all devices together.
    ///
    /// A device that was stolen cannot use up what the member's other devices have.
    struct Member: Sendable {
        /// How many devices can use all that they have.
        private static let devices = 4

        private let device: RateLimit
        private let member: RateLimit

        init(_ burst: Int, oneEach seconds: Int) {
            device = RateLimit(Rate(burst, oneEach: .seconds(seconds)))
            member = RateLimit(
                Rate(burst * Self.devices, oneEach: .milliseconds(seconds * 1_000 / Self.devices)))
        }

        /// Takes a token of both, or throws.
        ///
        /// - Throws: 429 with `Retry-After`.
        func check(_ bearer: String, of number: UInt32, now: Double) throws(RequestRefusal) {
            // First: what a device asks beyond its own limit costs the others nothing.
            try device.check(Base64URL.encode(MemberCircle.digest(bearer)), now: now)
            try member.check("\(number)", now: now)
        }
    }
}

extension Response {
    /// JSON of these members that is not cached.
    static func json(_ members: JSONObject, status: HTTPResponse.Status = .ok) -> Response {
        json(Data(JSONValue.object(members).json.utf8), status: status)
    }

    /// Nothing to say.
    static var done: Response { Response(status: .noContent, headers: quiet) }
}
#endif
