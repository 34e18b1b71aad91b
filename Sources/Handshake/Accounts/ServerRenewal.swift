import AsyncSupport
import Logging
import OAuth

/// The metadata beside a grant is that of its sign-in, and is fetched again after a week: servers move endpoints and rotate what they
/// support (`oauth-security.md` H6; `any-server.md` 9).
extension Account {
    /// How long stored metadata are used without asking, in seconds.
    private static let serverAge = 604_800.0
    /// How long a refresh waits for newer metadata.
    private static let renewalDeadline = Duration.seconds(5)

    /// The record with its server's metadata of now. A server that cannot be asked, or whose document is wrong, breaks no session: the
    /// stored metadata stay.
    ///
    /// A client with a secret or a key keeps its other endpoints where they are at another origin, or new at one: the app may never
    /// call them, and its own sign-in takes the new ones.
    ///
    /// - Throws: ``HandshakeError/exchange(_:)`` with `Refusal/Check/movedEndpoint` when a refresh would send a secret, or an
    ///   assertion by a key, to another origin than at the sign-in; `CancellationError`.
    func withCurrentServer(_ stored: AccountRecord) async throws -> AccountRecord {
        guard let known = stored.server, case .discovered = client.service.authorizationServer else { return stored }
        let now = environment.time.now()
        guard !(0..<Self.serverAge).contains(now - (stored.serverAt ?? 0)) else { return stored }
        guard let current = try await currentServer() else { return stored }
        // The address of many tenants may come to name one of them, or another one: the account stays with its own.
        guard current.issuer == known.issuer else {
            environment.log.warning(
                "the server names another issuer than at the sign-in",
                metadata: ["account": "\(id)", "from": "\(known.issuer)", "to": "\(current.issuer)"])
            return stored
        }
        let changed = current.endpointsChanged(since: known)
        for endpoint in changed {
            environment.log.warning(
                "\(endpoint.sentence(isKept: client.isConfidential))",
                metadata: [
                    "account": "\(id)", "from": "\(endpoint.before?.description ?? "none")", "to": "\(endpoint.after)",
                ])
        }
        if client.isConfidential, let moved = changed.first(where: { $0.endpoint == .token }) {
            throw HandshakeError.exchange(
                .refused(
                    Refusal(
                        .movedEndpoint,
                        expected: "its \(moved.endpoint.rawValue) at \(moved.before?.description ?? "none")",
                        found: moved.after.description)))
        }
        let lost = current.announcementsLost(since: known)
        if !lost.isEmpty {
            environment.log.warning(
                "the server no longer announces what it did at the sign-in",
                metadata: ["account": "\(id)", "lost": "\(lost.joined(separator: ", "))"])
        }
        var renewed = stored
        renewed.server = client.isConfidential ? current.keeping(changed, of: known) : current
        renewed.serverAt = now
        return renewed
    }

    private func currentServer() async throws -> AuthorizationServerMetadata? {
        do {
            return try await within(Self.renewalDeadline, on: environment.time.clock) { [environment, client] in
                try await environment.server(of: client)
            }
        } catch let error as HandshakeError {
            environment.log.notice(
                "the server's metadata could not be renewed", metadata: ["account": "\(id)", "reason": "\(error.code)"])
            return nil
        }
    }
}

/// An endpoint at which clients authenticate, and what errors and logs call it. An app calls its registration with a token of its own.
enum AuthenticatingEndpoint: String, Sendable, CaseIterable {
    case token = "token endpoint"
    case revocation = "revocation endpoint"
    case introspection = "introspection endpoint"
    case pushedAuthorization = "endpoint for pushed authorization requests"
    case deviceAuthorization = "device authorization endpoint"
    case backchannelAuthentication = "endpoint for authentication on another device"

    /// Where a server's metadata have it; nil for the token endpoint, which each server has.
    fileprivate var member: WritableKeyPath<AuthorizationServerMetadata, EndpointURL?>? {
        switch self {
        case .token: nil
        case .revocation: \AuthorizationServerMetadata.revocationEndpoint
        case .introspection: \AuthorizationServerMetadata.introspectionEndpoint
        case .pushedAuthorization: \AuthorizationServerMetadata.pushedAuthorizationRequestEndpoint
        case .deviceAuthorization: \AuthorizationServerMetadata.deviceAuthorizationEndpoint
        case .backchannelAuthentication: \AuthorizationServerMetadata.backchannelAuthenticationEndpoint
        }
    }

    /// The name of its alias for clients with a certificate (RFC 8705, section 5).
    fileprivate var alias: String {
        switch self {
        case .token: "token_endpoint"
        case .revocation: "revocation_endpoint"
        case .introspection: "introspection_endpoint"
        case .pushedAuthorization: "pushed_authorization_request_endpoint"
        case .deviceAuthorization: "device_authorization_endpoint"
        case .backchannelAuthentication: "backchannel_authentication_endpoint"
        }
    }

    /// Its origin at a server; nil where the server does not have it.
    fileprivate func origin(at server: AuthorizationServerMetadata) -> Origin? {
        guard let member else { return (server.refreshEndpoint ?? server.tokenEndpoint).origin }
        return server[keyPath: member]?.origin
    }
}

/// An endpoint at which clients authenticate, at another origin than before or new at one.
struct ChangedEndpoint: Sendable, Hashable {
    let endpoint: AuthenticatingEndpoint
    /// The origin of before; nil for an endpoint that the server did not have.
    let before: Origin?
    let after: Origin

    /// The change as a sentence of the log.
    ///
    /// - Parameter isKept: whether the session goes on as before. Without its token endpoint there is no refresh.
    fileprivate func sentence(isKept: Bool) -> String {
        let isKept = isKept && endpoint != .token
        guard before != nil else {
            return "the server has a new \(endpoint.rawValue) at another origin"
                + (isKept ? "; the session does not use it" : "")
        }
        return "the server has moved its \(endpoint.rawValue)" + (isKept ? "; the session uses the earlier one" : "")
    }
}

extension AuthorizationServerMetadata {
    /// The endpoints at which clients authenticate, and that have another origin than before (`any-server.md` 9).
    ///
    /// One that the server did not have is among them unless clients authenticated at its origin already, or it is the issuer's.
    func endpointsChanged(since before: AuthorizationServerMetadata) -> [ChangedEndpoint] {
        let all = AuthenticatingEndpoint.allCases
        let known = [before.issuer.url.origin] + all.compactMap { $0.origin(at: before) }
        return all.compactMap { endpoint in
            guard let after = endpoint.origin(at: self) else { return nil }
            let earlier = endpoint.origin(at: before)
            let expected = earlier.map { [$0] } ?? known
            guard !expected.contains(after) else { return nil }
            return ChangedEndpoint(endpoint: endpoint, before: earlier, after: after)
        }
    }

    /// This server with the changed endpoints, and their aliases, as they were before; the token endpoint is its own.
    func keeping(
        _ changed: [ChangedEndpoint], of before: AuthorizationServerMetadata
    ) -> AuthorizationServerMetadata {
        var server = self
        for change in changed {
            guard let member = change.endpoint.member else { continue }
            server[keyPath: member] = before[keyPath: member]
            server.mutualTLSAliases[change.endpoint.alias] = before.mutualTLSAliases[change.endpoint.alias]
        }
        return server
    }

    /// What protects a sign-in and was announced before, and no longer is (`any-server.md` 9).
    func announcementsLost(since before: AuthorizationServerMetadata) -> [String] {
        [
            ("iss", before.announcesIssuerInResponse && !announcesIssuerInResponse),
            (
                "PAR",
                before.pushedAuthorizationRequestEndpoint != nil && pushedAuthorizationRequestEndpoint == nil
            ),
            ("DPoP", before.dpopSigningAlgorithms != nil && dpopSigningAlgorithms == nil),
            (
                "S256",
                before.codeChallengeMethods?.contains("S256") == true && codeChallengeMethods?.contains("S256") != true
            ),
            (
                "signed requests",
                before.requestObjectSigningAlgorithms != nil && requestObjectSigningAlgorithms == nil
            ),
            (
                "signed responses",
                before.authorizationSigningAlgorithms != nil && authorizationSigningAlgorithms == nil
            ),
            ("tokens bound to a certificate", before.bindsTokensToCertificates && !bindsTokensToCertificates),
        ].filter(\.1).map(\.0)
    }
}
