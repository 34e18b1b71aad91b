public import HTTPTypes
public import OAuth

/// A service to connect to. It has an authorization server, an API, and its peculiarities as data.
public struct Service: Sendable {
    /// A short name, such as `recurse-center`. It has lower-case letters, digits and hyphens, and is part of every
    /// account's identifier.
    public let name: String

    /// The name as people read it.
    public let displayName: String

    /// Who grants the tokens.
    public let authorizationServer: AuthorizationServer

    /// What relative paths are resolved against, ending with a slash. Nil when the service has no single API.
    public let apiRoot: EndpointURL?

    /// The origins that may see this service's access tokens. ``apiRoot``'s and the user-info endpoint's may see them
    /// too.
    public let apiOrigins: [Origin]

    /// The smallest useful scope, asked for unless the client names another.
    public let defaultScopes: [String]

    /// Who the user is, according to the API.
    public let identityEndpoint: IdentityEndpoint?

    /// Where the service leaves the standards.
    public let deviations: Deviations

    /// How an authorization server is known.
    public enum AuthorizationServer: Sendable {
        /// By its own metadata, found from its issuer. RFC 8414 comes first, then OpenID Connect Discovery.
        case discovered(Issuer, security: TransportSecurity)
        /// By hand.
        case described(AuthorizationServerMetadata)

        /// Who it is.
        public var issuer: Issuer {
            switch self {
            case .discovered(let issuer, _): issuer
            case .described(let metadata): metadata.issuer
            }
        }

        /// Whether both are known in the same way: by one issuer, or by the same endpoints.
        package func isSame(as other: AuthorizationServer) -> Bool {
            switch (self, other) {
            case (.discovered(let own, _), .discovered(let others, _)): own == others
            case (.described(let own), .described(let others)): own == others
            default: false
            }
        }

        /// Whether what is stored for the other one may go here: it has the same issuer, and the same token endpoint where that is known.
        package func takesTokens(of other: AuthorizationServer) -> Bool {
            switch (self, other) {
            case (.discovered(let own, _), .discovered(let others, _)): own == others || own.withOtherSlash == others
            case (.described(let own), .described(let others)):
                own.issuer == others.issuer && own.tokenEndpoint == others.tokenEndpoint
            default: false
            }
        }

        /// The rules for its addresses.
        public var security: TransportSecurity {
            switch self {
            case .discovered(_, let security): security
            case .described(let metadata): metadata.security
            }
        }
    }

    /// Where an API says who the user is, and under which names.
    public struct IdentityEndpoint: Sendable, Hashable {
        public let url: EndpointURL
        /// What identifies the user: a member, or a JSON Pointer such as `/data/0/id`. The value is a string or a
        /// number.
        public let subjectMember: String
        /// What may hold a name for people, the best first: members, or JSON Pointers.
        public let nameMembers: [String]
        /// The method of the request: `GET`, at some services `POST`.
        public let method: HTTPRequest.Method
        /// Where the request has the access token.
        public let tokenPlacement: TokenPlacement

        /// Where a request has the access token.
        public enum TokenPlacement: String, Sendable, Hashable {
            /// In the `Authorization` field (RFC 6750, section 2.1).
            case header
            /// At the end of the URL, percent-encoded, for a service that has no other way. Servers and proxies log URLs, so no
            /// other endpoint can have it. An answer without a subject means that the token is not accepted.
            case endOfURL
        }

        public init(
            url: EndpointURL, subjectMember: String, nameMembers: [String], method: HTTPRequest.Method = .get,
            tokenPlacement: TokenPlacement = .header
        ) {
            self.tokenPlacement = tokenPlacement
            self.url = url
            self.subjectMember = subjectMember
            self.nameMembers = nameMembers
            self.method = method
        }
    }

    /// Describes a service.
    ///
    /// - Throws: ``HandshakeError/configuration(member:problem:)`` when the name is not of lower-case letters, digits
    ///   and hyphens.
    public init(
        name: String, displayName: String? = nil, authorizationServer: AuthorizationServer, apiRoot: EndpointURL? = nil,
        apiOrigins: [Origin] = [], defaultScopes: [String] = [], identityEndpoint: IdentityEndpoint? = nil,
        deviations: Deviations = Deviations()
    ) throws(HandshakeError) {
        guard Self.isName(name) else {
            throw .configuration(
                member: "service",
                problem: "a name has 1 to 64 lower-case letters, digits and hyphens, not “\(quoted(name, limit: 80))”")
        }
        self.init(
            checkedName: name, displayName: displayName ?? name, authorizationServer: authorizationServer,
            apiRoot: apiRoot,
            apiOrigins: apiOrigins, defaultScopes: defaultScopes, identityEndpoint: identityEndpoint,
            deviations: deviations)
    }

    init(
        checkedName: String, displayName: String, authorizationServer: AuthorizationServer, apiRoot: EndpointURL?,
        apiOrigins: [Origin] = [], defaultScopes: [String] = [], identityEndpoint: IdentityEndpoint?,
        deviations: Deviations
    ) {
        name = checkedName
        self.displayName = displayName
        self.authorizationServer = authorizationServer
        self.apiRoot = apiRoot
        self.apiOrigins = apiOrigins
        self.defaultScopes = defaultScopes
        self.identityEndpoint = identityEndpoint
        self.deviations = deviations
    }

    /// The same service with all its hosts at one origin, such as a sandbox's. Paths stay.
    public func at(_ base: EndpointURL) -> Service {
        let server: AuthorizationServer =
            switch authorizationServer {
            case .discovered(let issuer, _): .discovered(issuer.at(base), security: base.security)
            case .described(let metadata): .described(metadata.at(base))
            }
        let identity = identityEndpoint.map {
            IdentityEndpoint(
                url: $0.url.moved(to: base.origin), subjectMember: $0.subjectMember, nameMembers: $0.nameMembers,
                method: $0.method, tokenPlacement: $0.tokenPlacement)
        }
        var deviations = deviations
        deviations.issuerTemplate = deviations.issuerTemplate?.at(base)
        // A sandbox is no registered app's server.
        deviations.refusesLoopbackRedirects = false
        return Service(
            checkedName: name, displayName: displayName, authorizationServer: server,
            apiRoot: apiRoot?.moved(to: base.origin), apiOrigins: apiOrigins.isEmpty ? [] : [base.origin],
            defaultScopes: defaultScopes, identityEndpoint: identity, deviations: deviations)
    }

    /// Whether a text can name a service or an account.
    static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
    }
}

extension Service {
    /// Whether a response of this status may say that the access token is not accepted. False for nearly every one.
    func mayDemand(_ status: Int) -> Bool {
        status == 401 || status == 403 || !deviations.unauthorizedMessages.isEmpty
    }

    /// Whether a response says that the access token is not accepted: status 401, or what this service says instead.
    ///
    /// - Parameters:
    ///   - token: what was sent; a demand that repeats it does not show it.
    ///   - isBound: whether the token is bound to a key.
    func demand(in response: ResponseMessage, hiding token: Secret, isBound: Bool) -> ResourceDemand? {
        if let demand = ResourceDemand(response, isBound: isBound, hiding: [token]) { return demand }
        guard !deviations.unauthorizedMessages.isEmpty, response.content.count <= 512,
            response.content.first(where: { $0 > 0x20 }) == UInt8(ascii: "{"),
            let message = try? JSONValue(parsing: response.content).object?["message"]?.string,
            deviations.unauthorizedMessages.contains(message)
        else { return nil }
        return .freshToken
    }
}
