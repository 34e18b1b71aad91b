#if Server
import HTTPTypes
import Handshake
import Hummingbird
import IFTTTConnect
import Logging

/// Maps a route's errors to responses, and logs those that the server's operator must fix.
struct FailureAnswers: Sendable {
    /// The operation, for the log.
    let what: String
    let log: Logger

    /// Runs a route's body and maps its error to a response; for a navigation, to a page.
    func answering(
        navigation request: Request? = nil, _ body: () async throws -> Response
    ) async -> Response {
        do {
            return try await body()
        } catch {
            let refusal = refusal(for: error)
            return request.map(refusal.response(to:)) ?? refusal.response
        }
    }

    private func refusal(for error: any Error) -> RequestRefusal {
        switch error {
        case let refusal as RequestRefusal: return refusal
        case let error as any HTTPResponseError & Sendable: return RequestRefusal(error)
        case let error as VaultError: return unavailable(error)
        case HandshakeError.vault(let error), ConnectError.account(.vault(let error)): return unavailable(error)
        case let error as HandshakeError:
            log.error("\(what) failed", metadata: ["reason": "\(error.code)"])
            return RequestRefusal(error.status, error.code, "Sign-in failed", retryAfter: 5)
        default:
            log.error("\(what) failed", metadata: ["reason": "\(type(of: error))"])
            return RequestRefusal.internalError
        }
    }

    private func unavailable(_ error: VaultError) -> RequestRefusal {
        log.error("\(what) failed", metadata: ["reason": "\(error)"])
        return RequestRefusal.busy
    }
}

extension HandshakeError {
    /// The status that says to the browser who can fix the error.
    var status: HTTPResponse.Status {
        switch self {
        case .signInAbandoned: .forbidden
        case .vault: .serviceUnavailable
        case .exchange, .undiscovered, .rejected, .network, .refreshUncertain, .clientForgotten, .tooManyRedirects:
            .badGateway
        case .signInRequired, .resourceMoved, .demanded: .unauthorized
        case .configuration, .contentNotReplayable: .internalServerError
        }
    }
}
#endif
