#if Sandbox
import SandboxCore
import Synchronization

/// The metadata document of the standards-compliant server (RFC 8414 section 2, OpenID Connect Discovery section 3).
enum ServerMetadata {
    private static let methods = [
        "client_secret_basic", "client_secret_post", "private_key_jwt", "client_secret_jwt",
    ]

    static func json(_ server: AuthorizationServer) -> JSON {
        let (base, dialect) = (server.origin, server.dialect)
        let certificateOrigin = server.state.withLock { $0.certificateOrigin }
        let methods = methods + (certificateOrigin == nil ? [] : ["tls_client_auth", "self_signed_tls_client_auth"])
        let aliases = certificateOrigin.map { origin in
            JSON.object(
                CertificateStandIn.aliases.map { JSON.Member(name: $0.name, value: .string(origin + $0.path)) })
        }
        let endpoints: JSON = [
            "issuer": .string(server.issuer), "authorization_endpoint": .string(base + "/authorize"),
            "token_endpoint": .string(base + "/token"), "jwks_uri": .string(base + "/jwks"),
            "userinfo_endpoint": .string(base + "/userinfo"),
            "revocation_endpoint": .string(base + "/revoke"),
            "introspection_endpoint": .string(base + "/introspect"),
            "pushed_authorization_request_endpoint": .string(base + "/par"),
            "registration_endpoint": .string(base + "/register"),
            "device_authorization_endpoint": .string(base + "/device_authorization"),
            "backchannel_authentication_endpoint": .string(base + "/backchannel_authentication"),
            "end_session_endpoint": .string(base + "/end_session"),
        ]
        return
            endpoints
            .adding("mtls_endpoint_aliases", aliases)
            .adding("tls_client_certificate_bound_access_tokens", certificateOrigin.map { _ in JSON.bool(true) })
            .adding("client_id_metadata_document_supported", true)
            .adding("scopes_supported", JSON(dialect.scopes.known))
            .adding("response_types_supported", ["code"])
            .adding("response_modes_supported", ["query", "jwt", "query.jwt", "form_post", "form_post.jwt"])
            .adding("authorization_signing_alg_values_supported", ["ES256"])
            .adding("request_parameter_supported", true)
            .adding("request_uri_parameter_supported", false)
            .adding("request_object_signing_alg_values_supported", ["ES256"])
            .adding("userinfo_signing_alg_values_supported", ["ES256"])
            .adding("authorization_details_types_supported", ["payment_initiation", "account_information"])
            .adding(
                "grant_types_supported",
                JSON(
                    ["authorization_code", "refresh_token", "client_credentials", DeviceGrants.grantType]
                        + [TokenExchanges.grantType, AssertionGrants.grantType, BackchannelRequests.grantType])
            )
            .adding("backchannel_token_delivery_modes_supported", ["poll", "ping"])
            .adding("backchannel_authentication_request_signing_alg_values_supported", ["ES256"])
            .adding("backchannel_user_code_parameter_supported", false)
            .adding("backchannel_logout_supported", true)
            .adding("backchannel_logout_session_supported", true)
            .adding("frontchannel_logout_supported", true)
            .adding("frontchannel_logout_session_supported", true)
            .adding("introspection_signing_alg_values_supported", ["ES256"])
            .adding("token_endpoint_auth_methods_supported", JSON(["none"] + methods))
            .adding("token_endpoint_auth_signing_alg_values_supported", ["ES256", "HS256"])
            .adding("revocation_endpoint_auth_methods_supported", JSON(["none"] + methods))
            .adding("revocation_endpoint_auth_signing_alg_values_supported", ["ES256", "HS256"])
            .adding("introspection_endpoint_auth_methods_supported", JSON(methods))
            .adding("introspection_endpoint_auth_signing_alg_values_supported", ["ES256", "HS256"])
            .adding("code_challenge_methods_supported", ["S256"])
            .adding("dpop_signing_alg_values_supported", JSON(ProofVerifier.algorithms))
            .adding("authorization_response_iss_parameter_supported", true)
            .adding("subject_types_supported", ["public"])
            .adding("id_token_signing_alg_values_supported", ["ES256"])
            .adding("acr_values_supported", [.string(PendingAuthorization.strongContextClass)])
            .adding("prompt_values_supported", ["none", "login", "consent"])
            .adding(
                "claims_supported",
                ["iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "at_hash", "acr", "name", "email"])
    }
}
#endif
