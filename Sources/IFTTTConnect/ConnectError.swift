public import Handshake
import OAuth

/// What can go wrong between an app and IFTTT; each case says whose turn it is.
///
/// Functions of this module throw this type, or `CancellationError` when the calling task was cancelled.
public enum ConnectError: Error, Sendable, Hashable {
    /// What the caller gave cannot be right. Nothing was sent.
    case input(member: String, problem: String)

    /// The service could not be reached, or did not answer as a peer should.
    case network(TransportError)

    /// The stored account or its vault: what the floor below said.
    case account(HandshakeError)

    /// The service answered with an error, by its status first and its content then.
    case service(Problem)

    /// A successful answer that cannot be understood. `member` is where: `services[1].url` is a place in it.
    case malformed(answer: String, member: String, expected: String, found: String)

    /// What the service said with an error status (dossier 2.4). Its words are made harmless and never interpreted.
    public struct Problem: Sendable, Hashable {
        /// The HTTP status.
        public let status: Int
        /// The service's own word, such as `not_found`; nil when the content was no error object.
        public let code: String?
        /// The service's explanation; nil when it gave none.
        public let message: String?
        /// What is wrong with which part of the request.
        public let details: [Detail]
        /// How many seconds the service asks to wait, from `Retry-After` in seconds or as a time (RFC 9110, section 10.2.3); nil
        /// when it asked for nothing that can be read.
        public let retryAfter: Int?
        /// What the service's people find the request by, from `X-Request-ID` of the answer, else of the request (dossier 2.2);
        /// nil when neither had one, as apps send none.
        public let requestID: String?

        /// States a problem.
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

        /// One part of a request that cannot be used.
        public struct Detail: Sendable, Hashable {
            /// A JSON pointer into the request, such as `/fields/zone` (RFC 6901); nil when the service named no part.
            public let parameter: String?
            public let message: String?

            public init(parameter: String?, message: String?) {
                self.parameter = parameter
                self.message = message
            }
        }

        /// What a status means (dossier 2.4).
        public enum Kind: Sendable, Hashable {
            /// 400: the request itself is wrong.
            case malformedRequest
            /// 401: no credentials, or none that identify one user.
            case unauthorized
            /// 403: the credentials are good and do not suffice.
            case forbidden
            /// 404: unknown, or not visible to this caller.
            case notFound
            /// 422: the parameters cannot be used; ``Problem/details`` says which.
            case invalidParameters
            /// 429: too often; ``Problem/retryAfter`` may say when to come back (RFC 6585, section 4).
            case tooManyRequests
            /// 502: a service behind IFTTT failed.
            case downstreamFailed
            /// Any other status from 500.
            case internalError
            /// Anything else.
            case other
        }

        /// What the status capabilities. The service's word decides only where the status leaves it open: `unauthorized` with
        /// status 400 is what it says.
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

    /// What kind of refusal the service answered with; nil when there was no answer, or a successful one.
    public var problemKind: Problem.Kind? {
        if case .service(let problem) = self { problem.kind } else { nil }
    }
}

extension ConnectError: CustomStringConvertible {
    /// A word for programs: where the service answered with one, its own; otherwise a stable one of this kit.
    public var code: String {
        switch self {
        case .input: "invalid_input"
        case .network(let error): error.code
        case .account(let error): error.code
        case .service(let problem): problem.code ?? problem.kind.word
        case .malformed: "malformed_answer"
        }
    }

    /// What happened, whose fault it is and what to do.
    public var description: String {
        switch self {
        case .input(let member, let problem): "\(member): \(problem)"
        case .network(let error): "\(error)"
        case .account(let error): "\(error)"
        case .service(let problem): "\(problem)"
        case .malformed(let answer, let member, let expected, let found):
            "the answer of \(answer) cannot be understood: \(member) should be \(expected) but is \(found)"
        }
    }
}

extension ConnectError.Problem: CustomStringConvertible {
    public var description: String {
        let words = [code, message].compactMap(\.self).joined(separator: ", ")
        var places = details.prefix(10).map { [$0.parameter, $0.message].compactMap(\.self).joined(separator: ": ") }
        if details.count > places.count { places.append("and \(details.count - places.count) more") }
        return "IFTTT answered with status \(status)" + (words.isEmpty ? "" : ": \(words)")
            + (places.isEmpty ? "" : " (\(places.joined(separator: "; ")))") + "; \(kind.advice)"
            + (retryAfter.map { ", and not again for \($0) s" } ?? "")
            + (requestID.map { "; to be found at IFTTT as request \($0)" } ?? "")
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

    /// Whose turn it is.
    var advice: String {
        switch self {
        case .malformedRequest: "the app's request is wrong"
        case .unauthorized: "the user token or service key is missing, expired or not for this service"
        case .forbidden: "these credentials do not suffice; a pending connection has to be configured first"
        case .notFound: "check the identifier, and that these credentials may see it"
        case .invalidParameters: "change the parameters that it names"
        case .tooManyRequests: "ask less often"
        case .downstreamFailed: "a service behind IFTTT failed; try again later"
        case .internalError: "the fault is IFTTT's; try again later"
        case .other: "the answer is not one that this request can have"
        }
    }
}

extension ConnectError: KitError {
    package static func unreachable(_ error: TransportError) -> ConnectError { .network(error) }

    /// Whether a retry may succeed: the peer was not there, said so itself, or what came was not its whole answer.
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
