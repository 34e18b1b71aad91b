import HTTPTypes

/// Asks a server for the keys it signs with (OpenID Connect Discovery, section 3). They are at the `jwks_uri` of its
/// metadata.
public struct KeySetRequest: Sendable {
    /// The address of the set.
    public let endpoint: EndpointURL

    /// Prepares the request. The address comes from metadata, never from a token's header (`oauth-security.md` D3).
    public init(at endpoint: EndpointURL) {
        self.endpoint = endpoint
    }

    /// The request to send.
    public var message: RequestMessage {
        RequestMessage(.get, endpoint, headers: [.accept: "application/jwk-set+json, application/json"])
    }

    /// Reads the response.
    ///
    /// - Throws: ``OAuthError/redirected(step:status:target:)``, ``OAuthError/server(_:)`` for a response that is not a
    ///   success, and what ``JSONWebKeySet/init(parsing:)`` throws.
    public func keys(from response: ResponseMessage) throws(OAuthError) -> JSONWebKeySet {
        try response.requireSuccess(.keys)
        return try JSONWebKeySet(parsing: response.content)
    }
}
