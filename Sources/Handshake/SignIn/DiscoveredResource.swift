import HTTPTypes
import Logging
public import OAuth

/// An API that has said, from its address alone, how to sign in to it (RFC 9728).
///
/// This is how the clients of the Model Context Protocol find their way:
///
/// ```swift
/// let mcp = try await DiscoveredResource.discover("https://mcp.example.com/mcp")
/// let handshake = try Handshake(try await mcp.register(as: "My App"), vault: vault)
/// let account = try await handshake.signIn(through: .systemBrowser)
/// ```
///
/// Show ``server`` and ``scopes`` to the user before the sign-in: the API has chosen both. The tokens go to addresses under
/// the API's own and to no other.
public struct DiscoveredResource: Sendable {
    /// What the API says about itself.
    public let resource: ProtectedResource
    /// The server that grants its tokens.
    public let server: AuthorizationServerMetadata
    /// The scopes to ask for.
    ///
    /// They are those of the API's challenge, else those of its document, and `offline_access` where the server has it.
    /// Change them before a registration, which is for these alone.
    public var scopes: [String]
    /// The address that was asked, under which alone tokens go: the document may speak of more.
    package let address: EndpointURL
    /// The name of the service that clients are for.
    let name: String
    /// How the API and its server depart from the standards.
    let deviations: Deviations
    /// What may sign proofs for the API, by its document or its refusal.
    private let proofAlgorithms: [String]?
    package let transport: any Transport
    package let limits: TransferLimits

    /// How an API or its server departs from the standards, as data. Nothing departs by default.
    ///
    /// Each has to be known of this one server: a deviation weakens or leaves out what MCP demands. `handshake inspect` lists
    /// those of an account.
    public struct Deviations: Sendable, Hashable {
        /// Whether the server takes PKCE by S256 although its metadata do not say so. S256 is sent anyway.
        public var assumesS256 = false
        /// Whether `resource` is left out of every request.
        ///
        /// For a server that answers it with `invalid_target`.
        public var omitsResource = false
        /// Whether a refresh states the scopes, for a server that otherwise returns others.
        public var repeatsScope = false
        /// The issuers behind addresses that the API lists.
        ///
        /// For servers whose metadata name another issuer than the address.
        public var pinnedIssuers: [String: String] = [:]

        /// Nothing departs.
        public init() {}

        fileprivate var ofService: Service.Deviations {
            var deviations = Service.Deviations()
            deviations.assumesS256 = assumesS256
            deviations.omitsResource = omitsResource
            deviations.repeatsScope = repeatsScope
            deviations.pinnedIssuers = pinnedIssuers
            return deviations
        }
    }

    /// Asks an API how to sign in to it (`any-server.md` 5).
    ///
    /// It sends a request without a token, whose refusal may say so, and then asks at the well-known addresses (RFC 9728).
    /// An API that says nothing counts as its own authorization server, if it publishes that server's metadata.
    ///
    /// - Parameters:
    ///   - address: the API's address, `https:`, or `http:` on this machine.
    ///   - refusal: a 401 or 403 that the app already received from this address. When given, the address is not requested
    ///     again; the API's document and the server's metadata still are. Other statuses are ignored. Never pass a response
    ///     that followed a redirect: its sender would choose the document and the scopes.
    ///   - name: the name of the service; from the API's host and path unless given.
    ///   - known: issuers with which the app has a client. One of them is taken before those that the API names first.
    ///   - deviations: how this API or its server is known to depart from the standards.
    ///   - transport: how requests reach the network.
    ///   - limits: what one request may cost.
    /// - Throws: ``HandshakeError/exchange(_:)`` for an address that is none, a document that is wrong, a redirect, or a server
    ///   without PKCE by S256; ``HandshakeError/configuration(member:problem:)`` for a name that is none;
    ///   ``HandshakeError/undiscovered(issuer:failures:)``, ``HandshakeError/network(_:)``, `CancellationError`.
    public static func discover(
        _ address: String, after refusal: ResponseMessage? = nil, named name: String? = nil,
        preferring known: [Issuer] = [], deviating deviations: Deviations = Deviations(),
        transport: any Transport = .platform, limits: TransferLimits = TransferLimits()
    ) async throws -> DiscoveredResource {
        let identifier: EndpointURL
        do {
            identifier = try EndpointURL(address, security: .allowingInsecureLoopback, member: "resource").canonical
        } catch {
            throw HandshakeError.exchange(error)
        }
        let discovery = ResourceDiscovery(
            of: identifier, deviating: deviations,
            in: Environment(
                vault: MemoryVault(), transport: transport, time: .system, random: .system, limits: limits,
                log: .init(label: "handshake")))
        let announced = try await discovery.challenge(in: refusal)
        let resource = try await discovery.document(announcedAt: announced.location)
        let issuer =
            resource.authorizationServers.first { discovery.isAbout($0, known) } ?? resource.authorizationServers.first
        let server = try await discovery.server(issuer ?? Issuer(originOf: identifier))
        let name = name ?? Self.name(for: identifier)
        guard Service.isName(name) else {
            throw HandshakeError.configuration(
                member: "service",
                problem: "“\(quoted(name, limit: 80))” is not a valid name; use lower-case letters and digits")
        }
        var scopes = announced.scopes ?? resource.scopes ?? []
        if server.scopes?.contains("offline_access") == true, !scopes.contains("offline_access") {
            scopes.append("offline_access")
        }
        return DiscoveredResource(
            resource: resource, server: server, scopes: scopes, address: identifier, name: name, deviations: deviations,
            proofAlgorithms: resource.dpopSigningAlgorithms ?? announced.proofAlgorithms, transport: transport,
            limits: limits)
    }

    /// A client that the server knows already, paired with this API.
    ///
    /// The app names the server that issued the identifier. An API that named another server could borrow the client, and the
    /// rights that users gave it there (`any-server.md` 9).
    ///
    /// - Parameters:
    ///   - id: the client's identifier at the server.
    ///   - issuer: the server where the identifier was registered, as the app knows it, not as the API names it.
    ///   - redirect: where the server sends users back to.
    /// - Throws: ``HandshakeError/exchange(_:)`` with `OAuthError/refused(_:)` when the API names another server;
    ///   ``HandshakeError/configuration(member:problem:)`` for a name that is none.
    public func client(id: String, issuedBy issuer: Issuer, redirect: Client.Redirect = .loopback) throws -> Client {
        guard server.issuer == issuer || server.issuer == issuer.withOtherSlash else {
            throw HandshakeError.exchange(
                .refused(Refusal(.issuer, expected: issuer.string, found: server.issuer.string)))
        }
        return try client(id: id, redirect: redirect, credential: nil)
    }

    /// Registers the app at the server (RFC 7591).
    ///
    /// Keep the client: each call registers another one. A loopback redirect without a port gets one now, because many
    /// servers accept only the address that was registered.
    ///
    /// - Parameters:
    ///   - name: the app's name, which the server shows to its users.
    ///   - redirect: where the browser brings the user back.
    ///   - initialAccessToken: what the server demands of those who register.
    /// - Throws: ``HandshakeError/exchange(_:)`` when the server registers no apps itself, or not as asked, or answers with an
    ///   error; ``HandshakeError/configuration(member:problem:)`` for a port that is taken; ``HandshakeError/network(_:)``,
    ///   `CancellationError`.
    public func register(
        as name: String, redirect: Client.Redirect = .loopback, presenting initialAccessToken: Secret? = nil
    ) async throws -> Client {
        try await register(as: name, redirect: redirect, for: scopes, presenting: initialAccessToken)
    }

    /// A client that is named by the address of its own document.
    ///
    /// - Throws: ``HandshakeError/exchange(_:)`` with `OAuthError/configuration(member:problem:)` for an address that cannot be
    ///   one; ``HandshakeError/configuration(member:problem:)`` for a server that does not say that it takes such clients.
    public func client(documentAt address: String, redirect: Client.Redirect = .loopback) throws -> Client {
        try client(documentAt: address, redirect: redirect, credential: nil)
    }

    /// The same for a server's client, which has a key.
    ///
    /// Its document says where its keys are (`ClientDocument/keysAddress`). Not available in apps: a user who has the app has its key.
    @available(iOS, unavailable, message: "an app's users can read its key; keep it on a server")
    @available(tvOS, unavailable, message: "an app's users can read its key; keep it on a server")
    @available(watchOS, unavailable, message: "an app's users can read its key; keep it on a server")
    @available(visionOS, unavailable, message: "an app's users can read its key; keep it on a server")
    public func confidentialClient(
        documentAt address: String, key: SigningKey, redirect: Client.Redirect = .loopback
    ) throws -> Client {
        try client(documentAt: address, redirect: redirect, credential: .key(key))
    }

    package func client(
        documentAt address: String, redirect: Client.Redirect, credential: Client.Credential?
    ) throws -> Client {
        do {
            _ = try ClientDocument.check(address)
        } catch {
            throw HandshakeError.exchange(error)
        }
        guard server.acceptsClientDocuments else {
            throw HandshakeError.configuration(
                member: "client_id",
                problem: "The server accepts no client that is named by the address of a document.")
        }
        return try client(id: address, redirect: redirect, credential: credential)
    }

    /// A client for the API, by an identifier of the server's.
    ///
    /// - Parameter parameters: further parameters of the authorization request, in place of those that the scopes want.
    package func client(
        id: String, redirect: Client.Redirect, credential: Client.Credential?, parameters: [String: String]? = nil
    ) throws -> Client {
        let security = resource.identifier.security
        let service = try Service(
            name: name, displayName: resource.identifier.origin.authority,
            authorizationServer: .discovered(server.issuer, security: security), apiRoot: address,
            deviations: deviations.ofService)
        var client = Client(
            service: service, id: id, redirect: redirect, scopes: scopes,
            resources: [ResourceIndicator(resource.identifier)],
            // A server for sign-ins gives offline access only with consent (OpenID Connect Core, section 11).
            parameters: parameters
                ?? (scopes.contains("openid") && scopes.contains("offline_access") ? ["prompt": "consent"] : [:]),
            credential: credential)
        client.confinement = address
        if resource.requiresBoundTokens { client.options.dpop = .always }
        client.options.dpopSigningAlgorithms = proofAlgorithms
        return client
    }

    /// `mcp-example-com-v1` for `https://mcp.example.com/v1`: host and path, at most 64 characters. Where several APIs
    /// differ elsewhere, such as in the port, give each a name.
    package static func name(for resource: EndpointURL) -> String {
        let address = (resource.origin.host + resource.path).lowercased()
        let words = address.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
        return String(words.joined(separator: "-").prefix(64))
    }
}

extension DiscoveredResource: RegisteringServer {
    package var registeredFor: String { address.string }

    package func registeredClient(
        id: String, redirect: Client.Redirect, credential: Client.Credential?
    ) throws -> Client {
        try client(id: id, redirect: redirect, credential: credential)
    }
}
