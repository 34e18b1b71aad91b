import Logging
package import OAuth

/// One fact of a service, or of an account's sign-in, beside what its server publishes.
package struct ServiceComparison: Sendable, Hashable {
    /// The member of the description, such as `token_url`.
    package let member: String
    /// What the package says; nil when it says nothing.
    package let described: String?
    /// What the server publishes; nil when it publishes nothing there.
    package let published: String?
    package let outcome: Outcome
    /// The account whose sign-in knows it; nil for what the package knows.
    package var account: String?

    /// How the two compare.
    package enum Outcome: String, Sendable, Hashable {
        case same
        /// They contradict each other, or what was discovered is no longer published.
        case drifted
        /// The server does not say it.
        case unpublished
        /// The package does not say it.
        case undescribed
    }
}

/// What a server had published when an account signed in, or was refreshed last with newer metadata.
package struct SignedInServer: Sendable {
    package let account: String
    package let server: AuthorizationServerMetadata
    /// Whether the client presents a certificate. What it knows has the aliases in place of the endpoints that they name.
    package let presentsCertificate: Bool

    package init(account: String, server: AuthorizationServerMetadata, presentsCertificate: Bool = false) {
        (self.account, self.server, self.presentsCertificate) = (account, server, presentsCertificate)
    }
}

extension BuiltInService {
    /// Asks the service's metadata, and compares them with the description and with the sign-ins of accounts.
    ///
    /// The issuer is compared before all else: metadata of another one are not read.
    ///
    /// - Parameters:
    ///   - values: the values of the service's placeholders.
    ///   - base: an address in place of every host of the service.
    ///   - security: which addresses the description may have.
    ///   - signIns: what accounts of the service know. Those of another issuer are left out.
    ///   - transport: how requests reach the network.
    /// - Returns: all that either of the two states; nil when the service is not known to publish metadata.
    /// - Throws: what ``service(_:security:)`` throws; ``HandshakeError/undiscovered(issuer:failures:)``,
    ///   ``HandshakeError/exchange(_:)`` and ``HandshakeError/network(_:)`` when its metadata cannot be read.
    package func comparison(
        _ values: [String: String] = [:], at base: EndpointURL? = nil, security: TransportSecurity = .httpsOnly,
        since signIns: [SignedInServer] = [], transport: any Transport = .platform
    ) async throws -> [ServiceComparison]? {
        _ = try service(values, security: security)
        let facts = ServiceFacts(name: name, members: try members(with: values), security: security)
        guard var issuer = try facts.issuer() else { return nil }
        var template = try facts.issuerTemplate()
        if let base { (issuer, template) = (issuer.at(base), template?.at(base)) }
        let environment = Environment(
            vault: MemoryVault(), transport: transport, time: .system, random: .system, limits: TransferLimits(),
            log: .init(label: "handshake"))
        let published = try await environment.discover(issuer, of: template, security: base?.security ?? security)
        let described =
            try [facts.issuer(issuer, published)] + facts.addresses(published, at: base) + facts.lists(published)
            + facts.flags(published)
        return described + signIns.flatMap { $0.lost(in: published) }
    }
}

extension SignedInServer {
    /// What protected the sign-in and is published no longer, and the endpoints at which clients authenticate and that have another
    /// origin, or are new at one (`any-server.md` 9).
    fileprivate func lost(in published: AuthorizationServerMetadata) -> [ServiceComparison] {
        guard published.issuer == server.issuer else { return [] }
        let announcements = published.announcementsLost(since: server).map { name in
            ServiceComparison(member: name, described: name, published: nil, outcome: .drifted, account: account)
        }
        let called = presentsCertificate ? published.withMutualTLSAliases : published
        let endpoints = called.endpointsChanged(since: server).map { change in
            ServiceComparison(
                member: change.endpoint.rawValue, described: change.before?.description,
                published: change.after.description, outcome: .drifted, account: account)
        }
        return announcements + endpoints
    }
}

extension ServiceFacts {
    fileprivate func issuer(_ described: Issuer, _ server: AuthorizationServerMetadata) -> ServiceComparison {
        ServiceComparison(
            member: "issuer", described: described.string, published: server.issuer.string, outcome: .same)
    }

    fileprivate func addresses(
        _ server: AuthorizationServerMetadata, at base: EndpointURL?
    ) throws -> [ServiceComparison] {
        let endpoints: [(String, EndpointURL?)] = [
            ("authorize_url", server.authorizationEndpoint), ("token_url", server.tokenEndpoint),
            ("revocation_url", server.revocationEndpoint), ("userinfo_url", server.userInfoEndpoint),
            ("device_authorization_url", server.deviceAuthorizationEndpoint),
            ("pushed_authorization_url", server.pushedAuthorizationRequestEndpoint),
            ("registration_url", server.registrationEndpoint), ("introspection_url", server.introspectionEndpoint),
            ("end_session_url", server.endSessionEndpoint), ("jwks_url", server.keysEndpoint),
            ("backchannel_authentication_url", server.backchannelAuthenticationEndpoint),
        ]
        // What is discovered is lost with the metadata; what is described is used whatever they say.
        let discovers = try flag("discovers")
        return try endpoints.compactMap { member, found -> ServiceComparison? in
            var described = try endpoint(member)
            if let base { described = described?.moved(to: base.origin) }
            let outcome: ServiceComparison.Outcome
            switch (described, found) {
            case (nil, nil): return nil
            case (nil, _?): outcome = .undescribed
            case (_?, nil): outcome = discovers ? .drifted : .unpublished
            case (let described?, let found?): outcome = described == found ? .same : .drifted
            }
            return ServiceComparison(
                member: member, described: described?.string, published: found.map { quoted($0.string, limit: 500) },
                outcome: outcome)
        }
    }

    fileprivate func lists(_ server: AuthorizationServerMetadata) throws -> [ServiceComparison] {
        let described = members["offline"]?.object ?? [:]
        let offline = ServiceFacts(name: name, members: ServiceMembers(described), security: security)
        let scopes = try texts("default_scopes") + offline.texts("scopes")
        var grants = ["authorization_code"]
        if !described.isEmpty, try !offline.flag("never") { grants.append("refresh_token") }
        if members["device_authorization_url"] != nil { grants.append("urn:ietf:params:oauth:grant-type:device_code") }
        let isEither = try text("client_authentication") == "either"
        let methods = isEither ? ["client_secret_basic", "client_secret_post"] : try authenticationMethods() ?? []
        // A server may take clients without a secret and not list it.
        let open = try flag("public_clients") ? ["none"] : []
        let lists: [ServiceComparison?] = [
            try challengeMethods(server.codeChallengeMethods),
            Self.list("response_types", ["code"], server.responseTypes),
            Self.list("grant_types", grants, server.grantTypes),
            Self.list("client_authentication", methods, server.tokenEndpointAuthMethods, takesAny: isEither),
            open.isEmpty
                ? nil : Self.list("public_clients", open, server.tokenEndpointAuthMethods, otherwise: .unpublished),
            // A server may leave scopes out of its list (RFC 8414, section 2).
            Self.list("scopes", scopes, server.scopes, otherwise: .unpublished),
            Self.list("dpop_signing_algorithms", [], server.dpopSigningAlgorithms),
        ]
        return lists.compactMap(\.self)
    }

    /// Compares PKCE: the server lists S256, or does not where the description says that PKCE is unsupported.
    private func challengeMethods(_ published: [String]?) throws -> ServiceComparison? {
        switch try text("pkce") {
        case nil: return Self.list("pkce", [], published)
        case "unsupported":
            return ServiceComparison(
                member: "pkce", described: "unsupported", published: published.map(Self.shown),
                outcome: published?.contains("S256") == true ? .drifted : .same)
        default: return Self.list("pkce", ["S256"], published)
        }
    }

    fileprivate func flags(_ server: AuthorizationServerMetadata) throws -> [ServiceComparison] {
        let pushes = try flag("requires_pushed_authorization")
        var flags: [ServiceComparison] = []
        if pushes || server.requiresPushedAuthorizationRequests {
            // Where nothing is described, sign-in takes what the server publishes.
            let isDescribed = try members["requires_pushed_authorization"] != nil || !flag("discovers")
            let isSame = pushes == server.requiresPushedAuthorizationRequests
            flags.append(
                ServiceComparison(
                    member: "requires_pushed_authorization", described: isDescribed ? "\(pushes)" : nil,
                    published: "\(server.requiresPushedAuthorizationRequests)",
                    outcome: !isDescribed ? .undescribed : isSame ? .same : .drifted))
        }
        // An API or a client demands proofs, and no server does (RFC 9728, section 2; RFC 9449, section 5.2).
        if try flag("requires_dpop") {
            flags.append(
                ServiceComparison(
                    member: "requires_dpop", described: "true", published: nil, outcome: .unpublished))
        }
        return flags
    }

    /// A list that should have all that is described, or any of it; nil when neither states it.
    private static func list(
        _ member: String, _ described: [String], _ published: [String]?, takesAny: Bool = false,
        otherwise: ServiceComparison.Outcome = .drifted
    ) -> ServiceComparison? {
        guard !described.isEmpty || published != nil else { return nil }
        let found = described.filter { published?.contains($0) == true }.count
        let outcome: ServiceComparison.Outcome =
            if described.isEmpty { .undescribed } else if published == nil { .unpublished } else {
                found == described.count || (takesAny && found > 0) ? .same : otherwise
            }
        return ServiceComparison(
            member: member, described: described.isEmpty ? nil : described.joined(separator: " "),
            published: published.map(shown), outcome: outcome)
    }

    private static func shown(_ values: [String]) -> String { quoted(values.joined(separator: " "), limit: 500) }
}
