/// Hands an authorization request to the server (RFC 9126, section 2.1). It does so before the browser opens.
public struct PushedAuthorizationRequest: Sendable {
    /// The request that is handed over.
    public let request: AuthorizationRequest
    /// How the client authenticates, as at the token endpoint (RFC 9126, section 2).
    public let authentication: ClientAuthentication

    /// The longest `request_uri` that is read, in bytes.
    static let maximumLength = 4096

    /// Prepares a push of a new request. A stored request cannot be pushed again (RFC 9126, section 2.2).
    public init(_ request: AuthorizationRequest, authentication: ClientAuthentication) {
        self.request = request
        self.authentication = authentication
    }

    /// The request to send.
    ///
    /// - Throws: ``OAuthError/malformed(step:member:expected:found:)``, or for a server described by hand
    ///   ``OAuthError/configuration(member:problem:)``, when the server has no endpoint for it.
    public var message: RequestMessage {
        get throws(OAuthError) {
            let server = request.server
            guard let endpoint = server.pushedAuthorizationRequestEndpoint else {
                throw server.lacks("pushed_authorization_request_endpoint")
            }
            var parameters = Parameters()
            // RFC 9126, section 3: beside a signed text stands nothing but the client's authentication.
            let isSigned = request.object != nil
            for (name, values) in request.parameters.grouped
            where name != "client_id" && (!isSigned || name == "request") {
                try parameters.addEach(name, values)
            }
            guard !parameters.pairs.isEmpty else {
                throw .configuration(member: "request", problem: "it was pushed already; begin a new sign-in")
            }
            return try authentication.message(
                parameters, clientID: request.clientID,
                for: AuthenticatedCall(
                    server: server, endpoint: endpoint, algorithms: server.tokenEndpointAuthSigningAlgorithms))
        }
    }

    /// Reads the response, and returns the pushed request (RFC 9126, section 4). It is the same request, whose address
    /// now holds the client and a reference.
    ///
    /// The reference is used as it came and never fetched. `expires_in` bounds the opening of the page at the server.
    ///
    /// - Parameters:
    ///   - response: the server's answer.
    ///   - repeated: the names of parameters that the server wants in the browser's address too, a deviation.
    /// - Throws: ``OAuthError/server(_:)``, ``OAuthError/redirected(step:status:target:)``, or
    ///   ``OAuthError/malformed(step:member:expected:found:)``. After any of them the browser is not to be opened.
    public func pushed(
        _ response: ResponseMessage, repeating repeated: Set<String> = []
    ) throws(OAuthError) -> AuthorizationRequest {
        let secrets = request.secrets + authentication.secrets(clientID: request.clientID)
        let members = try ResponseReader(successOf: .pushedAuthorization, in: response, hiding: secrets)
        let reference = try members.requiredString("request_uri")
        guard reference.utf8.count <= Self.maximumLength, reference.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw .malformed(
                step: .pushedAuthorization, member: "request_uri",
                expected: "printable ASCII of at most \(Self.maximumLength) bytes", found: "other characters or more")
        }
        guard let lifetime = try members.integer("expires_in"), lifetime > 0 else {
            throw members.malformed("expires_in", expected: "a positive number of seconds")
        }
        return try request.referring(to: reference, repeating: repeated)
    }
}
