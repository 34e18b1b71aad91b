#if Sandbox
import SandboxCore
import Synchronization

extension AuthorizationServer {
    /// What is known of a token (RFC 7662 section 2.2); of one that is not alive only that.
    ///
    /// - Parameters:
    ///   - thumbprint: the key that it is bound to (RFC 9449 section 6.2); nil for a bearer token.
    ///   - certificate: the certificate that it is bound to (RFC 8705 section 3.2); nil for none.
    func introspection(of token: String, boundTo thumbprint: String?, certificate: String?) -> JSON {
        let keys =
            (thumbprint.map { [JSON.Member(name: "jkt", value: .string($0))] } ?? [])
            + (certificate.map { [JSON.Member(name: "x5t#S256", value: .string($0))] } ?? [])
        if let access = liveAccess(token) {
            return description(of: access.grant, scope: access.token.scope)
                .adding("token_type", thumbprint == nil ? "Bearer" : "DPoP")
                .adding("cnf", keys.isEmpty ? nil : .object(keys))
                .adding("exp", .number(Int(access.token.expiresAt)))
                .adding("iat", .number(Int(access.token.issuedAt)))
                .adding("aud", access.token.resources.isEmpty ? nil : JSON(access.token.resources))
        }
        if let refresh = state.withLock({ $0.store.liveRefresh(token) }) {
            return description(of: refresh.grant, scope: refresh.token.scope)
        }
        return ["active": false]
    }

    /// The same as a signed text for a client (RFC 9701 section 5).
    func signedIntrospection(_ introspection: JSON, for client: SandboxClient, by signer: IDTokenSigner) -> String? {
        signer.sign(
            [
                "iss": .string(issuer), "aud": .string(client.id), "iat": .number(Int(clock.now)),
                "token_introspection": introspection,
            ], as: .introspection, type: "token-introspection+jwt")
    }

    private func description(of grant: SandboxGrant, scope: [String]) -> JSON {
        let known: JSON = [
            "active": true, "iss": .string(issuer), "client_id": .string(grant.clientID),
            "sub": .string(grant.user?.subject ?? grant.clientID), "scope": .string(scope.joined(separator: " ")),
        ]
        return known.adding("username", grant.user.map { .string($0.name) })
    }
}
#endif
