import HTTPTypes
import OAuth

/// A client as bytes, for the inside of a sealed vault record and nowhere else: it may hold a secret in clear.
struct StoredClient: Codable {
    let service: String
    let displayName: String
    let discovered: String?
    let described: StoredServer?
    let security: TransportSecurity
    let apiRoot: String?
    let apiOrigins: [String]
    let defaultScopes: [String]
    let identityURL: String?
    let identitySubject: String?
    let identityNames: [String]?
    let identityMethod: String?
    let identityTokenPlacement: String?
    let deviations: Service.Deviations
    let id: String
    let scopes: [String]
    let resources: [String]
    let parameters: [String: String]
    let secret: String?
    let method: Client.AuthenticationMethod?
    /// The client's key as it was read, and its name. Absent, as the options, in records of before there were any.
    let key: String?
    let keyID: String?
    /// Certificates and key as they were read, and how the certificate authenticates; nil where it binds tokens only.
    let certificate: String?
    let isSelfSigned: Bool?
    /// Absent for a client that makes no assertions, and in records of before there were any.
    let assertion: StoredAssertion?
    let options: Client.Options?
    /// Absent in records of before there was any such client.
    let confinement: String?
    /// Absent for a client that was registered by hand, and in records of before it was kept.
    let registration: StoredRegistration?
    let hasChosenScopes: Bool?
    /// Absent for a client that signs in on a page, and in records of before there was any other.
    let signsInOnDevice: Bool?
    /// Where redirects arrive: an address, or the listener's port and path.
    let redirectURI: String?
    let redirectPort: UInt16?
    let redirectPath: String?

    init(_ client: Client) {
        let service = client.service
        self.service = service.name
        displayName = service.displayName
        switch service.authorizationServer {
        case .discovered(let issuer, _): (discovered, described) = (issuer.string, nil)
        case .described(let metadata): (discovered, described) = (nil, StoredServer(metadata))
        }
        security = service.authorizationServer.security
        apiRoot = service.apiRoot?.string
        apiOrigins = service.apiOrigins.map(\.description)
        defaultScopes = service.defaultScopes
        identityURL = service.identityEndpoint?.url.string
        identitySubject = service.identityEndpoint?.subjectMember
        identityNames = service.identityEndpoint?.nameMembers
        identityMethod = service.identityEndpoint?.method.rawValue
        identityTokenPlacement = service.identityEndpoint?.tokenPlacement.rawValue
        deviations = service.deviations
        id = client.id
        scopes = client.scopes
        resources = client.resources.map(\.string)
        parameters = client.parameters
        secret = client.credential?.secret?.reveal()
        method = client.credential?.method
        key = client.credential?.key?.source.reveal()
        keyID = client.credential?.key?.keyID
        certificate = client.certificate?.source?.reveal()
        if case .certificate(let isSelfSigned)? = client.credential {
            self.isSelfSigned = isSelfSigned
        } else {
            isSelfSigned = nil
        }
        assertion = client.assertion.map(StoredAssertion.init)
        options = client.options
        confinement = client.confinement?.string
        registration = client.registration.map(StoredRegistration.init)
        hasChosenScopes = client.hasChosenScopes ? true : nil
        signsInOnDevice = client.signsInOnDevice ? true : nil
        switch client.redirect {
        case .uri(let uri): (redirectURI, redirectPort, redirectPath) = (uri.string, nil, nil)
        case .loopback(let port, let path): (redirectURI, redirectPort, redirectPath) = (nil, port, path)
        }
    }

    /// The client again, with every address checked as if it had just been typed.
    func client() throws -> Client {
        func endpoint(_ text: String) throws -> EndpointURL { try EndpointURL(text, security: security) }
        let confined = try confinement.map(endpoint)
        let server: Service.AuthorizationServer
        if let described {
            server = .described(try described.metadata())
        } else {
            let issuer = try Issuer(discovered ?? "", security: security)
            // The API has named it, and not the user.
            server = .discovered(confined.map { issuer.named(by: $0.origin) } ?? issuer, security: security)
        }
        var identity: Service.IdentityEndpoint?
        if let identityURL, let identitySubject {
            identity = .init(
                url: try endpoint(identityURL), subjectMember: identitySubject, nameMembers: identityNames ?? [],
                method: identityMethod.flatMap { HTTPRequest.Method($0) } ?? .get,
                tokenPlacement: identityTokenPlacement.flatMap(Service.IdentityEndpoint.TokenPlacement.init) ?? .header)
        }
        let service = try Service(
            name: service, displayName: displayName, authorizationServer: server, apiRoot: try apiRoot.map(endpoint),
            apiOrigins: try apiOrigins.map { try endpoint($0).origin }, defaultScopes: defaultScopes,
            identityEndpoint: identity, deviations: deviations)
        let listener = Client.Redirect.loopback(port: redirectPort, path: redirectPath ?? "/callback")
        let credential: Client.Credential? =
            if let isSelfSigned {
                .certificate(isSelfSigned: isSelfSigned)
            } else if let key {
                .key(try SigningKey(parsing: Array(key.utf8), keyID: keyID))
            } else { secret.map { .secret(Secret($0), method ?? .automatic) } }
        var client = Client(
            service: service, id: id, redirect: try redirectURI.map { .uri(try RedirectURI($0)) } ?? listener,
            scopes: scopes, resources: try resources.map { try ResourceIndicator($0, security: security) },
            parameters: parameters, credential: credential)
        client.assertion = try assertion?.assertion()
        client.options = options ?? Client.Options()
        client.certificate = try certificate.map { try ClientCertificate(pem: Array($0.utf8)) }
        client.confinement = confined
        client.registration = try registration?.registration(
            at: service.authorizationServer.issuer.url, security: security)
        client.hasChosenScopes = hasChosenScopes ?? false
        client.signsInOnDevice = signsInOnDevice ?? false
        return client
    }
}

/// What a client's assertions say and what signs them, as bytes for the inside of a sealed vault record.
struct StoredAssertion: Codable {
    let issuer: String
    let subject: String?
    /// Absent for the issuer; empty for the token endpoint.
    let audience: String?
    let lifetime: Int
    let claimsScopes: Bool
    let type: String
    let key: String
    let keyID: String?

    init(_ assertion: Client.SignedAssertion) {
        let claims = assertion.claims
        (issuer, subject, lifetime) = (claims.issuer, claims.subject, claims.lifetime)
        (claimsScopes, type) = (claims.claimsScopes, claims.type)
        audience =
            switch claims.audience {
            case .issuer: nil
            case .tokenEndpoint: ""
            case .named(let name): name
            }
        (key, keyID) = (assertion.key.source.reveal(), assertion.key.keyID)
    }

    func assertion() throws -> Client.SignedAssertion {
        var claims = JWTBearerAssertion.Claims(issuer: issuer, subject: subject)
        claims.audience = audience.map { $0.isEmpty ? .tokenEndpoint : .named($0) } ?? .issuer
        (claims.lifetime, claims.claimsScopes, claims.type) = (lifetime, claimsScopes, type)
        return Client.SignedAssertion(claims: claims, key: try SigningKey(parsing: Array(key.utf8), keyID: keyID))
    }
}

/// What a server has registered, as bytes for the inside of a sealed vault record: the token in it is as secret as a
/// refresh token.
struct StoredRegistration: Codable {
    let name: String
    let endpoint: String
    let scopes: [String]
    let redirectURI: String
    let redirectPort: UInt16?
    /// Absent for a redirect that no listener receives.
    let redirectPath: String?
    let isForDevices: Bool
    let expiresAt: Double?
    let managementEndpoint: String?
    let managementToken: String?
    /// Absent where the server has not said so, and in older records; like what follows.
    let isForgotten: Bool?
    let registeredScopes: [String]?
    let idTokenAlgorithm: SignatureAlgorithm?

    init(_ registration: ClientRegistration) {
        name = registration.name
        endpoint = registration.endpoint.string
        scopes = registration.scopes
        redirectURI = registration.redirectURI.string
        switch registration.redirect {
        case .uri: (redirectPort, redirectPath) = (nil, nil)
        case .loopback(let port, let path): (redirectPort, redirectPath) = (port, path)
        }
        isForDevices = registration.isForDevices
        expiresAt = registration.expiresAt
        managementEndpoint = registration.management?.endpoint.string
        managementToken = registration.management?.token.reveal()
        isForgotten = registration.isForgotten ? true : nil
        registeredScopes = registration.registeredScopes
        idTokenAlgorithm = registration.idTokenAlgorithm
    }

    func registration(at issuer: EndpointURL, security: TransportSecurity) throws(OAuthError) -> ClientRegistration {
        let uri = try RedirectURI(redirectURI)
        let endpoint = try EndpointURL(endpoint, security: security).named(by: issuer)
        var management: ClientManagement?
        if let managementEndpoint, let managementToken {
            management = ClientManagement(
                endpoint: try EndpointURL(managementEndpoint, security: security).named(by: endpoint),
                token: Secret(managementToken))
        }
        return ClientRegistration(
            name: name, endpoint: endpoint, scopes: scopes,
            redirect: redirectPath.map { .loopback(port: redirectPort, path: $0) } ?? .uri(uri), redirectURI: uri,
            isForDevices: isForDevices, expiresAt: expiresAt, management: management, isForgotten: isForgotten ?? false,
            registeredScopes: registeredScopes, idTokenAlgorithm: idTokenAlgorithm)
    }
}
