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
        let (before, after) = ((known.refreshEndpoint ?? known.tokenEndpoint).origin, current.tokenEndpoint.origin)
        if before != after {
            environment.log.warning(
                "the server has moved its token endpoint",
                metadata: ["account": "\(id)", "from": "\(before)", "to": "\(after)"])
            guard !client.isConfidential else {
                throw HandshakeError.exchange(
                    .refused(Refusal(.movedEndpoint, expected: before.description, found: after.description)))
            }
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

extension AuthorizationServerMetadata {
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
        ].filter(\.1).map(\.0)
    }
}
