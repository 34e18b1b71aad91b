#if CommandLine
import Handshake
import OAuth
import RecurseCenter

/// The user who signed in, as far as the service tells.
struct SignedInUser {
    /// The service's identifier of the user.
    let subject: String?
    /// The user's name; at the Recurse Center with the batch.
    let name: String?

    /// What the user is greeted by.
    var greeting: String? { name ?? subject }

    /// Looks into the ID token first, then asks the API. A sign-in does not fail because the user's name is unknown.
    ///
    /// - Parameter needsName: whether to ask for the name when the subject is known already.
    init(_ account: Account, needsName: Bool) async {
        let claims = account.status.identity
        let claimed = claims?.claims["name"]?.string
        if let claims, claimed != nil || !needsName {
            (subject, name) = (claims.subject, claimed)
        } else if account.service.name == Service.recurseCenter.name,
            let me = try? await RecurseCenter(account).profile(.me)
        {
            subject = me.id.description
            name = me.batchLabel.isEmpty ? me.name : "\(me.name) (\(me.batchLabel))"
        } else {
            let identity = try? await account.identity()
            (subject, name) = (claims?.subject ?? identity?.subject, identity?.name)
        }
    }
}
#endif
