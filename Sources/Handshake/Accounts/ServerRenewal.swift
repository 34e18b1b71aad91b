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
    /// - Throws: ``HandshakeError/exchange(_:)`` with `Refusal/Check/movedEndpoint` when a secret, or an assertion by a key,
    ///   would go to another host than at the sign-in; `CancellationError`.
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
        let moved = current.endpointsMoved(since: known)
        for endpoint in moved {
            environment.log.warning(
                "the server has moved its \(endpoint.name)",
                metadata: ["account": "\(id)", "from": "\(endpoint.before)", "to": "\(endpoint.after)"])
        }
        // What is stored is used for all that follows: a revocation and an introspection have the secret too.
        if client.isConfidential, let endpoint = moved.first {
            throw HandshakeError.exchange(
                .refused(
                    Refusal(
                        .movedEndpoint, expected: "its \(endpoint.name) at \(endpoint.before)",
                        found: endpoint.after.description)))
        }
        let lost = current.announcementsLost(since: known)
        if !lost.isEmpty {
            environment.log.warning(
                "the server no longer announces what it did at the sign-in",
                metadata: ["account": "\(id)", "lost": "\(lost.joined(separator: ", "))"])
        }
        var renewed = stored
        renewed.server = current
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

/// An endpoint at which clients authenticate, at another origin than before.
struct MovedEndpoint: Sendable, Hashable {
    /// What errors and logs call it, such as `token endpoint`.
    let name: String
    /// The origin of before; for an endpoint that the server did not have, those at which clients authenticated.
    let before: String
    let after: Origin
}

extension AuthorizationServerMetadata {
    /// The endpoints at which clients authenticate, and what errors and logs call them. An app calls its registration with a token
    /// of its own.
    private var authenticating: [(name: String, endpoint: EndpointURL?)] {
        [
            ("token endpoint", refreshEndpoint ?? tokenEndpoint), ("revocation endpoint", revocationEndpoint),
            ("introspection endpoint", introspectionEndpoint),
            ("endpoint for pushed authorization requests", pushedAuthorizationRequestEndpoint),
            ("device authorization endpoint", deviceAuthorizationEndpoint),
            ("endpoint for authentication on another device", backchannelAuthenticationEndpoint),
        ]
    }

    /// The endpoints at which clients authenticate, and that have another origin than before (`any-server.md` 9).
    ///
    /// One that the server did not have is among them unless clients authenticated at its origin already, or it is the issuer's.
    func endpointsMoved(since before: AuthorizationServerMetadata) -> [MovedEndpoint] {
        var known: [Origin] = [before.issuer.url.origin]
        for case let endpoint? in before.authenticating.map(\.endpoint) where !known.contains(endpoint.origin) {
            known.append(endpoint.origin)
        }
        return zip(authenticating, before.authenticating).compactMap { now, earlier in
            guard let after = now.endpoint?.origin else { return nil }
            let expected = earlier.endpoint.map { [$0.origin] } ?? known
            guard !expected.contains(after) else { return nil }
            return MovedEndpoint(
                name: now.name, before: expected.map(\.description).joined(separator: " or "), after: after)
        }
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
