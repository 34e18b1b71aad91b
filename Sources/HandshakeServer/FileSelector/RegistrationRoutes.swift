#if Server
import FileSelector
import Handshake
public import Hummingbird
import Logging
import OAuth
public import Sequencing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The server side of `<registration-sheet>`.
///
/// It asks Sequencing.com for an account, or for a new password.
///
/// ```swift
/// let registration = RegistrationRoutes<BasicRequestContext>(
///     Registration(.identifier("your-client-id")), at: address, visitor: visitor)
/// registration.add(to: router.group("genes"))
/// ```
///
/// | route | does |
/// |---|---|
/// | `GET registration-sheet.js` | the component |
/// | `POST register`, `POST reset-password` | `{"email"}`: answers `{"outcome":"mail_sent"}`, or `{"outcome":"refused","messages"}` with the service's texts |
///
/// No sign-in is needed, so an attacker can make the service send mails to any address: requests are limited for each
/// visitor, for each address and, by a hundred times as much, for all of them.
public struct RegistrationRoutes<Context: RequestContext>: Sendable {
    private let registration: Registration
    private let siteCheck: SiteCheck
    private let reader: ContentReader
    private let script = ServedScript(FileSelectorScript.registration)
    private let limit: RateLimit
    private let addressLimit: RateLimit
    private let commonLimit: RateLimit
    private let time: TimeSource
    private let log: Logger
    private let failures: FailureAnswers
    private let visitor: @Sendable (Request, Context) -> String

    /// A burst of five requests, then one a minute.
    public static var standardLimit: Rate { Rate(5, oneEach: .seconds(60)) }

    /// Creates the routes.
    ///
    /// - Parameters:
    ///   - registration: asks the service, with this client's identifier or, for a server only, its secret.
    ///   - address: the public URL of the routes.
    ///   - environment: clock and log.
    ///   - limit: how often a visitor may ask, and how often for one address.
    ///   - visitor: who asks, such as the address of the connection or the app's session.
    public init(
        _ registration: Registration, at address: PublicAddress, environment: SignInEnvironment = SignInEnvironment(),
        limit: Rate = Self.standardLimit, visitor: @escaping @Sendable (Request, Context) -> String
    ) {
        self.registration = registration
        siteCheck = SiteCheck(address: address)
        reader = ContentReader(time: environment.time, timeout: .seconds(10))
        self.limit = RateLimit(limit)
        addressLimit = RateLimit(limit)
        commonLimit = RateLimit(Rate(100 * limit.burst, oneEach: limit.interval / 100))
        time = environment.time
        log = environment.log
        failures = FailureAnswers(what: "a registration", log: environment.log)
        self.visitor = visitor
    }

    /// Adds the routes to a router, or to the group whose path is that of the address.
    public func add(to router: some RouterMethods<Context>) {
        router.get("registration-sheet.js") { request, _ in script.response(to: request) }
        for wanted in RegistrationState.Request.allCases {
            router.post(RouterPath(wanted.rawValue)) { request, context in
                await failures.answering {
                    try siteCheck.check(request)
                    return try await ask(wanted, request, context)
                }
            }
        }
    }

    private func ask(
        _ wanted: RegistrationState.Request, _ request: Request, _ context: Context
    ) async throws -> Response {
        let content = try await reader.content(of: request, type: "application/json", limit: 4096)
        let text = (try? JSONValue(parsing: Array(content)))?.object?["email"]?.string ?? ""
        guard let email = try? Sequencing.EmailAddress(text) else {
            throw RequestRefusal(.unprocessableContent, "invalid_email", "That is not an email address")
        }
        // A wrong address sends nothing, and counts for nothing.
        try limit.check(visitor(request, context), now: time.now())
        try addressLimit.check(email.string.lowercased(), now: time.now())
        try commonLimit.check("", now: time.now())
        do {
            switch wanted {
            case .account: return try await answer(registration.register(email))
            case .password: return try await answer(registration.resetPassword(email))
            }
        } catch let error as SequencingError {
            log.warning("a registration failed", metadata: ["reason": "\(error.code)"])
            throw Self.refusal(error)
        }
    }

    /// Where the mail may have been sent, the user is told to look for it.
    private static func refusal(_ error: SequencingError) -> RequestRefusal {
        let mayHaveArrived =
            switch error {
            case .malformed: true
            case .account(.network(let problem)): problem.mayHaveArrived
            default: false
            }
        return mayHaveArrived
            ? RequestRefusal(.gatewayTimeout, "no_answer", "Sequencing.com gave no answer that can be read")
            : RequestRefusal(.badGateway, "unreachable", "Sequencing.com cannot be used right now", retryAfter: 60)
    }

    private func answer(_ outcome: Registration.Outcome) -> Response {
        let body: JSONObject =
            switch outcome {
            case .mailSent: ["outcome": .string("mail_sent")]
            case .refused(_, let messages):
                ["outcome": .string("refused"), "messages": .array(messages.map { .string($0) })]
            }
        return .json(Data(JSONValue.object(body).json.utf8))
    }
}
#endif
