#if os(Linux) && !AsyncHTTPClient
import HTTPTypes
public import OAuth

/// Stands for ``Transport/platform`` where the package was built without one. It sends nothing and says what to do.
///
/// `Handshake` refuses it when it is created.
public struct MissingTransport: Transport {
    public func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        throw TransportError.missingTransport
    }
}
#endif
