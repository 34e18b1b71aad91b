#if Sandbox
import SandboxCore

/// The clients and users of the standard server.
enum Fixtures {
    private static let userGrants = ["authorization_code", "refresh_token", DeviceGrants.grantType]

    static let clients = [
        SandboxClient(
            id: "sandbox-public", secret: nil, kind: .public,
            redirectURIs: SharedRedirects.all + SharedRedirects.server("standard"), grantTypes: userGrants,
            note: "a native app: PKCE, no secret"),
        SandboxClient(
            id: "sandbox-confidential", secret: "sandbox-confidential-secret", kind: .confidential,
            redirectURIs: SharedRedirects.all,
            grantTypes: userGrants + ["client_credentials", TokenExchanges.grantType, BackchannelRequests.grantType],
            note: "a server: Basic or secret in the body, may introspect"),
        SandboxClient(
            id: "Größe: a+b & c/100%", secret: "pâss:wörd +&=/100% 鍵", kind: .confidential,
            redirectURIs: SharedRedirects.all, grantTypes: userGrants + ["client_credentials"],
            note: "id and secret need form-encoding before Base64 (RFC 6749 section 2.3.1)"),
        SandboxClient(
            id: "sandbox-service", secret: "sandbox-service-secret", kind: .confidential, redirectURIs: [],
            grantTypes: ["client_credentials"], note: "a machine without users"),
        SandboxClient(
            id: AssertingClients.keyed, secret: nil, privateKey: AssertingClients.privateKey, kind: .confidential,
            redirectURIs: SharedRedirects.all,
            grantTypes: userGrants + ["client_credentials", AssertionGrants.grantType, BackchannelRequests.grantType],
            note: "a server with a key: private_key_jwt by ES256, and assertions by the same key (RFC 7523)"),
        SandboxClient(
            id: AssertingClients.keyedForTokens, secret: nil, privateKey: AssertingClients.privateKey,
            kind: .confidential,
            redirectURIs: SharedRedirects.all, grantTypes: userGrants,
            note: "the same key, as at services whose assertions are for the token endpoint"),
        SandboxClient(
            id: AssertingClients.keyedForEndpoints, secret: nil, privateKey: AssertingClients.privateKey,
            kind: .confidential,
            redirectURIs: SharedRedirects.all, grantTypes: userGrants,
            note: "the same key, as at services whose assertions are for the endpoint that is called"),
        SandboxClient(
            id: AssertingClients.keyedForEither, secret: nil, privateKey: AssertingClients.privateKey,
            kind: .confidential,
            redirectURIs: SharedRedirects.all, grantTypes: userGrants,
            note: "the same key, as at services whose assertions are for the issuer or an endpoint"),
        SandboxClient(
            id: AssertingClients.signing, secret: nil, privateKey: AssertingClients.privateKey, kind: .confidential,
            signsRequests: true, getsSignedUserInfo: true, redirectURIs: SharedRedirects.all, grantTypes: userGrants,
            note: "a server with a key that has to sign its requests (RFC 9101) and gets signed user information"),
        SandboxClient(
            id: AssertingClients.fapi, secret: nil, privateKey: AssertingClients.privateKey, kind: .confidential,
            pushesOnly: true, proofs: .withNonce, redirectURIs: SharedRedirects.all, grantTypes: userGrants,
            note: "a server with a key by the FAPI 2.0 Security Profile: pushed requests, proofs, no rotation"),
        SandboxClient(
            id: AssertingClients.hashed, secret: "sandbox-hmac-secret: 32 bytes or more, as HS256 needs",
            kind: .confidential, redirectURIs: SharedRedirects.all, grantTypes: userGrants + ["client_credentials"],
            note: "a server whose secret signs: client_secret_jwt by HS256"),
        SandboxClient(
            id: CertifiedClients.issued, secret: nil, certificate: CertifiedClients.issuedCertificate.pem,
            certificateRule: .issued(to: CertifiedClients.issued), kind: .confidential,
            redirectURIs: SharedRedirects.all, grantTypes: userGrants + ["client_credentials"],
            note: "a server whose certificate the sandbox's authority has issued: tls_client_auth (RFC 8705)"),
        SandboxClient(
            id: CertifiedClients.selfSigned, secret: nil, certificate: CertifiedClients.selfSignedCertificate.pem,
            certificateRule: .registered(CertifiedClients.selfSignedCertificate.thumbprint), kind: .confidential,
            redirectURIs: SharedRedirects.all, grantTypes: userGrants + ["client_credentials"],
            note: "a server with a certificate of its own making: self_signed_tls_client_auth"),
        SandboxClient(
            id: ServiceAccounts.email, secret: nil, kind: .confidential, redirectURIs: [],
            grantTypes: [AssertionGrants.grantType],
            note: "a service account: assertions by the key of its key file (RFC 7523), GET /_sandbox/service-account"),
        SandboxClient(
            id: "sandbox-pushing", secret: nil, kind: .public, pushesOnly: true, redirectURIs: SharedRedirects.all,
            grantTypes: userGrants, note: "a native app that has to push its requests (RFC 9126)"),
        SandboxClient(
            id: "sandbox-dpop", secret: nil, kind: .public, proofs: .required, redirectURIs: SharedRedirects.all,
            grantTypes: userGrants, note: "a native app whose tokens are bound to a key (RFC 9449)"),
        SandboxClient(
            id: "sandbox-dpop-nonce", secret: nil, kind: .public, proofs: .withNonce, redirectURIs: SharedRedirects.all,
            grantTypes: userGrants, note: "the same, and proofs need the server's nonce"),
        SandboxClient(
            id: "sandbox-dpop-changing", secret: nil, kind: .public, proofs: .withChangingNonces,
            redirectURIs: SharedRedirects.all, grantTypes: userGrants,
            note: "the same, and each answer changes the nonce"),
        SandboxClient(
            id: "sandbox-dpop-counted", secret: nil, kind: .public, proofs: .withCountedNonces,
            redirectURIs: SharedRedirects.all, grantTypes: userGrants,
            note: "the same, and every third answer changes the nonce"),
        SandboxClient(
            id: "sandbox-dpop-expiring", secret: nil, kind: .public, proofs: .withExpiringNonces,
            redirectURIs: SharedRedirects.all, grantTypes: userGrants,
            note: "the same, and a nonce ends after a minute of the sandbox's clock"),
        SandboxClient(
            id: "sandbox-dpop-secret", secret: "sandbox-dpop-secret-secret", kind: .confidential, proofs: .withNonce,
            redirectURIs: SharedRedirects.all, grantTypes: userGrants + ["client_credentials"],
            note: "a server with a secret whose proofs need the server's nonce"),
        SandboxClient(
            id: "sandbox-device", secret: nil, kind: .public, redirectURIs: [],
            grantTypes: ["refresh_token", DeviceGrants.grantType],
            note: "a terminal or television: the user approves on another device (RFC 8628)"),
        SandboxClient(
            id: DocumentedClient.id, secret: nil, kind: .public, redirectURIs: DocumentedClient.redirects,
            grantTypes: ["authorization_code", "refresh_token"],
            note: "a native app that is named by the address of its document"),
    ]

    static let users = SandboxUser.plain(passwords: "standards-matter", "must-should-may")

    /// The dialect of the APIs, which have neither clients nor users of their own.
    static let resourceDialect = Dialect(
        name: .resources, title: "APIs of Standard OAuth", clients: [], users: [],
        scopes: Dialect.ScopeRules(known: [], separators: [" "], standard: []), codeLifetime: 60,
        accessTokenLifetime: 3600, tokenForm: .base64URL,
        wording: Dialect.ConsentWording(allow: "Allow", refuse: "Do not allow", scopes: [:]), refresh: { _ in .kept })

    /// The dialect of the endpoints for clients with a certificate, which are the standard server's.
    static let certificateDialect = Dialect(
        name: .mutualTLS, title: "Standard OAuth by mutual TLS", clients: [], users: [],
        scopes: Dialect.ScopeRules(known: [], separators: [" "], standard: []), codeLifetime: 60,
        accessTokenLifetime: 3600, tokenForm: .base64URL,
        wording: Dialect.ConsentWording(allow: "Allow", refuse: "Do not allow", scopes: [:]), refresh: { _ in .kept })

    static func dialect(accessTokenLifetime: Int) -> Dialect {
        Dialect(
            name: .standard, title: "Standard OAuth", clients: clients, users: users,
            scopes: Dialect.ScopeRules(
                known: ["openid", "profile", "email", "offline_access", "api"], separators: [" "], standard: ["api"]),
            codeLifetime: 60, accessTokenLifetime: accessTokenLifetime, tokenForm: .base64URL,
            wording: Dialect.ConsentWording(
                allow: "Allow", refuse: "Do not allow",
                scopes: [
                    "openid": "know who you are", "profile": "see your name", "email": "see your e-mail address",
                    "offline_access": "stay connected while you are away", "api": "use the example API for you",
                ]),
            demandsProofKeyOfEveryone: true, refusesDoubledParameters: true, namesIssuer: true,
            // FAPI 2.0 Security Profile section 5.3.2.1: tokens that are bound to their client are not rotated.
            refresh: { $0.id == AssertingClients.fapi ? .kept : .rotatedWithReuseDetection })
    }
}
#endif
