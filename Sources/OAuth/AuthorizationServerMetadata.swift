/// An authorization server's metadata (RFC 8414, section 2). It is published by the server or configured by hand.
public struct AuthorizationServerMetadata: Sendable, Hashable {
    /// The server's identifier. A code is sent to no other server (`oauth-security.md` B1).
    public var issuer: Issuer
    /// `authorization_endpoint`: where the user's browser goes. Nil for a server without sign-in.
    public var authorizationEndpoint: EndpointURL?
    /// `token_endpoint`: where grants are exchanged for tokens.
    public var tokenEndpoint: EndpointURL
    /// Where refresh tokens are exchanged. For services that have a separate address for it.
    public var refreshEndpoint: EndpointURL?
    /// `revocation_endpoint` (RFC 7009); nil when the server has none.
    public var revocationEndpoint: EndpointURL?
    /// `device_authorization_endpoint` (RFC 8628); nil when the server has none.
    public var deviceAuthorizationEndpoint: EndpointURL?
    /// `introspection_endpoint` (RFC 7662); nil when the server has none.
    public var introspectionEndpoint: EndpointURL?
    /// `pushed_authorization_request_endpoint` (RFC 9126, section 5). Nil when the server has none.
    public var pushedAuthorizationRequestEndpoint: EndpointURL?
    /// `registration_endpoint` (RFC 7591, section 3). Nil when the server registers no apps itself.
    public var registrationEndpoint: EndpointURL?
    /// `userinfo_endpoint` (OpenID Connect Core, section 5.3). Nil when the server has none.
    public var userInfoEndpoint: EndpointURL?
    /// `end_session_endpoint` (OpenID Connect RP-Initiated Logout, section 2.1). Nil when the server has none.
    public var endSessionEndpoint: EndpointURL?
    /// `backchannel_authentication_endpoint` (CIBA Core, section 4). Nil when the server has none.
    public var backchannelAuthenticationEndpoint: EndpointURL?
    /// `jwks_uri`: where the keys of its signatures are; nil when the server has none.
    public var keysEndpoint: EndpointURL?

    /// `code_challenge_methods_supported`; nil when the server does not state them.
    public var codeChallengeMethods: [String]?
    /// `token_endpoint_auth_methods_supported`. Nil when the server does not state them.
    public var tokenEndpointAuthMethods: [String]?
    /// `token_endpoint_auth_signing_alg_values_supported`. Nil when the server does not state them.
    public var tokenEndpointAuthSigningAlgorithms: [String]?
    /// `revocation_endpoint_auth_signing_alg_values_supported`. Nil when the server does not state them.
    public var revocationEndpointAuthSigningAlgorithms: [String]?
    /// `introspection_endpoint_auth_signing_alg_values_supported`. Nil when the server does not state them.
    public var introspectionEndpointAuthSigningAlgorithms: [String]?
    /// `dpop_signing_alg_values_supported` (RFC 9449, section 5.1). Nil when the server does not state them.
    public var dpopSigningAlgorithms: [String]?
    /// `request_object_signing_alg_values_supported` (RFC 9101, section 10.5). Nil when the server does not state them.
    public var requestObjectSigningAlgorithms: [String]?
    /// Whether the server takes signed requests alone. Source: RFC 9101, section 10.5.
    public var requiresSignedRequestObject = false
    /// `response_modes_supported`; nil when the server does not state them.
    public var responseModes: [String]?
    /// `authorization_signing_alg_values_supported` (JARM, section 4). Nil when the server does not state them.
    public var authorizationSigningAlgorithms: [String]?
    /// `userinfo_signing_alg_values_supported`. Nil when the server does not state them.
    public var userInfoSigningAlgorithms: [String]?
    /// `authorization_details_types_supported` (RFC 9396, section 10). Nil when the server does not state them.
    public var authorizationDetailsTypes: [String]?
    /// `mtls_endpoint_aliases`: endpoints for clients with a certificate. Each has the name of the one that it replaces.
    /// Source: RFC 8705, section 5.
    public var mutualTLSAliases: [String: EndpointURL] = [:]
    /// Whether tokens can be bound to a certificate. Source: RFC 8705, section 3.3.
    public var bindsTokensToCertificates = false
    /// Whether the server accepts only pushed authorization requests. Source: RFC 9126, section 5.
    public var requiresPushedAuthorizationRequests = false
    /// `response_types_supported`; nil when the server does not state them.
    public var responseTypes: [String]?
    /// `grant_types_supported`; nil when the server does not state them.
    public var grantTypes: [String]?
    /// `backchannel_token_delivery_modes_supported` (CIBA Core, section 4). Nil when the server does not state them.
    public var backchannelTokenDeliveryModes: [String]?
    /// The algorithms of signed backchannel requests. Nil when the server takes none.
    ///
    /// `backchannel_authentication_request_signing_alg_values_supported` (CIBA Core, section 4).
    public var backchannelRequestSigningAlgorithms: [String]?
    /// `scopes_supported`; nil when the server does not state them.
    public var scopes: [String]?
    /// `id_token_signing_alg_values_supported`. Nil when the server does not state them.
    public var idTokenSigningAlgorithms: [String]?
    /// Whether the server announces `iss` in its responses (RFC 9207, section 3). Every authorization response then has
    /// it.
    public var announcesIssuerInResponse = false

    /// Whether `client_id_metadata_document_supported` is `true`. A client may be named by the address of its own document.
    public var acceptsClientDocuments = false

    /// Where these values come from; shown in diagnostics (`oauth-security.md` H5).
    public var source: Source

    /// The rules under which the addresses were accepted (`oauth-security.md` C7). They are shown in diagnostics.
    public var security: TransportSecurity

    /// Where metadata comes from.
    public enum Source: String, Sendable, Hashable, Codable {
        /// The server's own documents.
        case discovered
        /// Written by hand, in the app or on the command line.
        case configured
    }

    /// Describes a server by hand. Discovery is better where the server has it.
    public init(
        issuer: Issuer, authorizationEndpoint: EndpointURL? = nil, tokenEndpoint: EndpointURL,
        security: TransportSecurity = .httpsOnly
    ) {
        self.issuer = issuer
        self.authorizationEndpoint = authorizationEndpoint
        self.tokenEndpoint = tokenEndpoint
        self.security = security
        source = .configured
    }
}

extension AuthorizationServerMetadata {
    /// The longest document that is read, in bytes. What it lists is stored with each account.
    public static let maximumLength = 262_144

    /// Reads a metadata document of RFC 8414 or of OpenID Connect Discovery.
    ///
    /// At an address that many tenants share, the document may name the template, or the issuer of one tenant: that is the
    /// server's issuer then.
    ///
    /// - Parameters:
    ///   - content: the document.
    ///   - issuer: the issuer that was asked.
    ///   - template: the issuers of the server's tenants; nil for a server with one issuer.
    ///   - security: the rules for the addresses.
    /// - Throws: ``OAuthError/refused(_:)`` with ``Refusal/Check/issuer`` when the document names another issuer than
    ///   the one asked (RFC 8414, section 3.3); ``OAuthError/malformed(step:member:expected:found:)`` naming the member
    ///   that is wrong, or `content` when the document is longer than ``maximumLength``.
    public init(
        parsing content: [UInt8], expected issuer: Issuer, of template: IssuerTemplate? = nil,
        security: TransportSecurity = .httpsOnly
    ) throws(OAuthError) {
        guard content.count <= Self.maximumLength else {
            throw .malformed(
                step: .metadata, member: "content", expected: "at most \(Self.maximumLength) bytes",
                found: "\(content.count)")
        }
        let document = try ResponseReader(step: .metadata, content: content)
        let stated = try document.requiredString("issuer")
        self.init(
            issuer: try Self.issuer(stated, expected: issuer, of: template, security: security),
            authorizationEndpoint: try document.page("authorization_endpoint", security: security),
            tokenEndpoint: try document.requiredEndpoint("token_endpoint", security: security),
            security: security)
        revocationEndpoint = try document.endpoint("revocation_endpoint", security: security)
        deviceAuthorizationEndpoint = try document.endpoint("device_authorization_endpoint", security: security)
        introspectionEndpoint = try document.endpoint("introspection_endpoint", security: security)
        pushedAuthorizationRequestEndpoint = try document.endpoint(
            "pushed_authorization_request_endpoint", security: security)
        registrationEndpoint = try document.endpoint("registration_endpoint", security: security)
        userInfoEndpoint = try document.endpoint("userinfo_endpoint", security: security)
        endSessionEndpoint = try document.page("end_session_endpoint", security: security)
        backchannelAuthenticationEndpoint = try document.endpoint(
            "backchannel_authentication_endpoint", security: security)
        backchannelTokenDeliveryModes = try document.strings("backchannel_token_delivery_modes_supported")
        backchannelRequestSigningAlgorithms = try document.strings(
            "backchannel_authentication_request_signing_alg_values_supported")
        keysEndpoint = try document.endpoint("jwks_uri", security: security)
        codeChallengeMethods = try document.strings("code_challenge_methods_supported")
        tokenEndpointAuthMethods = try document.strings("token_endpoint_auth_methods_supported")
        tokenEndpointAuthSigningAlgorithms = try document.strings("token_endpoint_auth_signing_alg_values_supported")
        revocationEndpointAuthSigningAlgorithms = try document.strings(
            "revocation_endpoint_auth_signing_alg_values_supported")
        introspectionEndpointAuthSigningAlgorithms = try document.strings(
            "introspection_endpoint_auth_signing_alg_values_supported")
        dpopSigningAlgorithms = try document.strings("dpop_signing_alg_values_supported")
        requiresPushedAuthorizationRequests = try document.bool("require_pushed_authorization_requests") ?? false
        responseTypes = try document.strings("response_types_supported")
        grantTypes = try document.strings("grant_types_supported")
        scopes = try document.strings("scopes_supported")
        idTokenSigningAlgorithms = try document.strings("id_token_signing_alg_values_supported")
        announcesIssuerInResponse = try document.bool("authorization_response_iss_parameter_supported") ?? false
        // Only the literal counts, and anything else is no reason to refuse the document.
        acceptsClientDocuments = document["client_id_metadata_document_supported"] == .bool(true)
        requestObjectSigningAlgorithms = try document.strings("request_object_signing_alg_values_supported")
        requiresSignedRequestObject = try document.bool("require_signed_request_object") ?? false
        responseModes = try document.strings("response_modes_supported")
        authorizationSigningAlgorithms = try document.strings("authorization_signing_alg_values_supported")
        userInfoSigningAlgorithms = try document.strings("userinfo_signing_alg_values_supported")
        authorizationDetailsTypes = try document.strings("authorization_details_types_supported")
        mutualTLSAliases = try document.aliases(
            "mtls_endpoint_aliases", of: Set(Self.aliasedEndpoints.keys), security: security)
        bindsTokensToCertificates = try document.bool("tls_client_certificate_bound_access_tokens") ?? false
        source = .discovered
        try checkZones(document)
        noteNamer()
    }

    /// The issuer that a document states.
    private static func issuer(
        _ stated: String, expected issuer: Issuer, of template: IssuerTemplate?, security: TransportSecurity
    ) throws(OAuthError) -> Issuer {
        if issuer.isSpelled(stated) { return issuer }
        if let template, template.isShared(issuer) {
            if template.isSpelled(stated) { return issuer }
            if template.hasTenant(stated) { return try Issuer(stated, security: security) }
        }
        let expected = template.map { $0.isShared(issuer) ? "\(issuer) or \($0)" : issuer.string } ?? issuer.string
        let note = template == nil && stated.utf8.contains(UInt8(ascii: "{")) ? ", which stands for many tenants" : ""
        throw .refused(Refusal(.issuer, expected: expected, found: Redaction()(stated, limit: 200) + note))
    }

    /// Notes of the addresses in a document that the issuer has named them.
    package mutating func noteNamer() {
        let issuer = issuer.url
        func named(_ endpoint: EndpointURL) -> EndpointURL {
            guard endpoint.origin.host == issuer.origin.host else { return endpoint.named(by: issuer.origin) }
            var named = endpoint
            named.namedBy = issuer.namedBy
            return named
        }
        tokenEndpoint = named(tokenEndpoint)
        for path in Self.optionalEndpoints { self[keyPath: path] = self[keyPath: path].map(named) }
        mutualTLSAliases = mutualTLSAliases.mapValues(named)
    }

    private static var optionalEndpoints: [WritableKeyPath<AuthorizationServerMetadata, EndpointURL?>] {
        [
            \.authorizationEndpoint, \.refreshEndpoint, \.revocationEndpoint, \.deviceAuthorizationEndpoint,
            \.introspectionEndpoint, \.pushedAuthorizationRequestEndpoint, \.registrationEndpoint, \.userInfoEndpoint,
            \.endSessionEndpoint, \.backchannelAuthenticationEndpoint, \.keysEndpoint,
        ]
    }

    /// Refuses a public issuer's addresses in a private network or on this machine, so that a hostile document cannot choose
    /// what a server calls there (`oauth-security.md` H4; RFC 9728, section 7.7).
    private func checkZones(_ document: ResponseReader) throws(OAuthError) {
        let endpoints =
            [
                ("authorization_endpoint", authorizationEndpoint), ("token_endpoint", tokenEndpoint),
                ("revocation_endpoint", revocationEndpoint),
                ("device_authorization_endpoint", deviceAuthorizationEndpoint),
                ("introspection_endpoint", introspectionEndpoint),
                ("pushed_authorization_request_endpoint", pushedAuthorizationRequestEndpoint),
                ("registration_endpoint", registrationEndpoint), ("userinfo_endpoint", userInfoEndpoint),
                ("end_session_endpoint", endSessionEndpoint),
                ("backchannel_authentication_endpoint", backchannelAuthenticationEndpoint), ("jwks_uri", keysEndpoint),
            ] + mutualTLSAliases.sorted { $0.key < $1.key }.map { ("mtls_endpoint_aliases", $0.value) }
        for case (let name, let endpoint?) in endpoints
        where !NetworkZone.mayLead(from: issuer.url.origin, to: endpoint.origin) {
            throw document.malformed(
                name, expected: "an address outside this machine and its local network",
                found: endpoint.origin.authority)
        }
    }

    /// The same server with the origin of `base` in all its addresses, such as a sandbox's.
    package func at(_ base: EndpointURL) -> AuthorizationServerMetadata {
        var server = self
        server.issuer = issuer.at(base)
        server.tokenEndpoint = tokenEndpoint.moved(to: base.origin)
        server.security = base.security
        for endpoint in Self.optionalEndpoints {
            server[keyPath: endpoint] = server[keyPath: endpoint]?.moved(to: base.origin)
        }
        server.mutualTLSAliases = mutualTLSAliases.mapValues { $0.moved(to: base.origin) }
        return server
    }

    /// The endpoints that may have an alias (RFC 8705, section 5). The browser's page has none.
    private static var aliasedEndpoints: [String: WritableKeyPath<AuthorizationServerMetadata, EndpointURL?>] {
        [
            "revocation_endpoint": \.revocationEndpoint, "introspection_endpoint": \.introspectionEndpoint,
            "device_authorization_endpoint": \.deviceAuthorizationEndpoint,
            "pushed_authorization_request_endpoint": \.pushedAuthorizationRequestEndpoint,
            "backchannel_authentication_endpoint": \.backchannelAuthenticationEndpoint,
            "userinfo_endpoint": \.userInfoEndpoint, "token_endpoint": \.tokenAlias,
        ]
    }

    /// The token endpoint as an alias may replace it.
    private var tokenAlias: EndpointURL? {
        get { tokenEndpoint }
        set { tokenEndpoint = newValue ?? tokenEndpoint }
    }

    /// The server as a client with a certificate calls it: its aliases in place of the endpoints that they name
    /// (RFC 8705, section 5).
    package var withMutualTLSAliases: AuthorizationServerMetadata {
        var server = self
        for (name, alias) in mutualTLSAliases {
            guard let endpoint = Self.aliasedEndpoints[name] else { continue }
            server[keyPath: endpoint] = alias
            if name == "token_endpoint" { server.refreshEndpoint = nil }
        }
        return server
    }

    /// The error for a request whose endpoint is missing: the service's fault when it publishes its metadata, otherwise
    /// the configuration's.
    package func lacks(_ endpoint: String) -> OAuthError {
        switch source {
        case .discovered:
            .malformed(step: .metadata, member: endpoint, expected: "an https address", found: "nothing")
        case .configured:
            .configuration(member: endpoint, problem: "the server is configured without this address")
        }
    }

    /// Fills what this document leaves out from another document of the same issuer. What is here stays.
    ///
    /// Servers with both kinds of document put revocation and introspection in one of them and keys in the other.
    public mutating func fillGaps(from other: AuthorizationServerMetadata) {
        guard other.issuer == issuer else { return }
        authorizationEndpoint = authorizationEndpoint ?? other.authorizationEndpoint
        revocationEndpoint = revocationEndpoint ?? other.revocationEndpoint
        deviceAuthorizationEndpoint = deviceAuthorizationEndpoint ?? other.deviceAuthorizationEndpoint
        introspectionEndpoint = introspectionEndpoint ?? other.introspectionEndpoint
        pushedAuthorizationRequestEndpoint =
            pushedAuthorizationRequestEndpoint ?? other.pushedAuthorizationRequestEndpoint
        registrationEndpoint = registrationEndpoint ?? other.registrationEndpoint
        userInfoEndpoint = userInfoEndpoint ?? other.userInfoEndpoint
        endSessionEndpoint = endSessionEndpoint ?? other.endSessionEndpoint
        backchannelAuthenticationEndpoint = backchannelAuthenticationEndpoint ?? other.backchannelAuthenticationEndpoint
        backchannelTokenDeliveryModes = backchannelTokenDeliveryModes ?? other.backchannelTokenDeliveryModes
        backchannelRequestSigningAlgorithms =
            backchannelRequestSigningAlgorithms ?? other.backchannelRequestSigningAlgorithms
        keysEndpoint = keysEndpoint ?? other.keysEndpoint
        codeChallengeMethods = codeChallengeMethods ?? other.codeChallengeMethods
        tokenEndpointAuthMethods = tokenEndpointAuthMethods ?? other.tokenEndpointAuthMethods
        tokenEndpointAuthSigningAlgorithms =
            tokenEndpointAuthSigningAlgorithms ?? other.tokenEndpointAuthSigningAlgorithms
        revocationEndpointAuthSigningAlgorithms =
            revocationEndpointAuthSigningAlgorithms ?? other.revocationEndpointAuthSigningAlgorithms
        introspectionEndpointAuthSigningAlgorithms =
            introspectionEndpointAuthSigningAlgorithms ?? other.introspectionEndpointAuthSigningAlgorithms
        dpopSigningAlgorithms = dpopSigningAlgorithms ?? other.dpopSigningAlgorithms
        requiresPushedAuthorizationRequests =
            requiresPushedAuthorizationRequests || other.requiresPushedAuthorizationRequests
        responseTypes = responseTypes ?? other.responseTypes
        grantTypes = grantTypes ?? other.grantTypes
        scopes = scopes ?? other.scopes
        idTokenSigningAlgorithms = idTokenSigningAlgorithms ?? other.idTokenSigningAlgorithms
        announcesIssuerInResponse = announcesIssuerInResponse || other.announcesIssuerInResponse
        acceptsClientDocuments = acceptsClientDocuments || other.acceptsClientDocuments
        requestObjectSigningAlgorithms = requestObjectSigningAlgorithms ?? other.requestObjectSigningAlgorithms
        requiresSignedRequestObject = requiresSignedRequestObject || other.requiresSignedRequestObject
        responseModes = responseModes ?? other.responseModes
        authorizationSigningAlgorithms = authorizationSigningAlgorithms ?? other.authorizationSigningAlgorithms
        userInfoSigningAlgorithms = userInfoSigningAlgorithms ?? other.userInfoSigningAlgorithms
        authorizationDetailsTypes = authorizationDetailsTypes ?? other.authorizationDetailsTypes
        mutualTLSAliases.merge(other.mutualTLSAliases) { own, _ in own }
        bindsTokensToCertificates = bindsTokensToCertificates || other.bindsTokensToCertificates
    }
}
