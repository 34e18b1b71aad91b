import HTTPTypes
public import Handshake
public import OAuth

/// Opens a Connect-To link without a browser (dossier 3.3 and 9.2). It returns the outcome.
///
/// An app that wants to show the service's page opens the link in a browser, which returns no outcome.
public struct ConnectDelivery: Sendable {
    private let transport: any Transport

    public init(transport: any Transport = .platform) {
        self.transport = transport
    }

    /// The result of a delivery.
    public enum Outcome: Sendable, Hashable {
        /// The service accepted the request and now downloads the files.
        case accepted
        /// The service rejected the request. The client or the key is another one, or the request is malformed.
        case refused(status: Int)
    }

    /// Delivers a link. Never retried: the service would download the files twice.
    ///
    /// - Throws: ``SequencingError/account(_:)`` for the network, ``SequencingError/service(status:code:message:)`` for
    ///   any other status; `CancellationError`.
    public func deliver(_ link: EndpointURL) async throws -> Outcome {
        do {
            let response = try await transport.send(
                RequestMessage(.get, link, headers: [.accept: "text/html"]), limits: TransferLimits())
            switch response.head.status.kind {
            case .successful: return .accepted
            case .clientError: return .refused(status: response.head.status.code)
            default: throw SequencingError(response)
            }
        } catch {
            throw SequencingError.placing(error)
        }
    }
}
