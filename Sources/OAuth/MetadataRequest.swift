import HTTPTypes

/// Asks one well-known address for an issuer's metadata. Source: RFC 8414, section 3.1; OpenID Connect Discovery,
/// section 4.1.
public struct MetadataRequest: Sendable {
    /// The issuer that the document must name.
    public let issuer: Issuer
    /// The address that is asked: one of ``Issuer/metadataLocations``.
    public let location: EndpointURL
    /// The issuers of the server's tenants, where many share its address. Nil for a server with one issuer.
    public let template: IssuerTemplate?
    /// The rules for the addresses in the document.
    public let security: TransportSecurity

    /// Asks for the metadata of `issuer` at `location`.
    public init(
        issuer: Issuer, location: EndpointURL, template: IssuerTemplate? = nil, security: TransportSecurity = .httpsOnly
    ) {
        self.issuer = issuer
        self.template = template
        self.location = location
        self.security = security
    }

    /// The request to send.
    public var message: RequestMessage {
        RequestMessage(.get, location, headers: [.accept: "application/json"])
    }

    /// Reads the response.
    ///
    /// - Returns: the metadata, or nil when there is no document at this address (status 404 or 410, or 400 and 405
    ///   from servers that do not know well-known addresses).
    /// - Throws: ``OAuthError/refused(_:)`` for a document of another issuer; another ``OAuthError`` when the response was an
    ///   error, a redirect, no JSON by its content type, or no valid document. The next address of
    ///   ``Issuer/metadataLocations`` may have the document, except after a redirect or a status of 500 and above other
    ///   than 502.
    public func metadata(from response: ResponseMessage) throws(OAuthError) -> AuthorizationServerMetadata? {
        if [400, 404, 405, 410].contains(response.head.status.code) { return nil }
        try response.requireSuccess(.metadata)
        guard response.hasJSONContentType else {
            throw .malformed(
                step: .metadata, member: "Content-Type", expected: "application/json",
                found: response.head.headerFields[.contentType].map { Redaction()($0, limit: 80) } ?? "nothing")
        }
        return try AuthorizationServerMetadata(
            parsing: response.content, expected: issuer, of: template, security: security)
    }
}

extension ResponseMessage {
    /// Whether the content type is `application/json` or has the suffix `+json` (RFC 6839, section 3.1).
    var hasJSONContentType: Bool {
        guard let field = head.headerFields[.contentType], field.utf8.count <= 256 else { return false }
        let type = field.prefix { $0 != ";" && $0 != " " && $0 != "\t" }.lowercased()
        return type == "application/json" || (type.hasPrefix("application/") && type.hasSuffix("+json"))
    }

    /// Accepts only status 2xx: a redirect is never followed, and an error response becomes an error.
    ///
    /// - Parameter secrets: what the exchange sent and no error may show.
    func requireSuccess(_ step: OAuthError.Step, hiding secrets: [Secret] = []) throws(OAuthError) {
        switch head.status.kind {
        case .successful: return
        case .redirection: throw .redirected(step: step, status: head.status.code)
        default: throw .server(ServerError(step: step, self, hiding: secrets))
        }
    }
}
