#if Sandbox
import HTTPTypes
import SandboxCore

/// An error answer of the Connect API (IFTTT Connect dossier, section 2.4).
struct Refusal: Error, Sendable, Equatable {
    /// What is wrong with one parameter.
    struct Detail: Sendable, Equatable {
        /// A JSON pointer (RFC 6901) into the body, or `/name` for a parameter of the query.
        let parameter: String
        let message: String
    }

    let status: Int
    let code: String
    let message: String
    var details: [Detail] = []

    static let notFound = Refusal(status: 404, code: "not_found", message: "There is no resource at this URL")
    static let connectionNotFound = Refusal(
        status: 404, code: "not_found", message: "No connection has this id, or it is not published")
    static let notEnabled = Refusal(
        status: 404, code: "not_found", message: "The user has not enabled this connection")
    static let pending = Refusal(
        status: 403, code: "forbidden", message: "The user connection is pending: update it before running it")
    static let needsWebFlow = Refusal(
        status: 422, code: "invalid_parameters", message: "The connection cannot be enabled without the web flow")
    static let downstreamFailed = Refusal(
        status: 502, code: "downstream_failed", message: "The service behind this action did not answer")

    static func unauthorized(_ message: String) -> Refusal {
        Refusal(status: 401, code: "unauthorized", message: message)
    }

    static func forbidden(_ message: String) -> Refusal {
        Refusal(status: 403, code: "forbidden", message: message)
    }

    static func malformed(_ message: String) -> Refusal {
        Refusal(status: 400, code: "malformed_request", message: message)
    }

    static func invalid(_ details: [Detail]) -> Refusal {
        Refusal(
            status: 422, code: "invalid_parameters", message: "Some parameters cannot be used", details: details)
    }

    static func invalid(_ parameter: String, _ message: String) -> Refusal {
        invalid([Detail(parameter: parameter, message: message)])
    }

    var answer: Answer {
        let details = details.map { detail -> JSON in
            ["parameter": .string(detail.parameter), "message": .string(detail.message)]
        }
        let answer = Answer.json(
            ["type": "error", "code": .string(code), "message": .string(message), "details": .array(details)],
            status: status)
        return status == 401 ? answer.adding(.wwwAuthenticate, "Bearer realm=\"ifttt\"") : answer
    }
}
#endif
