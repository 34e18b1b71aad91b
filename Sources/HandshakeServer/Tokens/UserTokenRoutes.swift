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

/// Gives a signed-in user's app what only the partner's service key can get: the user token, and a code for a Connect
/// URL (dossier 2.8).
///
/// | route | answers |
/// |---|---|
/// | `POST user_token` | 200 `{"user_token"}`; 404 when the user has not connected |
/// | `POST provisional_access_code` | 201 `{"provisional_access_code"}`, good once and for 48 hours |
///
/// Whose token it is, the app's own session decides, never the request: otherwise any user is handed the token of any other. Errors
/// have the shape of the dossier, section 2.4. How often a user may ask is counted in each process; beyond that the answer is
/// 429, with when to come back.
public struct UserTokenRoutes<Context: RequestContext>: Sendable {
    private let service: ConnectService
    private let gate: Gate
    private let time: TimeSource
    private let limit: RateLimit
    private let log: Logger
    private let failures: FailureAnswers
    private let partner: @Sendable (Request, Context) async throws -> PartnerUser?

    /// Ten questions at once, and one more every six seconds.
    public static var standardLimit: Rate { Rate(10, oneEach: .seconds(6)) }

    /// Prepares routes.
    ///
    /// - Parameters:
    ///   - service: calls IFTTT with the service key.
    ///   - address: where the routes are reached from outside.
    ///   - limit: how often a user may ask.
    ///   - time: what time it is.
    ///   - log: where warnings go; no secret ever does.
    ///   - partner: who sends a request: by the app's session, or by the code of the partner's OAuth server that it
    ///     carries; nil when that is nobody.
    public init(
        _ service: ConnectService, at address: PublicAddress, limit: Rate = Self.standardLimit,
        time: TimeSource = .system, log: Logger = Logger(label: "handshake.server"),
        partner: @escaping @Sendable (Request, Context) async throws -> PartnerUser?
    ) {
        self.service = service
        gate = Gate(address: address)
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
        RequestRefusal(.notFound, "not_found", "This user has nothing that IFTTT could be shown")
    }

    private func answering(
        _ request: Request, _ context: Context,
        _ body: (PartnerUser) async throws -> (HTTPResponse.Status, JSONObject)
    ) async -> Response {
        await failures.answering {
            try gate.checkSite(of: request)
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

    /// What the user's app is told. That the key is wrong is this server's affair and not the user's.
    private func refusal(for error: ConnectError) -> RequestRefusal {
        log.warning("IFTTT did not exchange a token", metadata: ["reason": "\(error.code)"])
        return switch error.problemKind {
        case .notFound?: RequestRefusal(.notFound, "not_found", "This user is not connected with IFTTT")
        case .invalidParameters?: RequestRefusal(.unprocessableContent, "invalid_parameters", "IFTTT does not take it")
        default: RequestRefusal(.badGateway, "downstream_failed", "IFTTT could not be asked", retryAfter: 5)
        }
    }
}

/// A user as the partner knows them.
public struct PartnerUser: Sendable {
    /// The identifier that the partner's user-information endpoint gives.
    public var id: String
    /// The partner's token that was granted to IFTTT when the user connected; nil when they have not.
    public var accessToken: Secret?
    /// Makes a code of the partner's OAuth server for IFTTT; nil when the app has none to give.
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
