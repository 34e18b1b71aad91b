#if Sandbox
import SandboxCore

/// A webhook from IFTTT to a partner (IFTTT Connect dossier, section 2.11).
struct Webhook: Sendable {
    /// The value of `X-Request-ID`, which is the same in every attempt.
    let requestID: String
    let serviceID: String
    /// Type and event: `connection/enabled`, `connection/updated`, `connection/disabled`, `trigger_subscription/fired`.
    let event: String
    let body: JSON
    /// Where it goes, without the path of section 2.11; nil for the partner that is part of the sandbox.
    let prefix: String?
    var attempts: [Attempt] = []

    /// How one attempt to deliver it ended.
    enum Attempt: Sendable, Equatable {
        case answered(status: Int)
        /// There was no answer, or one that HTTP does not have.
        case failed(reason: String)

        fileprivate var json: JSON {
            switch self {
            case .answered(let status): ["status": .number(status)]
            case .failed(let reason): ["failure": .string(reason)]
            }
        }
    }

    var path: String { "/ifttt/v1/webhooks/\(event)" }

    var json: JSON {
        [
            "request_id": .string(requestID), "service_id": .string(serviceID), "event": .string(event),
            "prefix": JSON(prefix), "body": body, "attempts": .array(attempts.map(\.json)),
        ]
    }
}
#endif
