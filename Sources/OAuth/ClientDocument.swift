/// A client that is named by the address of its own document.
///
/// Source: draft-ietf-oauth-client-id-metadata-document-01.
/// The address is the client's identifier at every server that takes such clients
/// (``AuthorizationServerMetadata/acceptsClientDocuments``). The app's developer publishes ``content`` there.
public struct ClientDocument: Sendable, Hashable {
    /// Where the document is published. Its spelling is the `client_id`.
    public let address: EndpointURL
    /// The app's name, which servers show to their users.
    public let name: String
    /// Where the browser brings the user back.
    public let redirectURIs: [RedirectURI]
    /// Where the client's keys are published. Nil for a public client.
    ///
    /// It authenticates with them (`private_key_jwt`).
    public var keysAddress: EndpointURL?

    /// Describes a document.
    ///
    /// - Parameters:
    ///   - address: where it is published.
    ///   - name: the app's name.
    ///   - redirectURIs: where redirects arrive; a loopback listener at `/callback` unless given.
    /// - Throws: what ``check(_:)`` throws.
    public init(at address: String, name: String, redirectURIs: [RedirectURI] = []) throws(OAuthError) {
        self.address = try Self.check(address)
        self.name = name
        self.redirectURIs = redirectURIs
    }

    /// Checks the address of a document.
    ///
    /// - Throws: ``OAuthError/configuration(member:problem:)`` for an address without a path, or with a dot segment, a query, a
    ///   fragment or a user name; ``OAuthError/refused(_:)`` for plain `http:`.
    public static func check(_ address: String) throws(OAuthError) -> EndpointURL {
        let url = try EndpointURL(address, member: "client_id")
        guard url.path != "/", url.query == nil, !url.hasDotSegments else {
            throw .configuration(
                member: "client_id",
                problem: "the address of a client's document has a path, and neither a query nor a segment . or ..")
        }
        return url
    }

    /// The document, as JSON. It has no secret: anyone can read it.
    public var content: [UInt8] {
        let redirects =
            redirectURIs.isEmpty
            // Servers take any port of these (RFC 8252, section 7.3).
            ? ["http://127.0.0.1/callback", "http://[::1]/callback"] : redirectURIs.map(\.string)
        let isNative = redirectURIs.allSatisfy { $0.kind != .claimed }
        var members: JSONObject = [
            "client_id": .string(address.string), "client_name": .string(name),
            "redirect_uris": .array(redirects.map(JSONValue.string)), "response_types": .array([.string("code")]),
            "grant_types": .array([.string("authorization_code"), .string("refresh_token")]),
            "token_endpoint_auth_method": .string(keysAddress == nil ? "none" : "private_key_jwt"),
            "application_type": .string(isNative ? "native" : "web"),
        ]
        members["jwks_uri"] = keysAddress.map { .string($0.string) }
        return Array(JSONValue.object(members).json.utf8)
    }
}
