import Logging
package import OAuth

/// What a service publishes otherwise than this package describes it.
package struct ServiceDrift: Sendable, Hashable {
    /// The member of the description, such as `token_url`.
    package let member: String
    /// What the package says.
    package let described: String
    /// What the service publishes; nil when it publishes nothing there.
    package let published: String?
}

extension BuiltInService {
    /// Asks the service's metadata, and compares it with the description.
    ///
    /// - Parameters:
    ///   - values: the values of the service's placeholders.
    ///   - base: an address in the place of every host of the service.
    ///   - transport: how requests reach the network.
    /// - Returns: the differences; nil when the service is not known to publish metadata.
    /// - Throws: what ``service(_:security:)`` throws; ``HandshakeError/undiscovered(issuer:failures:)``,
    ///   ``HandshakeError/exchange(_:)`` and ``HandshakeError/network(_:)`` when its metadata cannot be read.
    package func drift(
        _ values: [String: String] = [:], at base: EndpointURL? = nil,
        transport: any Transport = .platform
    ) async throws -> [ServiceDrift]? {
        _ = try service(values)
        let facts = ServiceFacts(name: name, members: try filled(with: values), security: .httpsOnly)
        guard var issuer = try facts.issuer() else { return nil }
        var template = try facts.issuerTemplate()
        if let base { (issuer, template) = (issuer.at(base), template?.at(base)) }
        let environment = Environment(
            vault: MemoryVault(), transport: transport, time: .system, random: .system, limits: TransferLimits(),
            log: .init(label: "handshake"))
        let published = try await environment.discover(issuer, of: template, security: base?.security ?? .httpsOnly)
        let endpoints: [(String, EndpointURL?)] = [
            ("authorize_url", published.authorizationEndpoint), ("token_url", published.tokenEndpoint),
            ("revocation_url", published.revocationEndpoint),
            ("device_authorization_url", published.deviceAuthorizationEndpoint),
        ]
        return try endpoints.compactMap { member, found in
            guard var described = try facts.endpoint(member) else { return nil }
            if let base { described = described.moved(to: base.origin) }
            guard described != found else { return nil }
            return ServiceDrift(member: member, described: described.string, published: found?.string)
        }
    }
}
