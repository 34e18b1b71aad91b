#if Server
import HTTPTypes
public import Handshake
public import Hummingbird
public import IFTTTConnect
public import Logging
public import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Gives a signed-in user's app what requires the service key (dossier 2.8). The key is the partner's. The app gets the
/// user token, and a code for a Connect URL.
///
/// | route | answers |
/// |---|---|
/// | `POST user_token` | 200 `{"user_token"}`; 404 when the user has not connected |
/// | `POST provisional_access_code` | 201 `{"provisional_access_code"}`, single-use and valid for 48 hours |
///
/// The app's own session decides whose token it is, never the request: otherwise a user could fetch another user's token.
/// Errors have the shape of the dossier, section 2.4. Requests per user and process are rate-limited; beyond the limit the
/// answer is 429 with `Retry-After`.
public struct UserTokenRoutes<Context: RequestContext>: Sendable {
    private let service: ConnectService
    private let siteCheck: SiteCheck
    private let time: TimeSource
    private let limit: RateLimit
    private let log: Logger
    private let failures: FailureAnswers
    private let partner: @Sendable (Request, Context) async throws -> PartnerUser?

    /// A burst of ten requests, then one every six seconds.
    public static var standardLimit: Rate { Rate(10, oneEach: .seconds(6)) }

    /// Creates the routes.
    ///
    /// - Parameters:
    ///   - service: calls IFTTT with the service key.
    ///   - address: the public URL of the routes.
    ///   - limit: how often a user may ask.
    ///   - time: the clock.
    ///   - log: receives warnings; never a secret.
    ///   - partner: the user of a request, by the app's session or by the code of the partner's OAuth server that it
    ///     carries; nil for no user.
    public init(
        _ service: ConnectService, at address: PublicAddress, limit: Rate = Self.standardLimit,
        time: TimeSource = .system, log: Logger = Logger(label: "handshake.server"),
        partner: @escaping @Sendable (Request, Context) async throws -> PartnerUser?
    ) {
        self.service = service
        siteCheck = SiteCheck(address: address)
        self.limit = RateLimit(limit)
        self.time = time
        self.log = log
        failures = FailureAnswers(what: "the exchange of a token", log: log)
        self.partner = partner
    }

    /// Adds the routes to a router or a group.
    public func add(to router: some RouterMethods<Context>) {
        router.post("user_token") { request, context in
            await answering(request, context) { user in
                guard let accessToken = user.accessToken else { throw Self.notConnected }
                let token = try await service.userToken(for: user.id, accessToken: accessToken)
                return (.ok, ["user_token": .string(token.secret.reveal())])
            }
        }
        router.post("provisional_access_code") { request, context in
            await answering(request, context) { user in
                guard let oauthCode = try await user.oauthCode() else { throw Self.notConnected }
                let code = try await service.provisionalCode(for: oauthCode)
                return (.created, ["provisional_access_code": .string(code.reveal())])
            }
        }
    }

    private static var notConnected: RequestRefusal {
        RequestRefusal(.notFound, "not_found", "This user has not connected this app to IFTTT")
    }

    private func answering(
        _ request: Request, _ context: Context,
        _ body: (PartnerUser) async throws -> (HTTPResponse.Status, JSONObject)
    ) async -> Response {
        await failures.answering {
            try siteCheck.check(request)
            guard let user = try await partner(request, context) else { throw RequestRefusal.signInNeeded }
            try limit.check(user.id, now: time.now())
            do {
                let (status, members) = try await body(user)
                return .json(Data(JSONValue.object(members).json.utf8), status: status)
            } catch let error as ConnectError {
                throw refusal(for: error)
            }
        }
    }

    /// The answer for the user's app. A wrong service key is this server's problem and not the user's.
    private func refusal(for error: ConnectError) -> RequestRefusal {
        log.warning("IFTTT did not exchange a token", metadata: ["reason": "\(error.code)"])
        return switch error.problemKind {
        case .notFound?: RequestRefusal(.notFound, "not_found", "This user is not connected with IFTTT")
        case .invalidParameters?:
            RequestRefusal(.unprocessableContent, "invalid_parameters", "IFTTT rejected the request")
        default: RequestRefusal(.badGateway, "downstream_failed", "IFTTT could not be reached", retryAfter: 5)
        }
    }
}

/// A user as the partner knows them.
public struct PartnerUser: Sendable {
    /// The identifier from the partner's user-information endpoint.
    public var id: String
    /// The partner's token that IFTTT got when the user connected. Nil when the user has not connected.
    public var accessToken: Secret?
    /// Creates a code of the partner's OAuth server for IFTTT. Nil when the app issues none.
    public var oauthCode: @Sendable () async throws -> Secret?

    public init(
        id: String, accessToken: Secret? = nil, oauthCode: @escaping @Sendable () async throws -> Secret? = { nil }
    ) {
        self.id = id
        self.accessToken = accessToken
        self.oauthCode = oauthCode
    }
}
#endif
