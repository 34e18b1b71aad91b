#if Sandbox
import HTTPTypes
import SandboxCore

/// Why an API request is refused, in the service's words (Sequencing dossier, sections 4.1 and 5.12).
///
/// Every message has one of the words `error`, `invalid` and `exception`, by which old clients detect a failure.
struct APIRefusal: Error, Sendable, Equatable {
    let status: Int
    let message: String
    let code: String?

    static let invalidToken = APIRefusal(status: 401, message: "Authorization error: invalid token", code: nil)
    static let chainNotFound = APIRefusal(status: 404, message: "Invalid AppCode", code: "chain_not_found")
    static let fileNotFound = APIRefusal(status: 404, message: "Invalid dataSourceId", code: "file_not_found")
    static let jobNotFound = APIRefusal(status: 404, message: "Invalid idJob", code: "job_not_found")
    static let reportNotFound = APIRefusal(status: 404, message: "Invalid report id", code: "report_not_found")
    static let internalError = APIRefusal(
        status: 500, message: "Internal error, please try again", code: "server_error")

    static func insufficientScope(_ scope: Access.Scope) -> APIRefusal {
        APIRefusal(
            status: 403, message: "Authorization error: the scope \(scope.rawValue) is missing",
            code: "insufficient_scope")
    }

    static func invalidRequest(_ detail: String) -> APIRefusal {
        APIRefusal(status: 400, message: "Invalid request: \(detail)", code: "invalid_request")
    }

    var answer: Answer {
        let body: JSON = ["Message": .string(message)]
        let answer = Answer.json(body.adding("Error", code.map(JSON.string)), status: status)
        switch status {
        case 401: return answer.adding(.wwwAuthenticate, "Bearer realm=\"sequencing\", error=\"invalid_token\"")
        case 403: return answer.adding(.wwwAuthenticate, "Bearer realm=\"sequencing\", error=\"insufficient_scope\"")
        default: return answer
        }
    }
}

/// Who may do what at the API (Sequencing dossier, section 1.8).
struct Access: Sendable {
    /// What a token was granted for.
    enum Scope: String, Sendable {
        /// Sample files and chains on them.
        case demo
        /// Own files, chains on them, and imports.
        case external
    }

    /// The user behind a live access token.
    struct Caller: Sendable {
        let user: SandboxUser
        let token: String
        fileprivate let scopes: [String]

        func has(_ scope: Scope) -> Bool {
            scopes.contains(scope.rawValue)
        }

        func demand(_ scope: Scope) throws(APIRefusal) {
            guard has(scope) else { throw .insufficientScope(scope) }
        }
    }

    let server: AuthorizationServer

    /// The caller of a request with a live Bearer token; anything else is 401.
    func caller(_ request: IncomingRequest) throws(APIRefusal) -> Caller {
        guard let token = request.bearerToken, let access = server.liveAccess(token), let user = access.grant.user
        else { throw .invalidToken }
        return Caller(user: user, token: token, scopes: access.token.scope)
    }

    /// A route that needs a caller, as the answer to a request.
    func answering(
        _ body: @escaping @Sendable (IncomingRequest, Caller) throws(APIRefusal) -> Answer
    ) -> @Sendable (IncomingRequest) -> Answer {
        { request in
            do throws(APIRefusal) {
                return try body(request, try caller(request))
            } catch {
                return error.answer
            }
        }
    }

    /// The JSON object in a request's body, whatever media type it claims, since old clients set none.
    static func object(_ request: IncomingRequest) throws(APIRefusal) -> JSON {
        guard let json = JSON(parsing: request.body), case .object = json else {
            throw .invalidRequest("the body is not a JSON object")
        }
        return json
    }
}
#endif
