#if CommandLine
import AsyncSupport
import Handshake
import OAuth
import RecurseCenter

/// The user who signed in, as far as the service says.
struct SignedInUser {
    /// The service's identifier of the user.
    let subject: String?
    /// The user's name; at the Recurse Center with the batch.
    let name: String?

    /// What the user is greeted by.
    var greeting: String? { name ?? subject }

    /// How long the API may take: the user is signed in already, and waits for the command to end.
    private static let limit = Duration.seconds(3)

    /// Looks into the ID token first, then asks the API. A sign-in does not fail because the user's name is unknown.
    ///
    /// - Parameter needsName: whether to ask for the name when the subject is known already.
    init(_ account: Account, needsName: Bool) async {
        let claims = account.status.identity
        let claimed = claims?.claims["name"]?.string
        let subject: String?
        let name: String?
        if let claims, claimed != nil || !needsName {
            (subject, name) = (claims.subject, claimed)
        } else if account.service.name == Service.recurseCenter.name,
            let me = await Self.soon({ try await RecurseCenter(account, retry: .never).profile(.me) })
        {
            subject = me.id.description
            name = me.batchLabel.isEmpty ? me.name : "\(me.name) (\(me.batchLabel))"
        } else {
            let identity = await Self.soon { try await account.identity() }
            (subject, name) = (claims?.subject ?? identity?.subject, identity?.name)
        }
        let secrets = account.secrets
        self.subject = subject.map { hidingSecrets(secrets, in: $0) }
        self.name = name.map { hidingSecrets(secrets, in: $0) }
    }

    /// What an operation returns in time; nil when it fails.
    private static func soon<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async -> Value? {
        (try? await within(limit, on: ContinuousClock(), body)) ?? nil
    }
}
#endif
