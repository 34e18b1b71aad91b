import OAuth

extension Client {
    /// Refuses what departs from the FAPI 2.0 Security Profile, before anything is sent (`any-server.md` 8).
    ///
    /// - Throws: ``HandshakeError/configuration(member:problem:)`` that names what departs, and the cure.
    func checkProfile(at server: AuthorizationServerMetadata) throws(HandshakeError) {
        guard options.fapi2 else { return }
        try checkServer(server)
        try checkCredential()
        try checkBinding(at: server)
        guard options.pushedRequests != .never else {
            throw Self.departs("par", "requests are always pushed; use auto instead of never")
        }
        guard service.deviations.repeatedWhenPushed.isEmpty else {
            throw Self.departs(
                "repeated-when-pushed", "the browser's address has only client_id and request_uri; remove it")
        }
        guard server.pushedAuthorizationRequestEndpoint != nil else {
            throw .exchange(server.lacks("pushed_authorization_request_endpoint"))
        }
    }

    /// FAPI 2.0 Security Profile, section 5.3.3.1, points 9 to 11.
    private func checkServer(_ server: AuthorizationServerMetadata) throws(HandshakeError) {
        guard case .discovered = service.authorizationServer, server.source == .discovered else {
            throw Self.departs(
                "issuer", "the endpoints have to come from the issuer's own metadata; name the issuer alone")
        }
        guard service.deviations.issuerTemplate.map({ !$0.isShared(server.issuer) }) ?? true else {
            throw Self.departs("issuer", "the metadata have to name the issuer itself; name your tenant's")
        }
    }

    /// FAPI 2.0 Security Profile, section 5.3.3.1, points 2 and 5.
    private func checkCredential() throws(HandshakeError) {
        let deviations = service.deviations
        switch credential {
        case .certificate: return
        case .key(let key):
            guard deviations.signedSecret == nil, deviations.assertionAudience == .issuer else {
                throw Self.departs(
                    "assertion-audience", "an assertion is for the issuer alone; remove the service's deviation")
            }
            do {
                _ = try key.limited(to: SignatureAlgorithm.fapi2)
            } catch {
                throw .exchange(error)
            }
        case .secret, nil:
            throw .missingCredential
        }
    }

    /// FAPI 2.0 Security Profile, section 5.3.3.1, points 1 and 8.
    private func checkBinding(at server: AuthorizationServerMetadata) throws(HandshakeError) {
        switch options.dpop {
        case .refreshOnly:
            throw Self.departs("dpop", "bearer tokens are refused; use auto instead of refresh-only")
        case .never where certificate == nil:
            throw Self.departs(
                "dpop", "tokens have to be bound to a key; use auto instead of never, or give a certificate")
        case .always, .automatic, .never: break
        }
        guard certificate == nil || options.dpop == .always || server.bindsTokensToCertificates else {
            throw Self.departs(
                "certificate", "the server does not say that it binds tokens to certificates; use DPoP (always)")
        }
    }

    private static func departs(_ member: String, _ problem: String) -> HandshakeError {
        .configuration(member: member, problem: "by the FAPI 2.0 profile (fapi2) " + problem)
    }

    /// Whether the profile lets a session's tokens be used: they are bound to a key or a certificate (FAPI 2.0 Security Profile,
    /// section 5.3.3.1, point 1). Those of a sign-in before the option was set may not be, and those of before a certificate was
    /// renewed are bound to another one.
    func allowsTokens(of record: AccountRecord) -> Bool {
        !options.fapi2 || record.isBound || (bindsToCertificate && record.certificate == certificate?.thumbprint)
    }

    /// Whether the profile lets a session be refreshed whose tokens it does not let be used: the next ones may be bound.
    func allowsRefresh(of record: AccountRecord) -> Bool {
        allowsTokens(of: record) || bindsToCertificate
    }

    /// Whether a certificate binds the client's tokens, where the server does that.
    private var bindsToCertificate: Bool { certificate != nil && options.dpop != .always }

    /// Refuses a way to sign in that the profile does not have.
    func checkProfile(allows flow: String, _ isAllowed: Bool) throws(HandshakeError) {
        guard !options.fapi2 || isAllowed else {
            throw Self.departs("fapi2", "there is no \(flow); sign in with a browser")
        }
    }

    /// The algorithms by which a signature of the server is accepted (OpenID Connect Core, section 3.1.3.7, point 7).
    ///
    /// - Parameters:
    ///   - registered: the one that the client is registered with; it alone counts.
    ///   - published: the server's list.
    func algorithms(_ registered: SignatureAlgorithm?, published: [String]?) -> [SignatureAlgorithm] {
        let allowed = options.fapi2 ? SignatureAlgorithm.fapi2 : SignatureAlgorithm.allCases
        if let registered { return allowed.filter(registered.namesakes.contains) }
        guard let published else { return allowed }
        return allowed.filter { $0.namesakes.contains { published.contains($0.rawValue) } }
    }

    /// The key that signs the authorization requests for a server; nil when they are not to be signed (RFC 9101).
    ///
    /// - Throws: ``HandshakeError/configuration(member:problem:)`` when the client's option, its key and the server's demand
    ///   do not fit.
    func requestKey(at server: AuthorizationServerMetadata) throws(HandshakeError) -> SigningKey? {
        switch options.signedRequests {
        case .never:
            guard !server.requiresSignedRequestObject else {
                throw .configuration(
                    member: "request-object",
                    problem: "The server accepts only signed authorization requests. Set request-object to true.")
            }
            return nil
        case .automatic where !server.requiresSignedRequestObject: return nil
        case .automatic, .always:
            guard let key = credential?.key else { throw .missingKey }
            do {
                return options.fapi2 ? try key.limited(to: SignatureAlgorithm.fapi2) : key
            } catch {
                throw .exchange(error)
            }
        }
    }
}

extension HandshakeError {
    /// The client has no key, although its authorization requests are to be signed.
    package static let missingKey = HandshakeError.configuration(
        member: "key", problem: "Signed authorization requests need the client's private key. Pass the key.")

    /// The client has neither a key nor a certificate, although it follows the profile.
    package static let missingCredential = HandshakeError.configuration(
        member: "key",
        problem: "By the FAPI 2.0 profile (fapi2), a client authenticates with a key or a certificate. "
            + "Pass one of them.")
}
