#if Sandbox
public import SandboxCore
import Synchronization

/// The users who are asked on their own devices, and what they decided (CIBA Core sections 7 to 11).
///
/// A class, because its endpoints, the control routes and tests share its state.
final class BackchannelRequests: Sendable {
    static let grantType = "urn:openid:params:grant-type:ciba"
    /// Seconds for which a request counts.
    static let lifetime = 120
    /// Seconds between two polls.
    static let interval = 5

    enum Decision: Sendable {
        case pending, denied, approved
    }

    struct Pending: Sendable {
        let client: SandboxClient
        let user: SandboxUser
        let scope: [String]
        /// What a notice to the client has to bring.
        let notificationToken: String?
        /// What the client and the user's device both show (CIBA Core section 7.1).
        let bindingMessage: String?
        /// How the page names the request: its identifier is the client's secret.
        let pageID = RandomText.base64URL(bytes: 9)
        let expiresAt: Double
        var decision = Decision.pending
        var askedAt: Double
    }

    let server: AuthorizationServer
    private let pending = Mutex<[String: Pending]>([:])

    init(server: AuthorizationServer) {
        self.server = server
    }

    /// The answer of the backchannel authentication endpoint (CIBA Core section 7.3).
    ///
    /// - Parameter hinted: the user of an ID token of this server.
    func begin(
        _ form: FormParameters, for client: SandboxClient, scope: [String], hinted: (String) -> String?
    ) throws(OAuthFailure) -> JSON {
        guard client.kind == .confidential else { throw .invalidClient("The client has to authenticate.") }
        guard scope.contains("openid") else { throw .invalidRequest("openid has to be among the scopes.") }
        let names = ["login_hint", "id_token_hint", "login_hint_token"].filter { form[$0] != nil }
        guard names.count == 1 else { throw .invalidRequest("Exactly one hint is needed.") }
        let user: SandboxUser? =
            form["login_hint"].flatMap { server.dialect.user($0) }
            ?? form["id_token_hint"].flatMap(hinted).flatMap { server.dialect.user(subject: $0) }
        guard let user else { throw OAuthFailure(code: "unknown_user_id", detail: "There is no user of this name.") }
        if let message = form["binding_message"], message.utf8.count > 64 {
            throw OAuthFailure(code: "invalid_binding_message", detail: "The message has more than 64 bytes.")
        }
        let now = server.clock.now
        let id = RandomText.base64URL(bytes: 24)
        pending.withLock { pending in
            pending = pending.filter { $0.value.expiresAt > now }
            pending[id] = Pending(
                client: client, user: user, scope: scope, notificationToken: form["client_notification_token"],
                bindingMessage: form["binding_message"], expiresAt: now + Double(Self.lifetime), askedAt: now)
        }
        return [
            "auth_req_id": .string(id), "expires_in": .number(Self.lifetime), "interval": .number(Self.interval),
        ]
    }

    /// Answers a poll (CIBA Core section 11).
    func redeem(_ id: String?, by client: SandboxClient) throws(OAuthFailure) -> IssuedTokens {
        guard let id else { throw .invalidRequest("auth_req_id is missing.") }
        let now = server.clock.now
        let answer = pending.withLock { pending -> Result<SandboxGrant, OAuthFailure> in
            guard let request = pending[id], request.client.id == client.id else {
                return .failure(.invalidGrant("auth_req_id is unknown or another client's."))
            }
            guard now < request.expiresAt else {
                return .failure(OAuthFailure(code: "expired_token", detail: "The request has expired."))
            }
            // Half a second less than the interval still counts: timers are not exact.
            let isTooSoon = now - request.askedAt < Double(Self.interval) - 0.5
            pending[id]?.askedAt = now
            switch request.decision {
            case .denied:
                return .failure(
                    OAuthFailure(code: "access_denied", detail: "The user did not allow access.", status: 403))
            case .pending where isTooSoon:
                return .failure(OAuthFailure(code: "slow_down", detail: "The client polls too often."))
            case .pending:
                return .failure(
                    OAuthFailure(code: "authorization_pending", detail: "The user has not decided yet."))
            case .approved:
                pending[id] = nil
                return .success(
                    SandboxGrant(clientID: client.id, user: request.user, scope: request.scope, authenticatedAt: now))
            }
        }
        return server.issueTokens(for: try answer.get(), by: client)
    }

    /// What waits for a user's decision, in the order of expiry.
    func waiting(for user: SandboxUser) -> [Pending] {
        let now = server.clock.now
        return pending.withLock { pending in
            pending.values.filter { $0.waits(for: user, at: now) }.sorted { $0.expiresAt < $1.expiresAt }
        }
    }

    /// Decides one request of a user; false when it is unknown, expired or decided.
    func decide(_ decision: Decision, onPage pageID: String, as user: SandboxUser) -> Bool {
        let now = server.clock.now
        return pending.withLock { pending in
            let found = pending.first { $0.value.pageID == pageID && $0.value.waits(for: user, at: now) }
            guard let found else { return false }
            pending[found.key]?.decision = decision
            return true
        }
    }

    /// Decides the requests that wait for a user, and returns the notices for their clients.
    func decide(_ decision: Decision, as user: SandboxUser) -> [(id: String, token: String?)] {
        let now = server.clock.now
        return pending.withLock { pending in
            let mine = pending.filter { $0.value.waits(for: user, at: now) }
            for id in mine.keys { pending[id]?.decision = decision }
            return mine.map { (id: $0.key, token: $0.value.notificationToken) }
        }
    }
}

extension BackchannelRequests.Pending {
    fileprivate func waits(for user: SandboxUser, at now: Double) -> Bool {
        guard case .pending = decision else { return false }
        return now < expiresAt && self.user.subject == user.subject
    }
}

extension StandardStandIn {
    /// `user=NAME&decision=allow` or `…=refuse`; the answer lists the notices that ping clients are to get.
    func decideBackchannel(_ request: IncomingRequest) -> Answer {
        let named = request.form["user"].flatMap { server.dialect.user($0) }
        guard let user = named,
            let decision: BackchannelRequests.Decision = ["allow": .approved, "refuse": .denied][
                request.form["decision"] ?? ""]
        else { return .text("Expected a form with user, and decision allow or refuse.\n", status: 400) }
        let notices = backchannel.decide(decision, as: user)
        return .json(
            .array(notices.map { ["auth_req_id": .string($0.id), "client_notification_token": JSON($0.token)] }))
    }
}

extension Sandbox {
    /// Allows all that the user is asked on their own device (CIBA). No HTTP, fault or request log is involved. What is
    /// decided already, or has expired, stays as it is.
    ///
    /// - Parameter userName: the email address of the user.
    /// - Returns: the notices that clients in ping mode are to get: identifier and notification token.
    /// - Throws: ``SandboxError/unknownUser(name:known:)``.
    @discardableResult
    public func approveBackchannel(as userName: String) throws(SandboxError) -> [(id: String, token: String?)] {
        try decide(.approved, as: userName)
    }

    /// Refuses all that the user is asked. Otherwise like ``approveBackchannel(as:)``.
    @discardableResult
    public func refuseBackchannel(as userName: String) throws(SandboxError) -> [(id: String, token: String?)] {
        try decide(.denied, as: userName)
    }

    private func decide(
        _ decision: BackchannelRequests.Decision, as userName: String
    ) throws(SandboxError) -> [(id: String, token: String?)] {
        let standard = standIn(StandardStandIn.self)
        guard let user = standard.server.dialect.user(userName) else {
            throw .unknownUser(name: userName, known: standard.server.dialect.users.map(\.name))
        }
        return standard.backchannel.decide(decision, as: user)
    }
}
#endif
