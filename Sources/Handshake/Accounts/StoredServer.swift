import OAuth

/// Authorization server metadata as it is kept beside a grant or a pending sign-in.
struct StoredServer: Codable, Sendable {
    let issuer: String
    let security: TransportSecurity
    let source: AuthorizationServerMetadata.Source
    let authorization: String?
    let token: String
    let refresh: String?
    let device: String?
    let revocation: String?
    let introspection: String?
    let userInfo: String?
    let keys: String?
    let challengeMethods: [String]?
    let authenticationMethods: [String]?
    let signingAlgorithms: [String]?
    let announcesIssuer: Bool
    /// Absent, as all below, in records of before they were read.
    let pushedAuthorization: String?
    let requiresPushedAuthorization: Bool?
    let assertionAlgorithms: [String]?
    let revocationAssertionAlgorithms: [String]?
    let introspectionAssertionAlgorithms: [String]?
    let dpopAlgorithms: [String]?
    let endSession: String?
    let backchannelAuthentication: String?
    let backchannelModes: [String]?
    let requestObjectAlgorithms: [String]?
    let requiresSignedRequest: Bool?
    let responseModes: [String]?
    let responseAlgorithms: [String]?
    let userInfoAlgorithms: [String]?
    let detailTypes: [String]?
    let mutualTLSAliases: [String: String]?
    let bindsToCertificates: Bool?
    /// The origin of the API that has named the issuer; nil where the user or the app has given it.
    let namedBy: String?

    init(_ server: AuthorizationServerMetadata) {
        issuer = server.issuer.string
        security = server.security
        source = server.source
        authorization = server.authorizationEndpoint?.string
        token = server.tokenEndpoint.string
        refresh = server.refreshEndpoint?.string
        device = server.deviceAuthorizationEndpoint?.string
        revocation = server.revocationEndpoint?.string
        introspection = server.introspectionEndpoint?.string
        userInfo = server.userInfoEndpoint?.string
        keys = server.keysEndpoint?.string
        challengeMethods = server.codeChallengeMethods
        authenticationMethods = server.tokenEndpointAuthMethods
        signingAlgorithms = server.idTokenSigningAlgorithms
        announcesIssuer = server.announcesIssuerInResponse
        pushedAuthorization = server.pushedAuthorizationRequestEndpoint?.string
        requiresPushedAuthorization = server.requiresPushedAuthorizationRequests
        assertionAlgorithms = server.tokenEndpointAuthSigningAlgorithms
        revocationAssertionAlgorithms = server.revocationEndpointAuthSigningAlgorithms
        introspectionAssertionAlgorithms = server.introspectionEndpointAuthSigningAlgorithms
        dpopAlgorithms = server.dpopSigningAlgorithms
        endSession = server.endSessionEndpoint?.string
        backchannelAuthentication = server.backchannelAuthenticationEndpoint?.string
        backchannelModes = server.backchannelTokenDeliveryModes
        requestObjectAlgorithms = server.requestObjectSigningAlgorithms
        requiresSignedRequest = server.requiresSignedRequestObject
        responseModes = server.responseModes
        responseAlgorithms = server.authorizationSigningAlgorithms
        userInfoAlgorithms = server.userInfoSigningAlgorithms
        detailTypes = server.authorizationDetailsTypes
        mutualTLSAliases = server.mutualTLSAliases.mapValues(\.string)
        bindsToCertificates = server.bindsTokensToCertificates
        namedBy = server.issuer.url.namedBy?.description
    }

    /// The metadata again, with every address checked as if it had just arrived.
    func metadata() throws(OAuthError) -> AuthorizationServerMetadata {
        func endpoint(_ text: String?) throws(OAuthError) -> EndpointURL? {
            guard let text else { return nil }
            return try EndpointURL(text, security: security, member: "stored endpoint")
        }
        // A page that no browser may open is left out: without it the tokens can still be refreshed and revoked.
        func page(_ text: String?) throws(OAuthError) -> EndpointURL? {
            try endpoint(text.flatMap { EndpointURL.isSafeToOpen($0) ? $0 : nil })
        }
        var issuer = try Issuer(self.issuer, security: security)
        if let namedBy { issuer = issuer.named(by: try EndpointURL(namedBy, security: security).origin) }
        var server = AuthorizationServerMetadata(
            issuer: issuer, authorizationEndpoint: try page(authorization),
            tokenEndpoint: try EndpointURL(token, security: security, member: "stored endpoint"), security: security)
        server.refreshEndpoint = try endpoint(refresh)
        server.deviceAuthorizationEndpoint = try endpoint(device)
        server.revocationEndpoint = try endpoint(revocation)
        server.introspectionEndpoint = try endpoint(introspection)
        server.userInfoEndpoint = try endpoint(userInfo)
        server.keysEndpoint = try endpoint(keys)
        server.codeChallengeMethods = challengeMethods
        server.tokenEndpointAuthMethods = authenticationMethods
        server.idTokenSigningAlgorithms = signingAlgorithms
        server.announcesIssuerInResponse = announcesIssuer
        server.pushedAuthorizationRequestEndpoint = try endpoint(pushedAuthorization)
        server.requiresPushedAuthorizationRequests = requiresPushedAuthorization ?? false
        server.tokenEndpointAuthSigningAlgorithms = assertionAlgorithms
        server.revocationEndpointAuthSigningAlgorithms = revocationAssertionAlgorithms
        server.introspectionEndpointAuthSigningAlgorithms = introspectionAssertionAlgorithms
        server.dpopSigningAlgorithms = dpopAlgorithms
        server.endSessionEndpoint = try page(endSession)
        server.backchannelAuthenticationEndpoint = try endpoint(backchannelAuthentication)
        server.backchannelTokenDeliveryModes = backchannelModes
        server.requestObjectSigningAlgorithms = requestObjectAlgorithms
        server.requiresSignedRequestObject = requiresSignedRequest ?? false
        server.responseModes = responseModes
        server.authorizationSigningAlgorithms = responseAlgorithms
        server.userInfoSigningAlgorithms = userInfoAlgorithms
        server.authorizationDetailsTypes = detailTypes
        for (name, address) in mutualTLSAliases ?? [:] { server.mutualTLSAliases[name] = try endpoint(address) }
        server.bindsTokensToCertificates = bindsToCertificates ?? false
        server.source = source
        if source == .discovered { server.noteNamer() }
        return server
    }
}
