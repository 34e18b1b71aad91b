#if Sandbox
import HTTPTypes
import SandboxCore

/// The caller of the Connect API (IFTTT Connect dossier, section 2.3).
enum Caller: Sendable {
    case anonymous
    /// With a user token, which is for one partner service.
    case user(UserToken)
    case service(Partner)
}

/// Authenticates callers and checks what they may see.
struct Access: Sendable {
    let store: Store

    static let serviceKeyField = HTTPField.Name("IFTTT-Service-Key")
    static let inviteCodeField = HTTPField.Name("IFTTT-Invite-Code")

    /// - Throws: 401 for credentials that are unknown, revoked, of another scheme, or of both kinds together.
    func caller(_ request: IncomingRequest) throws(Refusal) -> Caller {
        let key = Self.serviceKeyField.flatMap { request.headers[$0] }
        let authorization = request.headers[.authorization]
        switch (key, authorization) {
        case (nil, nil): return .anonymous
        case (_?, _?): throw .unauthorized("Send a user token or a service key, not both")
        case (let key?, nil):
            guard let partner = store.read({ $0.partners.values.first { $0.serviceKey == key } }) else {
                throw .unauthorized("The service key is unknown")
            }
            return .service(partner)
        case (nil, _?):
            guard let token = request.bearerToken, let found = store.read({ $0.userTokens[token] }), !found.isRevoked
            else { throw .unauthorized("The user token is missing, unknown or revoked") }
            return .user(found)
        }
    }

    /// The partner behind a service key.
    func partner(_ request: IncomingRequest) throws(Refusal) -> Partner {
        guard case .service(let partner) = try caller(request) else {
            throw .unauthorized("This needs a service key")
        }
        return partner
    }

    /// The connection of the path, if the caller may see it: an unpublished one needs its owner's key, a user token of
    /// its owner, or the invite code.
    func connection(_ request: IncomingRequest, for caller: Caller) throws(Refusal) -> Connection {
        let found = store.read { state -> (Connection, Partner)? in
            guard let connection = state.connection(request.variables["id"] ?? ""),
                let partner = state.partner(of: connection)
            else { return nil }
            return (connection, partner)
        }
        guard let (connection, partner) = found else { throw .connectionNotFound }
        let code = Self.inviteCodeField.flatMap { request.headers[$0] }
        let isInvited = partner.isPublished || (code != nil && code == partner.inviteCode)
        switch caller {
        case .service(let own):
            if own.serviceID == partner.serviceID { return connection }
            guard isInvited else { throw .connectionNotFound }
            throw .forbidden("The connection belongs to another service")
        case .user(let token):
            guard isInvited || token.serviceID == partner.serviceID else { throw .connectionNotFound }
            guard token.serviceID == partner.serviceID else {
                throw .forbidden("The user token is for another service")
            }
            return connection
        case .anonymous:
            guard isInvited else { throw .connectionNotFound }
            return connection
        }
    }

    /// The IFTTT user of a call about one user: of the token, or of the partner's `user_id`.
    ///
    /// - Throws: 401 for an anonymous caller; 422 without `user_id`; 404 when the partner has no such user here.
    func login(
        for caller: Caller, userID: String?
    ) throws(Refusal) -> String {
        switch caller {
        case .anonymous: throw .unauthorized("This needs a user token or a service key")
        case .user(let token): return token.login
        case .service(let partner):
            guard let userID, !userID.isEmpty else {
                throw .invalid("/user_id", "A call with a service key names the user")
            }
            guard let link = store.read({ $0.link(serviceID: partner.serviceID, partnerUserID: userID) }) else {
                throw .notEnabled
            }
            return link.login
        }
    }

    /// The body as a JSON object; an empty one counts as `{}`.
    static func object(_ request: IncomingRequest) throws(Refusal) -> JSON {
        if request.body.isEmpty { return [:] }
        guard let json = JSON(parsing: request.body), case .object = json else {
            throw .malformed("The body is not a JSON object")
        }
        return json
    }

    /// A route that may refuse, as the answer to a request.
    static func answering(
        _ body: @escaping @Sendable (IncomingRequest) throws(Refusal) -> Answer
    ) -> @Sendable (IncomingRequest) -> Answer {
        { request in
            do throws(Refusal) {
                return try body(request)
            } catch {
                return error.answer
            }
        }
    }
}
#endif
