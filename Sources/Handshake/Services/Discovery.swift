import HTTPTypes
import Logging
public import OAuth

/// What one well-known address answered instead of metadata.
public struct MetadataFailure: Sendable, Hashable {
    /// The address that was asked.
    public let location: EndpointURL
    /// Why its answer is no metadata.
    public let error: HandshakeError
}

extension Environment {
    /// Finds an issuer's metadata at its well-known addresses (RFC 8414, section 3; OpenID Connect Discovery, section 4).
    ///
    /// An address without a usable document is skipped, because servers answer HTML, redirects or errors where they
    /// publish nothing. A document that is wrong, such as one of another issuer, stops the discovery. Two documents of
    /// one issuer complete each other.
    ///
    /// - Throws: ``HandshakeError/undiscovered(issuer:failures:)`` when no address has a usable document;
    ///   ``HandshakeError/exchange(_:)`` for a wrong document; ``HandshakeError/network(_:)`` when the host cannot be
    ///   reached.
    func discover(
        _ issuer: Issuer, of template: IssuerTemplate? = nil, security: TransportSecurity
    ) async throws -> AuthorizationServerMetadata {
        var found: AuthorizationServerMetadata?
        var failures: [MetadataFailure] = []
        let openID = issuer.openIDLocations
        var hasOpenID = false
        for location in issuer.metadataLocations where !(hasOpenID && openID.contains(location)) {
            do {
                let document = try await metadata(of: issuer, template, at: location, security: security)
                hasOpenID = openID.contains(location)
                if found == nil { found = document } else { found?.fillGaps(from: document) }
            } catch let error as HandshakeError {
                // Where the path stands behind the well-known name, a host may answer for all of its paths.
                let isGuess = openID.count > 1 && location == openID[0]
                if error.stopsDiscovery(isComplete: found != nil, isGuess: isGuess) { throw error }
                failures.append(MetadataFailure(location: location, error: error))
            }
        }
        guard let found else { throw HandshakeError.undiscovered(issuer: issuer, failures: failures) }
        log.debug("discovered an authorization server", metadata: ["issuer": "\(issuer)"])
        return found
    }

    private func metadata(
        of issuer: Issuer, _ template: IssuerTemplate?, at location: EndpointURL, security: TransportSecurity
    ) async throws -> AuthorizationServerMetadata {
        let request = MetadataRequest(issuer: issuer, location: location, template: template, security: security)
        let read = { (response: ResponseMessage) in
            guard let document = try request.metadata(from: response) else {
                throw OAuthError.server(ServerError(step: .metadata, code: nil, status: response.head.status.code))
            }
            return document
        }
        return try await exchange({ request.message }, read)
    }
}

extension HandshakeError {
    /// Whether no other address of the issuer needs to be asked: a wrong document was found, or the host is out of reach.
    fileprivate func stopsDiscovery(isComplete: Bool, isGuess: Bool) -> Bool {
        switch self {
        case .exchange(.refused): !isGuess
        case .network(.unknownHost), .network(.unreachable), .network(.insecure), .network(.timedOut),
            .network(.privateAddress), .network(.missingTransport):
            !isComplete
        default: false
        }
    }
}
