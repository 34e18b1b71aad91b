#if Sandbox
import SandboxCore
import Synchronization

/// Who may use the API, and how other requests are rejected (Recurse Center dossier, sections 2.2, 2.3, 3 and 6).
///
/// A class, since the form of "unauthorized" can change and personal access tokens can be revoked while it runs.
final class Access: Sendable {
    let server: AuthorizationServer
    private let state = Mutex(State())

    private struct State {
        var style = UnauthorizedAnswer.status401
        var revokedPersonalTokens: Set<String> = []
    }

    static let notFound = Answer.json(["message": "not_found"], status: 404)
    static let forbidden = Answer.json(["message": "forbidden"], status: 403)

    static func invalid(_ problem: String) -> Answer {
        .json(["message": .string("invalid: \(problem)")], status: 400)
    }

    init(server: AuthorizationServer) {
        self.server = server
    }

    func answerUnauthorized(with style: UnauthorizedAnswer) {
        state.withLock { $0.style = style }
    }

    /// Ends every personal access token there is; the only remedy is another one, and there is none here.
    func revokePersonalAccessTokens() {
        let tokens = server.dialect.users.map { Fixtures.personalAccessToken(of: $0) }
        state.withLock { $0.revokedPersonalTokens.formUnion(tokens) }
    }

    /// The person behind a live token, in the header or in the query.
    func caller(_ request: IncomingRequest) -> Person? {
        guard let token = request.bearerToken ?? request.query["access_token"] else { return nil }
        return subject(of: token).flatMap { Int($0) }.flatMap(People.person)
    }

    /// What an app is called in the visits that it makes; nil for a personal access token.
    func application(_ request: IncomingRequest) -> String? {
        guard let token = request.bearerToken ?? request.query["access_token"] else { return nil }
        return server.liveAccess(token)?.grant.clientID
    }

    /// A route that needs a caller, as the answer to a request.
    func answering(
        _ body: @escaping @Sendable (IncomingRequest, Person) -> Answer
    ) -> @Sendable (IncomingRequest) -> Answer {
        { [self] request in
            guard let caller = caller(request) else { return state.withLock { $0.style }.answer }
            return body(request, caller)
        }
    }

    private func subject(of token: String) -> String? {
        if let user = server.dialect.users.first(where: { Fixtures.personalAccessToken(of: $0) == token }) {
            return state.withLock { $0.revokedPersonalTokens.contains(token) } ? nil : user.subject
        }
        return server.liveAccess(token)?.grant.user?.subject
    }
}
#endif
