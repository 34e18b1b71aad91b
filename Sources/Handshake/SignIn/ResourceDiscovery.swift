import HTTPTypes
import OAuth

/// The steps that find an API's server.
struct ResourceDiscovery {
    let resource: EndpointURL
    let deviations: DiscoveredResource.Deviations
    let environment: Environment

    init(
        of resource: EndpointURL, deviating deviations: DiscoveredResource.Deviations, in environment: Environment
    ) {
        self.resource = resource
        self.deviations = deviations
        self.environment = environment
    }

    /// What the API's refusal of a request without a token announces: nothing for a status other than 401 and 403.
    ///
    /// - Parameter refusal: a 401 or 403 that the app already received. When given, no request is sent. Other statuses are
    ///   ignored.
    /// - Throws: ``HandshakeError/exchange(_:)`` for a redirect; ``HandshakeError/network(_:)``.
    func challenge(in refusal: ResponseMessage? = nil) async throws -> ProtectedResourceRequest.Announcement {
        let request = RequestMessage(.get, resource, headers: [.accept: "application/json, text/event-stream"])
        let read = { (response: ResponseMessage) throws -> ProtectedResourceRequest.Announcement in
            let status = response.head.status.code
            guard response.head.status.kind != .redirection else {
                throw OAuthError.redirected(
                    step: .resource, status: status, target: response.head.headerFields[.location].map(Self.shown))
            }
            guard status == 401 || status == 403 else { return .init() }
            return ProtectedResourceRequest.announced(in: response, by: resource)
        }
        do {
            if let refusal, [401, 403].contains(refusal.head.status.code) { return try read(refusal) }
            let limits = TransferLimits(timeout: .seconds(5))
            return try read(try await environment.transport.send(request, limits: limits))
        } catch let error as OAuthError {
            throw HandshakeError.exchange(error)
        } catch TransportError.timedOut, TransportError.tooLarge {
            // A stream of events, which has begun and does not end: nothing is learned from it.
            return .init()
        } catch let error as TransportError {
            throw HandshakeError.network(error)
        }
    }

    /// Where an API redirects, for the user who may have typed an old address. Without a query, which may hold a secret.
    private static func shown(_ location: String) -> String {
        "“\(quoted(hidingTokens(in: String(location.prefix { $0 != "?" && $0 != "#" })), limit: 200))”"
    }

    /// The API's document; one that says nothing where there is none.
    func document(announcedAt location: EndpointURL?) async throws -> ProtectedResource {
        var requests = ProtectedResourceRequest.locations(of: resource)
            .filter { $0 != location }.map { ProtectedResourceRequest(resource, location: $0) }
        if let location {
            requests.insert(ProtectedResourceRequest(resource, location: location, isAnnounced: true), at: 0)
        }
        for request in requests {
            do {
                let document = try await environment.exchange({ request.message }, request.document)
                if let document { return document }
            } catch HandshakeError.network(.tooLarge) where !request.isAnnounced {
                // A page, and no document.
                continue
            }
        }
        return ProtectedResource(withoutDocument: resource)
    }

    /// The metadata of a server whose issuer the API has named. A bare origin may be spelled with or without a slash
    /// (`any-server.md` 5).
    func server(_ listed: Issuer) async throws -> AuthorizationServerMetadata {
        let issuer = try pinned(listed)
        let server: AuthorizationServerMetadata
        do {
            server = try await environment.discover(issuer, security: resource.security)
        } catch HandshakeError.exchange(.refused(let refusal)) where refusal.check == .issuer {
            guard let other = issuer.withOtherSlash else { throw HandshakeError.exchange(.refused(refusal)) }
            server = try await environment.discover(other, security: resource.security)
        }
        if let types = server.responseTypes, !types.contains("code") {
            throw HandshakeError.exchange(
                .malformed(
                    step: .metadata, member: "response_types_supported", expected: "code among them",
                    found: quoted(types.joined(separator: ", "), limit: 100)))
        }
        // A list without S256 is a statement, which no deviation overrules.
        let isAssumed = server.codeChallengeMethods == nil && deviations.assumesS256
        guard isAssumed || server.codeChallengeMethods?.contains("S256") == true else {
            let listed = server.codeChallengeMethods.map { quoted($0.joined(separator: ", "), limit: 100) } ?? "no list"
            throw HandshakeError.exchange(
                .refused(
                    Refusal(
                        .challengeMethod, expected: "S256 among the server's challenge methods", found: listed)))
        }
        return server
    }

    /// Whether a listed address leads to one of the issuers that the app knows, which may be pinned, or spelled with another slash.
    func isAbout(_ listed: Issuer, _ known: [Issuer]) -> Bool {
        guard let issuer = try? pinned(listed) else { return false }
        return known.contains { $0 == issuer || $0 == issuer.withOtherSlash }
    }

    /// The issuer that the app knows to stand behind a listed address; otherwise the listed one.
    private func pinned(_ listed: Issuer) throws -> Issuer {
        guard let issuer = deviations.pinnedIssuers[listed.string] else { return listed }
        do {
            return try Issuer(issuer, security: resource.security)
        } catch {
            throw HandshakeError.exchange(error)
        }
    }
}
