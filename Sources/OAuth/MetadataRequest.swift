import HTTPTypes

/// Asks one well-known address for an issuer's metadata (RFC 8414, section 3.1; OpenID Connect Discovery, section 4.1).
public struct MetadataRequest: Sendable {
    /// The issuer that the answer must name.
    public let issuer: Issuer
    /// The address that is asked: one of ``Issuer/metadataLocations``.
    public let location: EndpointURL
    /// The rules for the addresses in the answer.
    public let security: TransportSecurity

    /// Asks `location` for the metadata of `issuer`.
    public init(issuer: Issuer, location: EndpointURL, security: TransportSecurity = .httpsOnly) {
        self.issuer = issuer
        self.location = location
        self.security = security
    }

    /// The request to send.
    public var message: RequestMessage {
        RequestMessage(.get, location, headers: [.accept: "application/json"])
    }

    /// Reads the answer.
    ///
    /// - Returns: the metadata, or nil when there is no document at this address (status 404 or 410, or 400 and 405
    ///   from servers that do not know well-known addresses).
    /// - Throws: ``OAuthError`` for every other answer.
    public func metadata(from response: ResponseMessage) throws(OAuthError) -> AuthorizationServerMetadata? {
        if [400, 404, 405, 410].contains(response.head.status.code) { return nil }
        try response.requireSuccess(.metadata)
        return try AuthorizationServerMetadata(parsing: response.content, expected: issuer, security: security)
    }
}

extension ResponseMessage {
    /// Lets only a 2xx answer through: a redirect is never followed, an error becomes a value.
    ///
    /// - Parameter secrets: what the server was sent and must not be quoted back.
    func requireSuccess(_ step: OAuthError.Step, hiding secrets: [Secret] = []) throws(OAuthError) {
        switch head.status.kind {
        case .successful: return
        case .redirection: throw .redirected(step: step, status: head.status.code)
        default: throw .server(ServerError(step: step, self, hiding: secrets))
        }
    }
}
