public import HTTPTypes

/// Asks for a code that a user approves on another device (RFC 8628, section 3.1).
///
/// The request has no redirect URI, no state, no PKCE challenge and no nonce: nothing comes back through a browser.
public struct DeviceAuthorizationRequest: Sendable {
    /// The server that is asked.
    public let server: AuthorizationServerMetadata
    /// The client that asks.
    public let clientID: String
    /// How the client authenticates, as at the token endpoint (RFC 8628, section 3.1).
    public let authentication: ClientAuthentication
    /// The scopes to ask for, in order.
    public let scopes: [String]
    /// The APIs that tokens are for (RFC 8707, section 2).
    public let resources: [String]
    /// Parameters that the service wants beyond the standard.
    public let extras: [String: String]
    /// The separator of two scopes.
    public let scopeDelimiter: String
    /// Header fields that the service wants beyond the standard.
    public let headers: HTTPFields
    /// How the service's token endpoint departs from the standard. This endpoint departs the same way.
    public let deviations: TokenDeviations

    /// Prepares a request to `server`.
    public init(
        to server: AuthorizationServerMetadata, clientID: String, authentication: ClientAuthentication,
        scopes: [String], resources: [String] = [], extras: [String: String] = [:], scopeDelimiter: String = " ",
        headers: HTTPFields = HTTPFields(), deviations: TokenDeviations = TokenDeviations()
    ) {
        self.server = server
        self.clientID = clientID
        self.authentication = authentication
        self.scopes = scopes
        self.resources = resources
        self.extras = extras
        self.scopeDelimiter = scopeDelimiter
        self.headers = headers
        self.deviations = deviations
    }

    /// The request to send.
    ///
    /// - Throws: ``OAuthError/configuration(member:problem:)`` for a colliding parameter, or for a server described by
    ///   hand without a device authorization endpoint; ``OAuthError/malformed(step:member:expected:found:)`` when a
    ///   discovered server has none.
    public var message: RequestMessage {
        get throws(OAuthError) {
            guard let endpoint = server.deviceAuthorizationEndpoint else {
                throw server.lacks("device_authorization_endpoint")
            }
            try Scope.check(scopes)
            var parameters = Parameters()
            try parameters.add("scope", scopes.joined(separator: scopeDelimiter))
            try parameters.addEach("resource", resources)
            try parameters.add(extras: extras, reserved: Self.reservedNames)
            return try authentication.message(
                parameters, headers: headers, sendsJSON: deviations.sendsJSON, clientID: clientID,
                for: AuthenticatedCall(
                    server: server, endpoint: endpoint, algorithms: server.tokenEndpointAuthSigningAlgorithms))
        }
    }

    /// Reads the response (RFC 8628, section 3.2).
    ///
    /// - Throws: ``OAuthError/server(_:)``; ``OAuthError/malformed(step:member:expected:found:)`` naming the member that
    ///   is missing or wrong, such as a `verification_uri` that must not be shown; ``OAuthError/refused(_:)`` with
    ///   ``Refusal/Check/insecureTransport`` for one that is not `https:`; ``OAuthError/redirected(step:status:target:)``.
    public func authorization(from response: ResponseMessage) throws(OAuthError) -> DeviceAuthorization {
        let secrets =
            authentication.secrets(clientID: clientID) + extras.values.filter { $0.utf8.count >= 8 }.map(Secret.init)
        let deviceCode = (try? deviations.members(of: response.content))?.object?["device_code"]?.string.map(
            Secret.init)
        let hidden = secrets + [deviceCode].compactMap(\.self)
        let answer = try ResponseReader(
            successOf: .deviceAuthorization, in: response, hiding: hidden, deviations: deviations)
        return try DeviceAuthorization(answer, for: server)
    }

    private static let reservedNames = TokenRequest.reservedNames.union(["state", "nonce", "code_challenge"])
}

extension DeviceAuthorizationRequest: CustomReflectable {
    /// The request without the values of the extra parameters. A service may want secrets among them.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "issuer": server.issuer.string, "clientID": clientID, "authentication": authentication,
                "scopes": scopes, "resources": resources, "extras": extras.keys.sorted(),
            ], displayStyle: .struct)
    }
}
