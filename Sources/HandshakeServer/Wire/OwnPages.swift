#if Server
import Handshake
import Hummingbird
import Logging

/// Answers what the app's own pages ask for the user of the app's session.
struct OwnPages<Context: RequestContext>: Sendable {
    let failures: FailureAnswers
    private let siteCheck: SiteCheck
    let user: @Sendable (Request, Context) async throws -> String?

    /// - Parameter what: what they ask for, for the log.
    init(
        at address: PublicAddress, what: String, log: Logger,
        user: @escaping @Sendable (Request, Context) async throws -> String?
    ) {
        failures = FailureAnswers(what: what, log: log)
        siteCheck = SiteCheck(address: address)
        self.user = user
    }

    /// Runs a route's body for the signed-in user. A page of another site and a browser without a user are rejected before.
    func answering(
        _ request: Request, _ context: Context, _ body: (_ user: String) async throws -> Response
    ) async -> Response {
        await failures.answering {
            try siteCheck.check(request)
            guard let user = try await user(request, context) else { throw RequestRefusal.signInNeeded }
            return try await body(user)
        }
    }
}
#endif
