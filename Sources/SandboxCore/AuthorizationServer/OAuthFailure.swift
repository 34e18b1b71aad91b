#if Sandbox
import HTTPTypes

/// An error answer of the token endpoint and its siblings (RFC 6749 section 5.2).
package struct OAuthFailure: Error, Sendable, Equatable {
    package let code: String
    package let detail: String
    package var status = 400

    package init(code: String, detail: String, status: Int = 400) {
        self.code = code
        self.detail = detail
        self.status = status
    }

    package static func invalidRequest(_ detail: String) -> OAuthFailure {
        OAuthFailure(code: "invalid_request", detail: detail)
    }

    package static func invalidGrant(_ detail: String) -> OAuthFailure {
        OAuthFailure(code: "invalid_grant", detail: detail)
    }

    package static func invalidClient(_ detail: String) -> OAuthFailure {
        OAuthFailure(code: "invalid_client", detail: detail, status: 401)
    }

    static func invalidScope(_ detail: String) -> OAuthFailure {
        OAuthFailure(code: "invalid_scope", detail: detail)
    }

    static func unsupportedGrantType(_ name: String) -> OAuthFailure {
        OAuthFailure(code: "unsupported_grant_type", detail: "The grant type \(name) is not supported here.")
    }

    package static let unauthorizedClient = OAuthFailure(
        code: "unauthorized_client", detail: "The client may not use this grant type.")

    package var answer: Answer {
        .uncachedJSON(["error": .string(code), "error_description": .string(detail)], status: status)
    }

    /// The answer with a Basic challenge where the client could not be authenticated (RFC 6749 section 5.2).
    package var challengingAnswer: Answer {
        code == "invalid_client"
            ? answer.adding(.wwwAuthenticate, "Basic realm=\"sandbox\", charset=\"UTF-8\"") : answer
    }
}
#endif
