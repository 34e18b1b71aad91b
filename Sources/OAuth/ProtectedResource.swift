import HTTPTypes

/// What an API says about signing in to it (RFC 9728, section 2).
public struct ProtectedResource: Sendable, Hashable {
    /// The API's identifier in its own spelling. It stands in `resource` of every request for its tokens (RFC 8707).
    public let identifier: EndpointURL
    /// `authorization_servers`: who grants its tokens, in the API's order. Empty when the document names none.
    public let authorizationServers: [Issuer]
    /// `scopes_supported`; nil when the API does not state them.
    public let scopes: [String]?
    /// Whether the API takes only tokens that are bound to a key (RFC 9449). It is `dpop_bound_access_tokens_required`.
    public let requiresBoundTokens: Bool
    /// `dpop_signing_alg_values_supported`: what may sign proofs for the API. Nil when it does not state them.
    public let dpopSigningAlgorithms: [String]?

    /// An API without a document. It is its own authorization server (`any-server.md` 5).
    public init(withoutDocument identifier: EndpointURL) {
        self.identifier = identifier
        authorizationServers = []
        scopes = nil
        requiresBoundTokens = false
        dpopSigningAlgorithms = nil
    }

    /// The servers that may be shown: without those whose address repeats a secret that the API knows, or is very long.
    package func servers(hiding secrets: [Secret]) -> [Issuer] {
        let redaction = Redaction(secrets)
        return authorizationServers.prefix(10).filter { issuer in
            issuer.string.utf8.count <= 500 && redaction.hidingSecrets(in: issuer.string).isIdentical(to: issuer.string)
        }
    }

    /// Reads the document of the API at `address`.
    ///
    /// - Throws: ``OAuthError/refused(_:)`` with ``Refusal/Check/resource`` when the document is another API's (RFC 9728,
    ///   section 3.3); ``OAuthError/malformed(step:member:expected:found:)`` naming the member that is wrong.
    init(parsing content: [UInt8], of address: EndpointURL, security: TransportSecurity) throws(OAuthError) {
        let longest = AuthorizationServerMetadata.maximumLength
        guard content.count <= longest else {
            throw .malformed(
                step: .resourceMetadata, member: "content", expected: "at most \(longest) bytes",
                found: "\(content.count)")
        }
        let document = try ResponseReader(step: .resourceMetadata, content: content)
        let stated = try document.requiredString("resource")
        guard let identifier = try? EndpointURL(stated, security: security), identifier.covers(address) else {
            throw .refused(
                Refusal(.resource, expected: address.string, found: Redaction()(stated, limit: 200)))
        }
        self.identifier = identifier
        let zone = NetworkZone(address.origin)
        var servers: [Issuer] = []
        for text in try document.strings("authorization_servers") ?? [] {
            guard let issuer = try? Issuer(text, security: security),
                issuer.url.origin.host == address.origin.host || NetworkZone(issuer.url.origin) >= zone
            else { throw document.malformed("authorization_servers", expected: "https addresses", found: text) }
            servers.append(issuer.named(by: address.origin))
        }
        authorizationServers = servers
        scopes = try document.strings("scopes_supported")?.filter(Scope.isToken)
        requiresBoundTokens = try document.bool("dpop_bound_access_tokens_required") ?? false
        dpopSigningAlgorithms = try document.strings("dpop_signing_alg_values_supported").map { Array($0.prefix(100)) }
    }
}

/// Asks one address for the document of an API (RFC 9728, section 3).
public struct ProtectedResourceRequest: Sendable {
    /// The API.
    public let resource: EndpointURL
    /// The address that is asked: the challenge's, or one of ``locations(of:)``.
    public let location: EndpointURL
    /// Whether the API itself named the address, in a challenge.
    public let isAnnounced: Bool

    /// Asks for the document of `resource` at `location`.
    public init(_ resource: EndpointURL, location: EndpointURL, isAnnounced: Bool = false) {
        self.resource = resource
        self.location = location
        self.isAnnounced = isAnnounced
    }

    /// The well-known addresses of an API's document (RFC 9728, section 3.1). They are in the order to ask.
    ///
    /// For `https://host/mcp`: `https://host/.well-known/oauth-protected-resource/mcp`, then the same without `/mcp`.
    public static func locations(of resource: EndpointURL) -> [EndpointURL] {
        let root = resource.at(path: "/.well-known/oauth-protected-resource")
        let identifier = resource.canonical
        let suffix = identifier.string.dropFirst(identifier.origin.description.count)
        guard !suffix.isEmpty, let own = try? resource.at(target: root.path + suffix) else { return [root] }
        return [own, root]
    }

    /// What a refusal names (RFC 9728, section 5.1; RFC 9449, section 7.1).
    public struct Announcement: Sendable, Hashable {
        /// The address of the API's document. Nil when the refusal names none that may be asked.
        public var location: EndpointURL?
        /// The scopes to ask for; nil when it names none.
        public var scopes: [String]?
        /// What may sign proofs for the API (DPoP). Nil when it does not say.
        public var proofAlgorithms: [String]?

        /// Nothing is named.
        public init() {}
    }

    /// What a refusal names. The first Bearer or DPoP challenge with `resource_metadata` counts.
    public static func announced(in response: ResponseMessage, by resource: EndpointURL) -> Announcement {
        let challenges = AuthenticationChallenge.challenges(in: response.head.headerFields) ?? []
        let ours = challenges.filter { $0.scheme == "bearer" || $0.scheme == "dpop" }
        let challenge = ours.first { $0.parameters["resource_metadata"] != nil }
        let location = challenge?.parameters["resource_metadata"].flatMap {
            try? EndpointURL($0, security: resource.security, member: "resource_metadata")
        }
        .flatMap {
            NetworkZone.mayLead(from: resource.origin, to: $0.origin) ? $0.named(by: resource.origin) : nil
        }
        let scopes = (challenge ?? ours.first)?.parameters["scope"]?.split(separator: " ").map(String.init)
            .filter(Scope.isToken)
        let algorithms = ours.first { $0.scheme == "dpop" && $0.parameters["algs"] != nil }?.parameters["algs"]?
            .split(separator: " ").prefix(100).map(String.init)
        var announcement = Announcement()
        announcement.location = location
        announcement.scopes = scopes?.isEmpty == true ? nil : scopes
        announcement.proofAlgorithms = algorithms?.isEmpty == true ? nil : algorithms
        return announcement
    }

    /// The request to send.
    public var message: RequestMessage {
        RequestMessage(.get, location, headers: [.accept: "application/json"])
    }

    /// Reads the response.
    ///
    /// - Returns: what the document says, or nil when there is none here and the next address is to be asked: after status
    ///   4xx and 502, and after a 200 that is no JSON object or more than 256 KiB. If the API named the
    ///   address, only 404 and 410 count as none.
    /// - Throws: ``OAuthError`` when no other address is to be asked: for a redirect, another error, or a document that is
    ///   wrong.
    public func document(from response: ResponseMessage) throws(OAuthError) -> ProtectedResource? {
        let status = response.head.status.code
        let isMissing = isAnnounced ? [404, 410].contains(status) : status == 502 || (400..<500).contains(status)
        if isMissing { return nil }
        try response.requireSuccess(.resourceMetadata)
        do {
            return try ProtectedResource(parsing: response.content, of: resource, security: resource.security)
        } catch .malformed(_, "content", _, _) where !isAnnounced {
            return nil
        }
    }
}

extension EndpointURL {
    /// The address as a resource's identifier: a path that is only `/` is left out (`any-server.md` 5).
    package var canonical: EndpointURL {
        let target = path == "/" && query == nil ? "" : requestTarget
        return (try? EndpointURL(origin.description + target, security: security)) ?? self
    }

    /// Whether this identifier of an API is that of `address`: the same, a path above it, or another only by a slash at the
    /// end (`any-server.md` 5). A path with dot segments is under none, because a server may go back up by them.
    package func covers(_ address: EndpointURL) -> Bool {
        guard origin == address.origin, !address.hasDotSegments else { return false }
        if canonical.string == address.canonical.string { return true }
        guard query == nil else { return false }
        let own = path.hasSuffix("/") ? String(path.dropLast()) : path
        return address.path == own || address.path.hasPrefix(own + "/")
    }

    /// Whether a segment of the path is `.` or `..`, as any server may read it: decoded once or twice, with an encoded slash, a
    /// backslash, or with parameters (RFC 3986, sections 3.3 and 6.2.2.3).
    var hasDotSegments: Bool {
        var text = path.lowercased()
        for _ in 0..<2 {
            for (escape, character) in [("%25", "%"), ("%2e", "."), ("%2f", "/"), ("%5c", "/"), ("%3b", ";")] {
                text = text.replacing(escape, with: character)
            }
        }
        return text.split(separator: "/").contains { [".", ".."].contains($0.prefix { $0 != ";" }) }
    }
}
