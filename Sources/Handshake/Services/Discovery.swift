import HTTPTypes
import Logging
public import OAuth

/// What one well-known address answered instead of metadata.
public struct MetadataFailure: Sendable, Hashable {
    /// The address that was asked.
    public let location: EndpointURL
    /// Why its answer is no metadata.
    public let error: HandshakeError

    /// The error. For an answer without a code or a text, only its status: the line before says what to do.
    var reason: String {
        if !isTemporary, case .exchange(.server(let answer)) = error, answer.code == nil, answer.text == nil,
            let status = answer.status
        {
            return "status \(status)"
        }
        return "\(error)"
    }

    /// Whether the server has answered that it cannot answer now.
    var isTemporary: Bool {
        guard case .exchange(.server(let answer)) = error, let status = answer.status else { return false }
        return status >= 500 || status == 429
    }
}

extension Environment {
    /// Finds an issuer's metadata at its well-known addresses (RFC 8414, section 3; OpenID Connect Discovery, section 4).
    ///
    /// An address without a usable document is skipped, because servers answer HTML or status 4xx where they publish nothing.
    /// So is a document of another issuer, which a host may have at all of its paths. A redirect, an error of the server and
    /// a failure of the network stop the discovery (`any-server.md` 5). Two documents of one issuer complete each other.
    ///
    /// - Throws: ``HandshakeError/undiscovered(issuer:failures:)`` when no address has a usable document;
    ///   ``HandshakeError/exchange(_:)`` when there are only documents of other issuers; ``HandshakeError/network(_:)`` when the
    ///   host cannot be reached.
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
                failures.append(MetadataFailure(location: location, error: error))
                // A document that was found counts, whatever another address answers.
                if found == nil, error.stopsDiscovery { break }
            }
        }
        guard let found else { throw Self.reason(issuer, failures) }
        log.debug("discovered an authorization server", metadata: ["issuer": "\(issuer)"])
        return found
    }

    /// Why an issuer has no metadata. A document that was refused is named before all else.
    private static func reason(_ issuer: Issuer, _ failures: [MetadataFailure]) -> HandshakeError {
        let errors = failures.map(\.error)
        if let refused = errors.first(where: { $0.refusedCheck != nil }) { return refused }
        if case .network? = errors.last, let last = errors.last, last.stopsDiscovery { return last }
        return .undiscovered(issuer: issuer, failures: failures)
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
    /// What is wrong with a document that was found; nil when none was.
    fileprivate var refusedCheck: Refusal.Check? {
        if case .exchange(.refused(let refusal)) = self { refusal.check } else { nil }
    }

    /// Whether no later address is asked: the host is out of reach or in trouble, or leads elsewhere (`any-server.md` 5).
    fileprivate var stopsDiscovery: Bool {
        switch self {
        case .exchange(.redirected): true
        // Another issuer's document is passed over. The issuer's own one that is wrong, such as an endpoint without TLS, is not.
        case .exchange(.refused(let refusal)): refusal.check != .issuer
        // A gateway answers 502 where nothing stands behind it.
        case .exchange(.server(let error)): error.status.map { $0 >= 500 && $0 != 502 } ?? false
        // Too long for metadata: the next address is asked.
        case .network(.tooLarge): false
        case .network: true
        default: false
        }
    }
}
