import HTTPTypes
public import Handshake
public import OAuth

/// Hands a Connect-To link to the service without a browser, and says what came of it (dossier 3.3 and 9.2).
///
/// An app that wants the user to see the service's page opens the link itself; that page tells the app nothing.
public struct ConnectDelivery: Sendable {
    private let transport: any Transport

    public init(transport: any Transport = .platform) {
        self.transport = transport
    }

    /// What came of a link.
    public enum Outcome: Sendable, Hashable {
        /// The service took the request and fetches the files now.
        case accepted
        /// The service refused the request: another client, another key, or not a request at all.
        case refused(status: Int)
    }

    /// Delivers a link. Never repeated by itself: the service would fetch the files twice.
    ///
    /// - Throws: ``SequencingError/account(_:)`` for the network, ``SequencingError/service(status:code:message:)`` for
    ///   a status that is neither an acceptance nor a refusal; `CancellationError`.
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
