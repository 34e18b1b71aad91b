public import HTTPTypes
public import OAuth

extension Service {
    /// Deviations from the standards, as data. Nothing departs by default.
    ///
    /// Two of them take less than the standard's check demands, so each has to be known of this one service: ``assumesS256``
    /// and ``acceptsLogoutTokensWithoutExpiry``. No other one weakens a check.
    public struct Deviations: Sendable, Hashable {
        /// The text between two scopes in requests.
        public var scopeDelimiter: String
        /// The name of the parameter with the scopes in authorization requests.
        public var scopeParameter = "scope"
        /// Parameters that every authorization request carries.
        public var authorizationParameters: [String: String]
        /// Parameters by which an authorization request asks for a refresh token. The client's own values take
        /// precedence.
        public var offlineParameters: [String: String] = [:]
        /// How Basic credentials are encoded.
        public var credentialEncoding: ClientAuthentication.CredentialEncoding
        /// The audience (`aud`) of the assertions of clients with keys. Source: RFC 7523, section 3.
        public var assertionAudience = ClientAssertion.Audience.issuer
        /// The type (`typ`) in the header of these assertions.
        public var assertionType = "client-authentication+jwt"
        /// The claims of the signed token that the service takes as a client secret. Nil for a fixed secret.
        public var signedSecret: ClientAssertion.SignedSecret?
        /// Whether the APIs take only tokens that are bound to a key (RFC 9449). A resource's metadata says so by
        /// `dpop_bound_access_tokens_required` (RFC 9728, section 2).
        public var requiresDPoP = false
        /// The parameters of a pushed request that the browser's address repeats. The standard has only `client_id` and
        /// `request_uri` there (RFC 9126, section 4).
        public var repeatedWhenPushed: Set<String> = []
        /// Parameters that every token request carries.
        public var tokenParameters: [String: String] = [:]
        /// Whether token requests state the scopes too.
        public var repeatsScope = false
        /// Whether the server takes PKCE by S256 although its metadata do not say so.
        public var assumesS256 = false
        /// Values of `error` that mean that the user declined. `access_denied` always does.
        public var denialCodes: Set<String> = []
        /// The parameter of the redirect that means that the user declined. It counts where there is neither a code nor an
        /// `error`. Nil for none.
        public var denialParameter: String?
        /// Whether sign-in on another device follows a protocol of the service's own. This package implements that of RFC 8628
        /// only.
        public var hasOwnDeviceGrant = false
        /// Whether the service refuses redirects to this machine. A sign-in with a loopback redirect (RFC 8252, section 7.3)
        /// stops before anything is sent.
        public var refusesLoopbackRedirects = false
        /// Whether a revocation ends all tokens of the user and the client.
        ///
        /// Those of a later sign-in too (RFC 7009, section 2.1). A sign-in then leaves the grant that it replaces, unless
        /// that is another user's.
        public var revokesWholeAuthorization = false
        /// How many seconds before an access token expires it can be refreshed. The service refuses earlier refreshes. Nil for
        /// a service that refreshes at any time.
        public var refreshMargin: Double?
        /// Whether `resource` is left out of every request (RFC 8707).
        public var omitsResource = false
        /// The issuers behind addresses that the API lists. Their metadata name another issuer than the address.
        public var pinnedIssuers: [String: String] = [:]
        /// How the token endpoint departs from the standard.
        public var token = TokenDeviations()
        /// How API requests carry the access token.
        public var authorization = AuthorizationScheme.bearer
        /// Whether logout tokens may lack `exp`. They count for 120 seconds then, as drafts before Back-Channel Logout 1.0
        /// had it.
        public var acceptsLogoutTokensWithoutExpiry = false
        /// Header fields of token and API requests, by name. `{client_id}` stands for the client's identifier.
        public var requiredHeaders: [String: String] = [:]
        /// The issuers of the server's tenants, where many share its address. Nil for a server with one issuer. An ID token has to
        /// name the issuer of the tenant that it states (`oauth-security.md` H1).
        public var issuerTemplate: IssuerTemplate?
        /// Values of a top-level `message` that mean "unauthorized", whatever the status. Source: `recurse-center.md`
        /// section 3.
        public var unauthorizedMessages: Set<String>

        public init(
            scopeDelimiter: String = " ", authorizationParameters: [String: String] = [:],
            credentialEncoding: ClientAuthentication.CredentialEncoding = .formEncoded,
            unauthorizedMessages: Set<String> = []
        ) {
            self.scopeDelimiter = scopeDelimiter
            self.authorizationParameters = authorizationParameters
            self.credentialEncoding = credentialEncoding
            self.unauthorizedMessages = unauthorizedMessages
        }
    }

    /// How an API request carries the access token. Never in the address, which is logged (RFC 6750, section 2.3).
    public enum AuthorizationScheme: Sendable, Hashable, Codable {
        /// `Authorization: Bearer TOKEN` (RFC 6750, section 2.1).
        case bearer
        /// `Authorization: SCHEME TOKEN`.
        case scheme(String)
        /// The token alone in a field of this name.
        case field(HTTPField.Name)
    }
}

extension Service.Deviations {
    /// The names of the deviations, as descriptions of services spell them, for diagnostics. Without their values.
    package var names: [String] {
        let standard = Service.Deviations()
        let deviations: [(String, Bool)] = [
            ("scope_delimiter", scopeDelimiter != standard.scopeDelimiter),
            ("scope_parameter", scopeParameter != standard.scopeParameter),
            ("authorize_parameters", !authorizationParameters.isEmpty), ("offline", !offlineParameters.isEmpty),
            ("credential_encoding", credentialEncoding != standard.credentialEncoding),
            ("assertion_audience", assertionAudience != standard.assertionAudience),
            ("assertion_type", assertionType != standard.assertionType), ("signed_client_secret", signedSecret != nil),
            ("requires_dpop", requiresDPoP), ("repeated_when_pushed", !repeatedWhenPushed.isEmpty),
            ("token_parameters", !tokenParameters.isEmpty), ("repeats_scope", repeatsScope),
            ("assumes_s256", assumesS256), ("omits_resource", omitsResource),
            ("denial_codes", !denialCodes.isEmpty), ("denial_parameter", denialParameter != nil),
            ("own_device_grant", hasOwnDeviceGrant), ("loopback_redirects", refusesLoopbackRedirects),
            ("revokes_whole_authorization", revokesWholeAuthorization), ("refresh_margin", refreshMargin != nil),
            ("pinned_issuers", !pinnedIssuers.isEmpty), ("token_answer", token != standard.token),
            ("authorization_scheme", authorization != standard.authorization),
            ("logout_tokens_without_expiry", acceptsLogoutTokensWithoutExpiry),
            ("required_headers", !requiredHeaders.isEmpty), ("issuer_template", issuerTemplate != nil),
            ("unauthorized_messages", !unauthorizedMessages.isEmpty),
        ]
        return deviations.filter(\.1).map(\.0)
    }
}

extension Service.Deviations: Codable {
    /// Decodes the deviations. A member that is absent, as in records from before it existed, means the standard's
    /// behavior.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            scopeDelimiter: try values.decode(String.self, forKey: .scopeDelimiter),
            authorizationParameters: try values.decode([String: String].self, forKey: .authorizationParameters),
            credentialEncoding: try values.decode(
                ClientAuthentication.CredentialEncoding.self, forKey: .credentialEncoding),
            unauthorizedMessages: try values.decode(Set<String>.self, forKey: .unauthorizedMessages))
        scopeParameter = try values.decodeIfPresent(String.self, forKey: .scopeParameter) ?? scopeParameter
        offlineParameters =
            try values.decodeIfPresent([String: String].self, forKey: .offlineParameters) ?? offlineParameters
        assertionAudience =
            try values.decodeIfPresent(ClientAssertion.Audience.self, forKey: .assertionAudience) ?? assertionAudience
        assertionType = try values.decodeIfPresent(String.self, forKey: .assertionType) ?? assertionType
        signedSecret = try values.decodeIfPresent(ClientAssertion.SignedSecret.self, forKey: .signedSecret)
        requiresDPoP = try values.decodeIfPresent(Bool.self, forKey: .requiresDPoP) ?? requiresDPoP
        repeatedWhenPushed =
            try values.decodeIfPresent(Set<String>.self, forKey: .repeatedWhenPushed) ?? repeatedWhenPushed
        tokenParameters = try values.decodeIfPresent([String: String].self, forKey: .tokenParameters) ?? tokenParameters
        issuerTemplate = try values.decodeIfPresent(IssuerTemplate.self, forKey: .issuerTemplate)
        repeatsScope = try values.decodeIfPresent(Bool.self, forKey: .repeatsScope) ?? repeatsScope
        assumesS256 = try values.decodeIfPresent(Bool.self, forKey: .assumesS256) ?? assumesS256
        omitsResource = try values.decodeIfPresent(Bool.self, forKey: .omitsResource) ?? omitsResource
        denialCodes = try values.decodeIfPresent(Set<String>.self, forKey: .denialCodes) ?? denialCodes
        denialParameter = try values.decodeIfPresent(String.self, forKey: .denialParameter)
        refreshMargin = try values.decodeIfPresent(Double.self, forKey: .refreshMargin)
        revokesWholeAuthorization =
            try values.decodeIfPresent(Bool.self, forKey: .revokesWholeAuthorization) ?? revokesWholeAuthorization
        hasOwnDeviceGrant = try values.decodeIfPresent(Bool.self, forKey: .hasOwnDeviceGrant) ?? hasOwnDeviceGrant
        refusesLoopbackRedirects =
            try values.decodeIfPresent(Bool.self, forKey: .refusesLoopbackRedirects) ?? refusesLoopbackRedirects
        pinnedIssuers = try values.decodeIfPresent([String: String].self, forKey: .pinnedIssuers) ?? pinnedIssuers
        acceptsLogoutTokensWithoutExpiry =
            try values.decodeIfPresent(Bool.self, forKey: .acceptsLogoutTokensWithoutExpiry)
            ?? acceptsLogoutTokensWithoutExpiry
        token = try values.decodeIfPresent(TokenDeviations.self, forKey: .token) ?? token
        authorization =
            try values.decodeIfPresent(Service.AuthorizationScheme.self, forKey: .authorization) ?? authorization
        requiredHeaders = try values.decodeIfPresent([String: String].self, forKey: .requiredHeaders) ?? requiredHeaders
    }
}
