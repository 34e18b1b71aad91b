#if Sandbox
import HTTPTypes
import SandboxCore

/// Who is the user, and tokens for them (IFTTT Connect dossier, rows S4 to S7 and S22).
struct IdentityRoutes: Sendable {
    let store: Store
    let access: Access

    var routes: [Route] {
        [
            Route(
                "GET", path: "/v2/me", note: "who asks; user token, service key, or none",
                answer: Access.answering(me)),
            Route(
                "GET", path: "/v2/account/find", note: "204 when the email has an account, else 404",
                answer: Access.answering(find)),
            Route(
                "POST", path: "/v2/user_token", note: "a user token; service key, user_id and access_token",
                answer: Access.answering(userToken)),
            Route(
                "POST", path: "/v2/provisional_access_code", note: "a provisional code for an oauth_code; service key",
                answer: Access.answering(provisionalCode)),
            Route(
                "POST", path: "/partner/api/user_token", note: "the partner's back end: a user token for its own code",
                answer: Access.answering(partnerUserToken)),
        ]
    }

    private func me(_ request: IncomingRequest) throws(Refusal) -> Answer {
        var level = "none"
        var serviceID: String?
        var login: String?
        switch try access.caller(request) {
        case .anonymous: break
        case .user(let token): (level, serviceID, login) = ("user", token.serviceID, token.login)
        case .service(let partner): (level, serviceID) = ("channel", partner.serviceID)
        }
        return .uncachedJSON([
            "type": "me", "authentication_level": .string(level), "service_id": JSON(serviceID),
            "user_login": JSON(login),
        ])
    }

    private func find(_ request: IncomingRequest) throws(Refusal) -> Answer {
        guard let email = request.query["email"], EmailSyntax.isPlausible(email) else {
            throw .invalid("/email", "Expected an email address")
        }
        guard store.read({ $0.account(email: email) }) != nil else {
            throw Refusal(status: 404, code: "not_found", message: "No account has this email address")
        }
        return Answer(status: 204, headers: [.cacheControl: "no-store"])
    }

    private func userToken(_ request: IncomingRequest) throws(Refusal) -> Answer {
        let partner = try access.partner(request)
        guard let userID = request.query["user_id"] else { throw .invalid("/user_id", "The user is not named") }
        if let accessToken = request.query["access_token"] {
            guard let subject = store.partnerServer.liveAccess(accessToken)?.grant.user?.subject, subject == userID
            else { throw .unauthorized("The access token is not one of this user") }
        }
        return .uncachedJSON(
            ["type": "user_token", "user_token": .string(try token(for: userID, serviceID: partner.serviceID))])
    }

    private func token(for partnerUserID: String, serviceID: String) throws(Refusal) -> String {
        try store.change { state throws(Refusal) -> String in
            guard let link = state.link(serviceID: serviceID, partnerUserID: partnerUserID) else {
                throw Refusal(
                    status: 404, code: "not_found", message: "The user has not connected the service")
            }
            return state.userToken(login: link.login, serviceID: serviceID)
        }
    }

    private func provisionalCode(_ request: IncomingRequest) throws(Refusal) -> Answer {
        let partner = try access.partner(request)
        guard let code = try Access.object(request)["oauth_code"]?.scalarText,
            store.partnerServer.unusedCode(code) != nil
        else { throw .invalid("/oauth_code", "Expected a code of the partner that is not used and not expired") }
        let now = store.now
        let provisional = store.change { state -> String in
            let word = state.identifiers.word("pac")
            state.provisionalCodes[word] = ProvisionalCode(
                oauthCode: code, serviceID: partner.serviceID, createdAt: now)
            return word
        }
        return .uncachedJSON(["provisional_access_code": .string(provisional)], status: 201)
    }

    /// The partner's own server knows its user by the code, used or not, and asks for the token with its service key.
    private func partnerUserToken(_ request: IncomingRequest) throws(Refusal) -> Answer {
        guard let code = request.query["code"] ?? request.form["code"],
            let user = store.partnerServer.issuedCode(code)
        else { throw .unauthorized("The partner does not know this code") }
        return .uncachedJSON([
            "user_token": .string(try token(for: user.subject, serviceID: Fixtures.garden.serviceID))
        ])
    }
}
#endif
