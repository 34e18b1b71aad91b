extension KeycloakRealm {
    private static let algorithms =
        #"["PS384","RS384","EdDSA","ES384","HS256","HS512","ES256","RS256","HS384","ES512","PS256","PS512","RS512"]"#
    private static let methods =
        #"["private_key_jwt","client_secret_basic","client_secret_post","tls_client_auth","client_secret_jwt"]"#
    private static let encryption =
        #"["A256GCM","A192GCM","A128GCM","A128CBC-HS256","A192CBC-HS384","A256CBC-HS512"]"#

    static let metadata = """
        {"issuer":"\(issuer)","authorization_endpoint":"https://keycloak.example\(endpoints)/auth",\
        "token_endpoint":"https://keycloak.example\(endpoints)/token",\
        "introspection_endpoint":"https://keycloak.example\(endpoints)/token/introspect",\
        "userinfo_endpoint":"https://keycloak.example\(endpoints)/userinfo",\
        "end_session_endpoint":"https://keycloak.example\(endpoints)/logout",\
        "frontchannel_logout_session_supported":true,"frontchannel_logout_supported":true,\
        "jwks_uri":"https://keycloak.example\(endpoints)/certs",\
        "check_session_iframe":"https://keycloak.example\(endpoints)/login-status-iframe.html",\
        "grant_types_supported":["authorization_code","implicit","refresh_token","password","client_credentials",\
        "urn:openid:params:grant-type:ciba","urn:ietf:params:oauth:grant-type:device_code"],\
        "acr_values_supported":["0","1"],"response_types_supported":["code","none","id_token","token",\
        "id_token token","code id_token","code token","code id_token token"],\
        "subject_types_supported":["public","pairwise"],"id_token_signing_alg_values_supported":\(algorithms),\
        "id_token_encryption_alg_values_supported":["RSA-OAEP","RSA-OAEP-256","RSA1_5"],\
        "id_token_encryption_enc_values_supported":\(encryption),\
        "userinfo_signing_alg_values_supported":\(algorithms),\
        "request_object_signing_alg_values_supported":\(algorithms),\
        "response_modes_supported":["query","fragment","form_post","query.jwt","fragment.jwt","form_post.jwt","jwt"],\
        "registration_endpoint":"\(issuer)/clients-registrations/openid-connect",\
        "token_endpoint_auth_methods_supported":\(methods),\
        "token_endpoint_auth_signing_alg_values_supported":\(algorithms),\
        "introspection_endpoint_auth_methods_supported":\(methods),\
        "introspection_endpoint_auth_signing_alg_values_supported":\(algorithms),\
        "authorization_signing_alg_values_supported":\(algorithms),\
        "claims_supported":["aud","sub","iss","auth_time","name","given_name","family_name","preferred_username",\
        "email","acr"],"claim_types_supported":["normal"],"claims_parameter_supported":true,\
        "scopes_supported":["openid","offline_access","web-origins","profile","email","roles","acr","microprofile-jwt",\
        "address","phone"],"request_parameter_supported":true,"request_uri_parameter_supported":true,\
        "require_request_uri_registration":true,"code_challenge_methods_supported":["plain","S256"],\
        "tls_client_certificate_bound_access_tokens":true,"dpop_signing_alg_values_supported":["PS384","ES384",\
        "RS384","ES256","RS256","ES512","PS256","PS512","RS512"],\
        "revocation_endpoint":"https://keycloak.example\(endpoints)/revoke",\
        "revocation_endpoint_auth_methods_supported":\(methods),\
        "revocation_endpoint_auth_signing_alg_values_supported":\(algorithms),\
        "backchannel_logout_supported":true,"backchannel_logout_session_supported":true,\
        "device_authorization_endpoint":"https://keycloak.example\(endpoints)/auth/device",\
        "backchannel_token_delivery_modes_supported":["poll","ping"],\
        "backchannel_authentication_endpoint":"https://keycloak.example\(endpoints)/ext/ciba/auth",\
        "backchannel_authentication_request_signing_alg_values_supported":["PS384","RS384","ES384","ES256","RS256"],\
        "require_pushed_authorization_requests":false,\
        "pushed_authorization_request_endpoint":"https://keycloak.example\(endpoints)/ext/par/request",\
        "mtls_endpoint_aliases":{"token_endpoint":"https://keycloak.example\(endpoints)/token",\
        "revocation_endpoint":"https://keycloak.example\(endpoints)/revoke",\
        "introspection_endpoint":"https://keycloak.example\(endpoints)/token/introspect",\
        "device_authorization_endpoint":"https://keycloak.example\(endpoints)/auth/device",\
        "registration_endpoint":"\(issuer)/clients-registrations/openid-connect",\
        "userinfo_endpoint":"https://keycloak.example\(endpoints)/userinfo",\
        "pushed_authorization_request_endpoint":"https://keycloak.example\(endpoints)/ext/par/request",\
        "backchannel_authentication_endpoint":"https://keycloak.example\(endpoints)/ext/ciba/auth"},\
        "authorization_response_iss_parameter_supported":true}
        """

    /// The key that signs, behind one that encrypts.
    static func keys(_ modulus: String) -> String {
        """
        {"keys":[{"kid":"rX0yXPkLUwM1xM3PrqKPCKiDhPnsn8c6EKKKwFDo4qs","kty":"RSA","alg":"RSA-OAEP","use":"enc",\
        "x5c":["MIIClzCCAX8CBgGQ"],"x5t":"7rXZ0kMSqd0jTtVBqb8K6Pq1Qc0","x5t#S256":"lC0mGg1AG8k1IYc0",\
        "n":"\(modulus)","e":"AQAB"},{"kid":"\(kid)","kty":"RSA","alg":"RS256","use":"sig",\
        "x5c":["MIIClzCCAX8CBgGQ"],"x5t":"2XgP0a1lEwvVZ7wX3k0l2rV5tYc","x5t#S256":"mC0mGg1AG8k1IYc0",\
        "n":"\(modulus)","e":"AQAB"}]}
        """
    }

    static let userInfo = """
        {"sub":"\(subject)","email_verified":true,"name":"Ada Example","preferred_username":"ada",\
        "given_name":"Ada","family_name":"Example","email":"ada@example.com"}
        """

    static let device = """
        {"device_code":"iLLtiTqmLBvmVu6XNcTFOaxzb0aZ9qTQO8q3Zq7uWJk","user_code":"TAYM-OMEK",\
        "verification_uri":"\(issuer)/device","verification_uri_complete":"\(issuer)/device?user_code=TAYM-OMEK",\
        "expires_in":600,"interval":5}
        """

    static let registration = """
        {"redirect_uris":["https://app.example/callback"],"token_endpoint_auth_method":"client_secret_basic",\
        "grant_types":["authorization_code","refresh_token"],"response_types":["code","none"],\
        "client_id":"f3bd21a4-0d28-46c2-a2e3-d6a7a6d0a1d5","client_secret":"made-up-secret-of-a-client",\
        "client_name":"My App","scope":"address phone offline_access microprofile-jwt","subject_type":"public",\
        "request_uris":[],"tls_client_certificate_bound_access_tokens":false,"dpop_bound_access_tokens":false,\
        "client_id_issued_at":\(now),"client_secret_expires_at":0,\
        "registration_client_uri":"\(issuer)/clients-registrations/openid-connect/f3bd21a4-0d28-46c2-a2e3-d6a7a6d0a1d5",\
        "registration_access_token":"made-up-management-token","backchannel_logout_session_required":false,\
        "require_pushed_authorization_requests":false,"frontchannel_logout_session_required":false}
        """

    static let untrusted =
        #"{"error":"insufficient_scope","error_description":"Policy 'Trusted Hosts' rejected request to client-registration service. Details: Host not trusted."}"#

    static let introspection = """
        {"exp":\(now + 300),"iat":\(now),"auth_time":\(now - 10),"jti":"onrtac:1","iss":"\(issuer)","aud":"account",\
        "sub":"\(subject)","typ":"Bearer","azp":"app","sid":"\(session)","acr":"1","allowed-origins":["https://app.example"],\
        "realm_access":{"roles":["default-roles-demo","offline_access","uma_authorization"]},\
        "resource_access":{"account":{"roles":["manage-account","view-profile"]}},"scope":"openid profile email",\
        "email_verified":true,"name":"Ada Example","preferred_username":"ada","email":"ada@example.com",\
        "client_id":"app","username":"ada","token_type":"Bearer","active":true}
        """
}
