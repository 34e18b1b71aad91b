import AsyncSupport
public import Handshake
import OAuth

/// The errors of this module.
///
/// Functions of this module throw this type, or `CancellationError` when the calling task was cancelled.
public enum ConnectError: Error, Sendable, Hashable {
    /// An argument is invalid. Nothing was sent.
    case input(member: String, problem: String)

    /// The service could not be reached, or violated HTTP.
    case network(TransportError)

    /// The stored account or its vault failed.
    case account(HandshakeError)

    /// The service answered with an error status.
    case service(Problem)

    /// A successful answer is malformed. `member` is the place, such as `services[1].url`.
    case malformed(answer: String, member: String, expected: String, found: String)

    /// The service's error answer (dossier 2.4). Its texts are sanitised and never interpreted.
    public struct Problem: Sendable, Hashable {
        /// The HTTP status.
        public let status: Int
        /// The service's error code, such as `not_found`. Nil when the content was no error object.
        public let code: String?
        /// The service's explanation; nil when it gave none.
        public let message: String?
        /// The invalid parts of the request.
        public let details: [Detail]
        /// The requested pause in seconds (RFC 9110, section 10.2.3). It comes from `Retry-After`, in seconds or as a
        /// date. Nil without a valid one.
        public let retryAfter: Int?
        /// The request ID for IFTTT's support (dossier 2.2). It comes from `X-Request-ID` of the answer or else of the
        /// request. Nil when neither had one. Apps send none.
        public let requestID: String?

        /// Creates a problem.
        public init(
            status: Int, code: String? = nil, message: String? = nil, details: [Detail] = [], retryAfter: Int? = nil,
            requestID: String? = nil
        ) {
            self.status = status
            self.code = code
            self.message = message
            self.details = details
            self.retryAfter = retryAfter
            self.requestID = requestID
        }

        /// An invalid part of a request.
        public struct Detail: Sendable, Hashable {
            /// A JSON pointer into the request, such as `/fields/zone` (RFC 6901). Nil when the service named no part.
            public let parameter: String?
            public let message: String?

            public init(parameter: String?, message: String?) {
                self.parameter = parameter
                self.message = message
            }
        }

        /// The meaning of a status (dossier 2.4).
        public enum Kind: Sendable, Hashable {
            /// 400: the request is malformed.
            case malformedRequest
            /// 401: no credentials, or none that identify a user.
            case unauthorized
            /// 403: the credentials are valid but insufficient.
            case forbidden
            /// 404: unknown, or not visible to this caller.
            case notFound
            /// 422: invalid parameters; ``Problem/details`` names them.
            case invalidParameters
            /// 429: too many requests; see ``Problem/retryAfter`` (RFC 6585, section 4).
            case tooManyRequests
            /// 502: a service behind IFTTT failed.
            case downstreamFailed
            /// Any other status from 500.
            case internalError
            /// Anything else.
            case other
        }

        /// The meaning of the status. The service's code decides only where the status is ambiguous: `unauthorized` with status
        /// 400 means just that.
        public var kind: Kind {
            switch (status, code) {
            case (401, _), (400, "unauthorized"): .unauthorized
            case (400, _): .malformedRequest
            case (403, _): .forbidden
            case (404, _): .notFound
            case (422, _): .invalidParameters
            case (429, _): .tooManyRequests
            case (502, _): .downstreamFailed
            case (500..., _): .internalError
            default: .other
            }
        }
    }

    /// The kind of error status; nil without an answer, or for a successful one.
    public var problemKind: Problem.Kind? {
        if case .service(let problem) = self { problem.kind } else { nil }
    }
}

extension ConnectError: CustomStringConvertible {
    /// The service's error code, otherwise a stable one of this kit.
    public var code: String {
        switch self {
        case .input: "invalid_input"
        case .network(let error): error.code
        case .account(let error): error.code
        case .service(let problem): problem.code ?? problem.kind.word
        case .malformed: "malformed_answer"
        }
    }

    /// What happened, why, and what to do.
    public var description: String {
        switch self {
        case .input(let member, let problem): problem.sentence(about: member)
        case .network(let error): "\(error)"
        case .account(let error): "\(error)"
        case .service(let problem): "\(problem)"
        case .malformed(_, let member, let expected, let found):
            (Self.sentence(unread: member, expected: expected, found: found, service: "IFTTT")
                ?? "IFTTT's answer cannot be read: a part of it is missing or wrong.")
                + " Try again later. If it happens again, report it to IFTTT."
        }
    }
}

extension ConnectError {
    /// The place of what is malformed in an answer, in the names of the wire.
    ///
    /// For a report of the defect. Nil for other errors.
    public var detail: String? {
        guard case .malformed(let answer, let member, let expected, let found) = self else { return nil }
        return "\(answer): \(member) should be \(expected) but is \(found)"
    }
}

extension ConnectError.Problem: CustomStringConvertible {
    public var description: String {
        var places = details.prefix(10).map { [$0.parameter, $0.message].compactMap(\.self).joined(separator: ": ") }
        if details.count > places.count { places.append("and \(details.count - places.count) more") }
        return "IFTTT answered with status \(status)" + ((message ?? code).map { ": “\($0)”" } ?? "")
            + (places.isEmpty ? "" : " (\(places.joined(separator: "; ")))") + ". \(kind.advice)"
            + (retryAfter.map { " Wait \($0) seconds." } ?? "")
            + (requestID.map { " IFTTT's request ID: \($0)." } ?? "")
    }
}

extension ConnectError.Problem.Kind {
    var word: String {
        switch self {
        case .malformedRequest: "malformed_request"
        case .unauthorized: "unauthorized"
        case .forbidden: "forbidden"
        case .notFound: "not_found"
        case .invalidParameters: "invalid_parameters"
        case .tooManyRequests: "too_many_requests"
        case .downstreamFailed: "downstream_failed"
        case .internalError, .other: "service_error"
        }
    }

    /// What to do.
    var advice: String {
        switch self {
        case .malformedRequest: "The app's developer has to correct the request."
        case .unauthorized: "Check the user token or the service key."
        case .forbidden: "These credentials are not sufficient, or the connection must be configured first."
        case .notFound: "Check the identifier, and that these credentials have access."
        case .invalidParameters: "Correct the named parameters."
        case .tooManyRequests: "Send fewer requests."
        case .downstreamFailed: "A service behind IFTTT failed. Try again later."
        case .internalError: "IFTTT failed. Try again later."
        case .other: "The answer is unexpected. Try again later."
        }
    }
}

extension ConnectError: KitError {
    package static func unreachable(_ error: TransportError) -> ConnectError { .network(error) }

    /// Whether a retry may succeed: the peer was unreachable, asked for it, or its answer was incomplete.
    package var isRetryable: Bool {
        switch self {
        case .network(.insecure), .network(.tooLarge): false
        case .network: true
        case .service(let problem): problem.status == 429 || problem.status >= 500
        case .malformed: true
        case .input, .account: false
        }
    }
}
