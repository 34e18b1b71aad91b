#if Sandbox
import SandboxCore

/// A user with an IFTTT account (IFTTT Connect dossier, section 11.1).
struct Account: Sendable {
    let login: String
    let email: String
    /// Nil for accounts that the web flow made; they sign in by mail.
    let password: String?
    /// The services besides the partners' that the user has connected before.
    var connectedServices: Set<String> = []
}

/// A partner's user, connected with an IFTTT account.
struct Link: Sendable {
    let serviceID: String
    let partnerUserID: String
    let login: String
}

/// An IFTTT token of one user for one partner service (section 0, "user token").
struct UserToken: Sendable {
    let login: String
    let serviceID: String
    var isRevoked = false
}

/// A code that stands for a partner's OAuth code in a Connect URL (section 2.8).
struct ProvisionalCode: Sendable {
    let oauthCode: String
    let serviceID: String
    let createdAt: Double
    var isUsed = false

    /// 48 hours.
    static let lifetime: Double = 172_800
}
#endif
