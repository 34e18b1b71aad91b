import HTTPTypes
public import OAuth

/// Who the user of an account is, as the service's API says.
public struct Identity: Sendable, Hashable {
    /// What identifies the user at this service.
    public let subject: String
    /// A name for people; nil when the service gives none.
    public let name: String?
    /// Everything the service said.
    public let members: JSONObject
}

extension Account {
    /// Asks the service's API who the user is.
    ///
    /// At an OpenID provider this is the user-info endpoint, and its subject must be the ID token's (OpenID Connect
    /// Core, 5.3.2). An answer that is signed is verified; where ``Client/Options/userInfoAlgorithm`` says that it is signed,
    /// a plain one is refused.
    ///
    /// - Throws: what ``send(_:redirects:limits:)`` throws; ``HandshakeError/exchange(_:)`` for an error status, an answer that
    ///   is not valid, or a subject that is not the one who signed in;
    ///   ``HandshakeError/configuration(member:problem:)`` when the service has no such endpoint.
    public func identity() async throws -> Identity {
        try await identity(isStored: true)
    }

    /// Asks the service's API who the user is, before a sign-in whose user has to be the same.
    ///
    /// - Returns: nil where the service is described without an ``Service/identityEndpoint``, and where the API does not
    ///   say it for the account's token.
    func subjectOfAPI() async throws -> String? {
        guard client.service.identityEndpoint != nil else { return nil }
        do {
            return try await identity().subject
        } catch HandshakeError.exchange(.server(let error)) where (error.status ?? 0) >= 500 || error.status == 429 {
            // The API cannot say it now: that is no answer, and another user must not pass for it.
            throw HandshakeError.exchange(.server(error))
        } catch HandshakeError.demanded, HandshakeError.signInRequired, HandshakeError.exchange {
            return nil
        }
    }

    /// Asks the service's API who the user is.
    ///
    /// - Parameter isStored: whether the account is in the vault. The token of one that is not is never refreshed: that
    ///   would bring the vault's token in its place.
    func identity(isStored: Bool) async throws -> Identity {
        guard let endpoint = identityEndpoint else {
            throw HandshakeError.configuration(
                member: "userinfo_endpoint",
                problem: "The service \(client.service.displayName) has no UserInfo endpoint. "
                    + "Give the service an identityEndpoint.")
        }
        let isSigned = client.options.userInfoAlgorithm != nil
        let accept = requiredHeaders[.accept] ?? (isSigned ? "application/jwt" : "application/json")
        let request = RequestMessage(endpoint.method, endpoint.url, headers: [.accept: accept])
        let transmission = Transmission.by { [self] request, isHome in
            let channel = try transport(isHome: isHome)
            switch endpoint.tokenPlacement {
            case .header: return try await channel.send(request, limits: TransferLimits())
            case .endOfURL:
                let answer = try await channel.send(endpoint.movingToken(of: request), limits: TransferLimits())
                return endpoint.judged(answer)
            }
        }
        let response =
            if isStored {
                try await send(request, redirects: .stop, by: transmission)
            } else {
                try await sendOnce(request, by: transmission)
            }
        let signed = try await signedClaims(in: response)
        do {
            return try Self.identity(
                from: response, signed, at: endpoint, expecting: record.grant.identity?.subject, hiding: secrets)
        } catch {
            throw HandshakeError.exchange(error)
        }
    }

    /// The verified claims of a signed answer; nil for a plain one.
    private func signedClaims(in response: ResponseMessage) async throws -> JSONObject? {
        guard response.head.status.kind == .successful else { return nil }
        let type = (response.head.headerFields[.contentType] ?? "").utf8.prefix { $0 != UInt8(ascii: ";") }
        let isSigned =
            type.count <= 64
            && String(decoding: type, as: UTF8.self).lowercased().split(separator: " ") == ["application/jwt"]
        guard isSigned, let text = String(validating: response.content, as: UTF8.self) else {
            guard client.options.userInfoAlgorithm == nil else {
                throw HandshakeError.exchange(
                    .refused(
                        Refusal(.unsignedResponse, expected: "application/jwt, as agreed", found: "a plain answer")))
            }
            return nil
        }
        let server = try await environment.server(of: client, known: record.server)
        guard let endpoint = server.keysEndpoint else { throw HandshakeError.exchange(server.lacks("jwks_uri")) }
        let validator = UserInfoValidator(
            issuer: try issuer(at: server), clientID: client.id,
            algorithms: client.algorithms(
                client.options.userInfoAlgorithm, published: server.userInfoSigningAlgorithms), hiding: secrets)
        let now = environment.time.now()
        return try await environment.verified(withKeysAt: endpoint) { keys throws(OAuthError) in
            try validator.claims(of: Secret(text), keys: keys, now: now)
        }
    }

    /// Who has signed an answer about this account: where many tenants share the server's address, the tenant of the sign-in.
    private func issuer(at server: AuthorizationServerMetadata) throws(HandshakeError) -> Issuer {
        guard let template = client.service.deviations.issuerTemplate, template.isShared(server.issuer),
            let tenant = record.grant.identity?.issuer
        else { return server.issuer }
        do {
            return try Issuer(tenant, security: server.security)
        } catch {
            throw .exchange(error)
        }
    }

    /// The tokens of the account and the secret of its client, which no text from the service may show.
    package var secrets: [Secret] {
        (record.secrets + [client.credential?.secret].compactMap(\.self))
            .flatMap { [$0, $0.encoded] }
    }

    private var identityEndpoint: Service.IdentityEndpoint? {
        client.service.identityEndpoint
            ?? record.server?.userInfoEndpoint.map {
                Service.IdentityEndpoint(
                    url: $0, subjectMember: "sub", nameMembers: ["name", "preferred_username", "email"])
            }
    }

    private static func identity(
        from response: ResponseMessage, _ signed: JSONObject?, at endpoint: Service.IdentityEndpoint,
        expecting subject: String?,
        hiding secrets: [Secret]
    ) throws(OAuthError) -> Identity {
        guard response.head.status.kind != .redirection else {
            throw .redirected(step: .userInfo, status: response.head.status.code)
        }
        guard response.head.status.kind == .successful else {
            throw .server(ServerError(step: .userInfo, response, hiding: secrets))
        }
        guard let members = signed ?? (try? JSONValue(parsing: response.content))?.object else {
            throw .malformed(step: .userInfo, member: "content", expected: "a JSON object", found: "something else")
        }
        let value = members.value(of: endpoint.subjectMember)
        guard let found = value?.string ?? value?.integer.map(String.init), !found.isEmpty else {
            throw .malformed(
                step: .userInfo, member: endpoint.subjectMember, expected: "a string or number",
                found: value?.kind ?? "nothing")
        }
        // By bytes: Swift's own equality also takes canonically equivalent spellings.
        if let subject, !found.isIdentical(to: subject) {
            throw .refused(
                Refusal(
                    .subject, expected: quoted(subject, limit: 200),
                    found: quoted(hidingSecrets(secrets, in: found), limit: 200)))
        }
        let name = endpoint.nameMembers.lazy.compactMap { members.value(of: $0)?.string }.first { !$0.isEmpty }
        return Identity(subject: found, name: name, members: members)
    }
}

extension Service.IdentityEndpoint {
    /// The request with its access token at the end of the URL instead of in its field.
    fileprivate func movingToken(of request: RequestMessage) -> RequestMessage {
        var request = request
        let field = request.head.headerFields[.authorization]
        request.head.headerFields[.authorization] = nil
        let token = field.flatMap { $0.split(separator: " ").last } ?? ""
        request.head.path = (request.head.path ?? "/") + PercentEncoding.query(String(token))
        return request
    }

    /// The answer; without a subject as status 401: so the service says that it does not accept the token.
    fileprivate func judged(_ answer: ResponseMessage) -> ResponseMessage {
        guard answer.head.status.kind == .successful, let members = (try? JSONValue(parsing: answer.content))?.object,
            members.value(of: subjectMember) == nil
        else { return answer }
        var refused = answer
        refused.head.status = .unauthorized
        return refused
    }
}

extension JSONObject {
    /// The value of a member, or at a JSON Pointer.
    fileprivate func value(of place: String) -> JSONValue? {
        place.hasPrefix("/") ? JSONValue.object(self).value(at: place) : self[place]
    }
}
