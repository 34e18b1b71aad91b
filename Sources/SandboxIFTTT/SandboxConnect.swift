#if Sandbox
import SandboxCore

/// What is registered at the IFTTT stand-in. It comes besides the clients and users of its partner.
///
/// The paths below an origin are those of the IFTTT Connect dossier, section 11.2; the partner's own server is below
/// `partnerPath`.
public struct SandboxConnect: Sendable {
    /// A service whose app embeds the button.
    public struct Partner: Sendable {
        /// The service id.
        public let id: String
        /// The value of `IFTTT-Service-Key`. It is a fixture and protects nothing.
        public let serviceKey: String
        /// The value of `IFTTT-Invite-Code` that unlocks an unpublished service. Nil for a published one.
        public let inviteCode: String?
        /// The registered redirect URLs. One on `http://127.0.0.1` or `http://[::1]` without a port fits any port.
        public let redirectURLs: [String]
    }

    /// A connection.
    public struct Connection: Sendable {
        /// The id in paths.
        public let id: String
        /// The service that owns it.
        public let partnerID: String
        /// What it is there for, in a few words.
        public let note: String
    }

    /// A user with an IFTTT account who is connected with a partner.
    public struct Account: Sendable {
        /// The name at IFTTT.
        public let login: String
        /// The address at IFTTT, to sign in with and to be recognised by.
        public let email: String
        /// The password at IFTTT. It is a fixture and protects nothing.
        public let password: String
        /// The id at the partner, for `user_id`.
        public let partnerUserID: String
        /// A living user token for the first partner.
        public let userToken: String
        /// The partner's own access token of the user, for `access_token`.
        public let partnerAccessToken: String
    }

    /// The services, the published one first.
    public let partners: [Partner]
    /// The connections, the dossier's example first.
    public let connections: [Connection]
    /// The accounts in order: everything enabled, disabled, pending, never enabled.
    public let accounts: [Account]
    /// A user token that is revoked.
    public let revokedUserToken: String
    /// Where the partner's own server is: `/partner`.
    public let partnerPath: String
}

extension SandboxConnect {
    init() {
        partners = [Fixtures.garden, Fixtures.orchard].map {
            Partner(
                id: $0.serviceID, serviceKey: $0.serviceKey, inviteCode: $0.inviteCode, redirectURLs: $0.redirectURLs)
        }
        connections = ConnectionFixtures.connections.map {
            Connection(id: $0.id, partnerID: $0.ownerID, note: $0.note)
        }
        accounts = zip(Fixtures.accounts, Fixtures.partnerUsers).map { account, user in
            let name = user.name.prefix { $0 != "@" }
            return Account(
                login: account.login, email: account.email, password: user.password, partnerUserID: user.subject,
                userToken: "utk_sandbox_\(name)", partnerAccessToken: "access_sandbox_\(name)")
        }
        revokedUserToken = "utk_sandbox_revoked"
        partnerPath = "/partner"
    }

    var json: JSON {
        [
            "partners": .array(
                partners.map {
                    [
                        "id": .string($0.id), "service_key": .string($0.serviceKey),
                        "invite_code": JSON($0.inviteCode), "redirect_urls": JSON($0.redirectURLs),
                    ]
                }),
            "connections": .array(
                connections.map {
                    ["id": .string($0.id), "partner_id": .string($0.partnerID), "note": .string($0.note)]
                }),
            "accounts": .array(
                accounts.map {
                    [
                        "login": .string($0.login), "email": .string($0.email), "password": .string($0.password),
                        "partner_user_id": .string($0.partnerUserID), "user_token": .string($0.userToken),
                        "partner_access_token": .string($0.partnerAccessToken),
                    ]
                }),
            "revoked_user_token": .string(revokedUserToken), "partner_path": .string(partnerPath),
        ]
    }
}
#endif
