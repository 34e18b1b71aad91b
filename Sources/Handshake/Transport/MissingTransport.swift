#if os(Linux) && !AsyncHTTPClient
import HTTPTypes
public import OAuth

/// Stands for ``Transport/platform`` where the package was built without one: sends nothing and says what to do.
///
/// `Handshake` refuses it when it is created.
public struct MissingTransport: Transport {
    /// What to do about it, for every error that this transport causes.
    static let advice = TransportError.missingTransport

    public func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        throw TransportError.unreachable(host: request.head.authority ?? "the server", reason: Self.advice)
    }
}
#endif
