#if Sandbox
import HTTPTypes
import SandboxCore

/// What the standards-compliant server protects: userinfo and a small example API.
struct ProtectedResources: Sendable {
    let server: AuthorizationServer
    let proofs: ProofChecks
    let certificates: CertificateBindings
    let signer: IDTokenSigner

    typealias Access = (grant: SandboxGrant, token: GrantStore.AccessToken)

    var routes: [Route] {
        [
            Route("GET", "POST", path: "/userinfo", note: "OpenID claims; scope openid") { request in
                signedWhereAgreed(answering(request, scope: "openid", userInfo), request)
            },
            Route("GET", path: "/api/whoami", note: "who the token speaks for; any scope") { request in
                answering(request, scope: nil, whoAmI)
            },
            Route(path: "/api/echo", note: "method, content type and body length of the request; any scope") {
                request in
                answering(request, scope: nil) { _ in
                    [
                        "method": .string(request.method), "content_type": JSON(request.mediaType),
                        "body_length": .number(request.body.count),
                    ]
                }
            },
            Route("GET", path: "/api/admin", note: "needs scope api, else insufficient_scope") { request in
                answering(request, scope: "api", whoAmI)
            },
            Route("GET", path: "/api/stepup", note: "needs a strong sign-in (RFC 9470)") { request in
                answering(request, scope: nil, steppedUp)
            },
        ]
    }

    private func answering(
        _ request: IncomingRequest, scope: String?, _ body: (Access) throws(BearerChallenge) -> JSON
    ) -> Answer {
        if let token = request.boundToken { return answering(request, bound: token, scope: scope, body) }
        do throws(BearerChallenge) {
            if request.query["access_token"] != nil { throw .tokenInQuery }
            guard let token = request.bearerToken else { throw .tokenMissing }
            // A token that is bound to a key is no bearer token (RFC 9449 section 7.2).
            // One that is bound to a certificate counts on connections with it alone (RFC 8705 section 3).
            guard proofs.thumbprint(of: token) == nil, certificates.admit(token, on: request),
                let access = server.liveAccess(token),
                access.token.resources.isEmpty || scope == "openid"
            else { throw .invalidToken }
            if let scope, !access.token.scope.contains(scope) { throw .insufficientScope(scope) }
            return .uncachedJSON(try body(access))
        } catch {
            return error.answer
        }
    }

    /// The same for a token that is bound to a key (RFC 9449 section 7).
    private func answering(
        _ request: IncomingRequest, bound token: String, scope: String?,
        _ body: (Access) throws(BearerChallenge) -> JSON
    ) -> Answer {
        guard let access = server.liveAccess(token), let thumbprint = proofs.thumbprint(of: token),
            certificates.admit(token, on: request),
            access.token.resources.isEmpty || scope == "openid"
        else {
            return BearerChallenge.invalidToken.ofBoundToken.answer
        }
        let rule = server.client(access.grant.clientID)?.proofs ?? .optional
        let answer: Answer
        do throws(BearerChallenge) {
            do throws(ProofFailure) {
                try proofs.check(request, with: token, of: thumbprint, rule, at: server)
            } catch {
                throw .proof(error)
            }
            if let scope, !access.token.scope.contains(scope) { throw .insufficientScope(scope) }
            answer = .uncachedJSON(try body(access))
        } catch {
            answer = error.ofBoundToken.answer
        }
        return proofs.withNonce(answer, rule, as: .resource, at: server)
    }

    /// User information as a signed text, for clients that have agreed on that (OpenID Connect Core section 5.3.2).
    private func signedWhereAgreed(_ answer: Answer, _ request: IncomingRequest) -> Answer {
        let token = request.boundToken ?? request.bearerToken
        guard answer.status == 200, let claims = answer.document, let access = server.liveAccess(token),
            server.client(access.grant.clientID)?.getsSignedUserInfo == true,
            let text = signer.sign(
                claims.adding("iss", .string(server.issuer)).adding("aud", .string(access.grant.clientID)),
                as: .userInfo)
        else { return answer }
        var headers = answer.headers
        headers[.contentType] = "application/jwt"
        return Answer(status: 200, headers: headers, body: Array(text.utf8))
    }

    /// OpenID Connect Core section 5.3.2.
    private func userInfo(_ access: Access) throws(BearerChallenge) -> JSON {
        guard let user = access.grant.user else { throw .insufficientScope("openid") }
        var claims: JSON = ["sub": .string(user.subject)]
        if access.token.scope.contains("profile") { claims = claims.adding("name", .string(user.displayName)) }
        if access.token.scope.contains("email") {
            claims = claims.adding("email", .string(user.name)).adding("email_verified", true)
        }
        return claims
    }

    private func whoAmI(_ access: Access) -> JSON {
        [
            "subject": .string(access.grant.user?.subject ?? access.grant.clientID),
            "name": JSON(access.grant.user?.displayName), "client_id": .string(access.grant.clientID),
            "scope": .string(access.token.scope.joined(separator: " ")),
        ]
    }

    private func steppedUp(_ access: Access) throws(BearerChallenge) -> JSON {
        guard access.grant.isStronglyAuthenticated else { throw .insufficientAuthentication }
        return whoAmI(access)
    }
}
#endif
