public import OAuth

/// A server that registers apps itself, found from its issuer (RFC 7591).
///
/// For servers that the app's users choose, where no developer has registered it:
///
/// ```swift
/// let service = try Service(
///     name: "mine", authorizationServer: .discovered(Issuer("https://id.example.com"), security: .httpsOnly))
/// let server = try await DiscoveredServer.discover(service, scopes: ["openid"])
/// let client = try await server.client(registeredAs: "My App", in: vault)
/// let account = try await Handshake(client, vault: vault).signIn(through: .systemBrowser)
/// ```
///
/// An API that names its server is a ``DiscoveredResource``.
public struct DiscoveredServer: Sendable {
    /// The service that clients are for.
    public let service: Service
    /// What the server says about itself. Without a `registrationEndpoint` it registers no apps.
    public let server: AuthorizationServerMetadata
    /// The scopes to ask for.
    ///
    /// Change them before a registration, which is for these alone.
    public var scopes: [String]
    package let transport: any Transport
    package let limits: TransferLimits

    /// Fetches the metadata of a service's server.
    ///
    /// - Parameters:
    ///   - service: what to connect to, by its issuer.
    ///   - scopes: what to ask for; nil asks for the service's smallest useful scope.
    ///   - transport: how requests reach the network.
    ///   - limits: what one request may cost.
    /// - Throws: ``HandshakeError/configuration(member:problem:)`` for a service with stated endpoints; ``HandshakeError/undiscovered(issuer:failures:)``; ``HandshakeError/exchange(_:)`` for metadata of another issuer;
    ///   ``HandshakeError/network(_:)``, `CancellationError`.
    public static func discover(
        _ service: Service, scopes: [String]? = nil,
        transport: any Transport = .platform, limits: TransferLimits = TransferLimits()
    ) async throws -> DiscoveredServer {
        // Endpoints that were stated by hand are vouched for by no metadata: a registration for the issuer must not go there.
        guard case .discovered = service.authorizationServer else {
            throw HandshakeError.configuration(
                member: "service", problem: "it must be described by its issuer, without endpoints")
        }
        return DiscoveredServer(
            service: service, server: try await Environment(transport: transport, limits: limits).server(of: service),
            scopes: scopes ?? service.defaultScopes, transport: transport, limits: limits)
    }

    /// The app's client at the server, registered once (RFC 7591).
    ///
    /// It is the one that an earlier call registered, or is registered now. What was registered is kept in the vault, for this
    /// server and this redirect, and goes to no other server. A registration whose secret has expired, or that is for fewer
    /// ``scopes``, is changed where the server offers that (RFC 7592), and otherwise made again.
    ///
    /// - Parameters:
    ///   - name: the app's name, which the server shows to its users.
    ///   - redirect: where the browser brings the user back. A loopback redirect without a port gets one that is kept.
    ///   - initialAccessToken: what the server demands of those who register.
    ///   - vault: where the registration rests, sealed.
    ///   - time: what time it is.
    /// - Throws: ``HandshakeError/exchange(_:)`` when the server registers no apps itself, or not as asked, or answers with an
    ///   error; ``HandshakeError/configuration(member:problem:)`` for a port that is taken; ``HandshakeError/network(_:)``,
    ///   ``HandshakeError/vault(_:)``, `CancellationError`.
    public func client(
        registeredAs name: String, redirect: Client.Redirect = .loopback, presenting initialAccessToken: Secret? = nil,
        in vault: any Vault, time: TimeSource = .system
    ) async throws -> Client {
        try await registered(as: name, redirect: redirect, key: nil, presenting: initialAccessToken, in: vault, time)
    }

    /// Forgets the registration that the vault keeps.
    ///
    /// The next ``client(registeredAs:redirect:presenting:in:time:)`` registers the app again.
    ///
    /// - Throws: ``HandshakeError/vault(_:)``, also when nothing was kept.
    public func forgetClient(redirect: Client.Redirect = .loopback, in vault: any Vault) async throws {
        try await forgetRegistration(redirect, isKeyed: false, in: vault)
    }
}

extension DiscoveredServer: RegisteringServer {
    /// Stands for the API in vault keys of registrations without one; no address equals it.
    package static let noAPI = "issuer"

    package var registeredFor: String { Self.noAPI }

    package func registeredClient(
        id: String, redirect: Client.Redirect, credential: Client.Credential?
    ) throws -> Client {
        Client(
            service: service, id: id, redirect: redirect, scopes: scopes, resources: [], parameters: [:],
            credential: credential)
    }
}
