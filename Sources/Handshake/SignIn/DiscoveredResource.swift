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
    private let transport: any Transport
    private let limits: TransferLimits

    var environment: Environment {
        Environment(
            vault: MemoryVault(), transport: transport, time: .system, random: .system, limits: limits,
            log: .init(label: "handshake"))
    }

    /// Asks an API how to sign in to it (`any-server.md` 5).
    ///
    /// It asks by a request without a token, whose refusal may say so, and then at the well-known addresses (RFC 9728).
    /// An API that says nothing counts as its own authorization server, if it publishes that server's metadata.
    ///
    /// - Parameters:
    ///   - address: the API's address, `https:`, or `http:` on this machine.
    ///   - name: the name of the service; from the API's host unless given.
    ///   - known: issuers with which the app has a client. One of them is taken before those that the API names first.
    ///   - transport: how requests reach the network.
    ///   - limits: what one request may cost.
    /// - Throws: ``HandshakeError/exchange(_:)`` for an address that is none, a document that is wrong, a redirect, or a server
    ///   without PKCE by S256; ``HandshakeError/configuration(member:problem:)`` for a name that is none;
    ///   ``HandshakeError/undiscovered(issuer:failures:)``, ``HandshakeError/network(_:)``, `CancellationError`.
    public static func discover(
        _ address: String, named name: String? = nil, preferring known: [Issuer] = [],
        transport: any Transport = .platform, limits: TransferLimits = TransferLimits()
    ) async throws -> DiscoveredResource {
        let identifier: EndpointURL
        do {
            identifier = try EndpointURL(address, security: .allowingInsecureLoopback, member: "resource").canonical
        } catch {
            throw HandshakeError.exchange(error)
        }
        let discovery = ResourceDiscovery(
            of: identifier,
            in: Environment(
                vault: MemoryVault(), transport: transport, time: .system, random: .system, limits: limits,
                log: .init(label: "handshake")))
        let (location, demanded) = try await discovery.challenge()
        let resource = try await discovery.document(announcedAt: location)
        let issuer =
            resource.authorizationServers.first(where: known.contains) ?? resource.authorizationServers.first
        let server = try await discovery.server(issuer ?? Issuer(originOf: identifier))
        let name = name ?? Self.name(for: identifier)
        guard Service.isName(name) else {
            throw HandshakeError.configuration(
                member: "service",
                problem: "“\(quoted(name, limit: 80))” is not a valid name; use lower-case letters and digits")
        }
        var scopes = demanded ?? resource.scopes ?? []
        if server.scopes?.contains("offline_access") == true, !scopes.contains("offline_access") {
            scopes.append("offline_access")
        }
        return DiscoveredResource(
            resource: resource, server: server, scopes: scopes, address: identifier, name: name,
            transport: transport, limits: limits)
    }

    /// A client that the server knows already, paired with the API by the server that issued its identifier.
    ///
    /// An API that named another server could borrow the client, and the rights that users gave it there (`any-server.md` 9.1).
    ///
    /// - Parameter issuer: the server where the identifier was registered, as the app knows it, not as the API names it.
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
    /// - Throws: ``HandshakeError/exchange(_:)`` when the server registers no apps itself, or not as asked, or answers with an
    ///   error; ``HandshakeError/configuration(member:problem:)`` for a port that is taken; ``HandshakeError/network(_:)``,
    ///   `CancellationError`.
    public func register(as name: String, redirect: Client.Redirect = .loopback) async throws -> Client {
        try await register(as: name, redirect: redirect, for: scopes)
    }

    /// The same, for more scopes than the sign-in asks for.
    package func register(
        as name: String, redirect: Client.Redirect, for all: [String], onDevices isForDevices: Bool = false
    ) async throws -> Client {
        guard let endpoint = server.registrationEndpoint else {
            throw HandshakeError.exchange(server.lacks("registration_endpoint"))
        }
        let (redirect, uri) = try Self.fixed(redirect)
        var request = ClientRegistrationRequest(at: endpoint, name: name, redirectURI: uri, scopes: all)
        request.isForDevices = isForDevices
        let registered = try await environment.exchange({ try request.message }, request.client)
        var client = try client(id: registered.id, redirect: redirect, credential: registered.credential)
        client.registration = ClientRegistration(
            name: name, endpoint: endpoint, scopes: all, redirect: redirect, redirectURI: uri,
            isForDevices: isForDevices, expiresAt: registered.expiresAt, management: registered.management)
        return client
    }

    /// A client that is named by the address of its own document.
    ///
    /// - Throws: ``HandshakeError/exchange(_:)`` with `OAuthError/configuration(member:problem:)` for an address that cannot be
    ///   one; ``HandshakeError/configuration(member:problem:)`` for a server that does not say that it takes such clients.
    public func client(documentAt address: String, redirect: Client.Redirect = .loopback) throws -> Client {
        do {
            _ = try ClientDocument.check(address)
        } catch {
            throw HandshakeError.exchange(error)
        }
        guard server.acceptsClientDocuments else {
            throw HandshakeError.configuration(
                member: "client_id", problem: "the server takes no client that is named by the address of a document")
        }
        return try client(id: address, redirect: redirect, credential: nil)
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
            authorizationServer: .discovered(server.issuer, security: security), apiRoot: address)
        var client = Client(
            service: service, id: id, redirect: redirect, scopes: scopes,
            resources: [ResourceIndicator(resource.identifier)],
            // A server for sign-ins gives offline access only with consent (OpenID Connect Core, section 11).
            parameters: parameters
                ?? (scopes.contains("openid") && scopes.contains("offline_access") ? ["prompt": "consent"] : [:]),
            credential: credential)
        client.confinement = address
        if resource.requiresBoundTokens { client.options.dpop = .always }
        client.options.dpopSigningAlgorithms = resource.dpopSigningAlgorithms
        return client
    }

    /// The redirect with a port that was free just now.
    private static func fixed(_ redirect: Client.Redirect) throws -> (Client.Redirect, RedirectURI) {
        switch redirect {
        case .uri(let uri): return (redirect, uri)
        case .loopback(let port, let path):
            // It is closed when this returns, and opened again by the sign-in.
            let uri = try LoopbackListener(port: port, path: path).redirectURI
            let chosen = try EndpointURL(uri.string, security: .allowingInsecureLoopback).origin.port
            return (.loopback(port: UInt16(chosen), path: path), uri)
        }
    }

    /// `mcp-example-com` for `https://mcp.example.com`.
    package static func name(for resource: EndpointURL) -> String {
        let words = resource.origin.host.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
        return String(words.joined(separator: "-").prefix(64))
    }
}

/// The steps that find an API's server.
private struct ResourceDiscovery {
    let resource: EndpointURL
    let environment: Environment

    init(of resource: EndpointURL, in environment: Environment) {
        self.resource = resource
        self.environment = environment
    }

    /// What the API's refusal of a request without a token announces. Any status serves but a redirect.
    func challenge() async throws -> (location: EndpointURL?, scopes: [String]?) {
        let request = RequestMessage(.get, resource, headers: [.accept: "application/json, text/event-stream"])
        let read = { (response: ResponseMessage) throws -> (location: EndpointURL?, scopes: [String]?) in
            let status = response.head.status.code
            guard response.head.status.kind != .redirection else {
                throw OAuthError.redirected(
                    step: .resource, status: status, target: response.head.headerFields[.location].map(Self.shown))
            }
            guard status == 401 || status == 403 else { return (nil, nil) }
            return ProtectedResourceRequest.announced(in: response, by: resource)
        }
        do {
            let limits = TransferLimits(timeout: .seconds(5))
            return try read(try await environment.transport.send(request, limits: limits))
        } catch let error as OAuthError {
            throw HandshakeError.exchange(error)
        } catch TransportError.timedOut, TransportError.tooLarge {
            // A stream of events, which has begun and does not end: nothing is learned from it.
            return (nil, nil)
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
            if let document = try await environment.exchange({ request.message }, request.document) { return document }
        }
        return ProtectedResource(withoutDocument: resource)
    }

    /// The metadata of a server whose issuer the API has named. A bare origin may be spelled with or without a slash
    /// (`any-server.md` 5).
    func server(_ issuer: Issuer) async throws -> AuthorizationServerMetadata {
        let server: AuthorizationServerMetadata
        do {
            server = try await environment.discover(issuer, security: resource.security)
        } catch HandshakeError.exchange(.refused(let refusal)) where refusal.check == .issuer {
            guard let other = issuer.withOtherSlash else { throw HandshakeError.exchange(.refused(refusal)) }
            server = try await environment.discover(other, security: resource.security)
        }
        guard server.codeChallengeMethods?.contains("S256") == true else {
            let listed = server.codeChallengeMethods.map { quoted($0.joined(separator: ", "), limit: 100) } ?? "no list"
            throw HandshakeError.exchange(
                .refused(
                    Refusal(
                        .challengeMethod, expected: "S256 among the server's challenge methods", found: listed)))
        }
        return server
    }
}
