public import OAuth

extension Client {
    /// How sign-ins of a client differ from the defaults, which ``init()`` gives.
    public struct Options: Sendable, Hashable, Codable {
        /// Whether authorization requests are pushed to the server (RFC 9126). They are handed over before the browser
        /// opens.
        public var pushedRequests = Pushing.automatic

        /// Whether tokens are bound to a key (RFC 9449). An account keeps what it was signed in with.
        public var dpop = Binding.automatic

        /// Signature algorithms for proofs, as the API lists them (RFC 9728, section 2).
        ///
        /// The server's own list counts too. Nil leaves it to the server.
        public var dpopSigningAlgorithms: [String]?

        /// Whether authorization requests are signed (RFC 9101). The client's key signs them.
        public var signedRequests = Signing.automatic

        /// How the server sends its answer to an authorization request. With `jwt` it has to be signed (JARM); with `form_post`
        /// and `form_post.jwt` it is posted, which only the routes of a web server take.
        public var responseMode = AuthorizationRequest.ResponseMode.query

        /// What the tokens shall authorize in detail (RFC 9396). ``Account/authorizationDetails`` says what was granted.
        ///
        /// Only sign-ins through a browser ask for it. Those on other devices, by an assertion and as the client itself do not.
        public var authorizationDetails: [AuthorizationDetail] = []

        /// `id_token_signed_response_alg`: the one that the client is registered with. Nil for any that the server publishes.
        public var idTokenAlgorithm: SignatureAlgorithm?

        /// `authorization_signed_response_alg` (JARM, section 3). Nil for any that the server publishes.
        public var responseAlgorithm: SignatureAlgorithm?

        /// `userinfo_signed_response_alg`: that UserInfo is signed, and how. A plain answer is then refused.
        ///
        /// Nil takes a plain answer, and a signed one by any algorithm that the server publishes.
        public var userInfoAlgorithm: SignatureAlgorithm?

        /// Whether the client keeps to the FAPI 2.0 Security Profile. What departs from it is refused before it is used.
        ///
        /// That is: discovered endpoints, a key or a certificate in place of a secret, pushed requests, tokens that are bound
        /// to a key (or to the certificate), `iss` in every response, and the algorithms of
        /// `SignatureAlgorithm/fapi2` (`any-server.md` 8).
        public var fapi2 = false

        /// Whether a refresh token is sent again whose answer was lost.
        ///
        /// A server that has processed the first request either forgives the second, or ends the session, and some revoke all tokens of the user
        /// then. With false a token is sent once: the session waits ten minutes for the process that sent it, and ends if no answer was
        /// stored. An outage during a refresh then ends a session that another attempt would have saved.
        public var retriesLostRefreshes = true

        /// Whether a sign-in in none of the contexts asked for (`acr_values`) is refused.
        ///
        /// `acr_values` is one of the client's parameters. Without this it is voluntary: another context is accepted, and the claim `acr` of
        /// ``AccountStatus/identity`` says which. What an API has demanded is never voluntary.
        ///
        /// Only an ID token says how a user was authenticated. Where `acr_values` or a `max_age` is demanded, a sign-in
        /// without one is refused: ask for the scope `openid`.
        public var requiresAuthenticationContext = false

        /// When authorization requests are signed.
        public enum Signing: String, Sendable, Hashable, Codable, CaseIterable {
            /// Where the server takes signed requests alone.
            case automatic = "auto"
            /// Always; a client without a key is an error.
            case always
            /// Never; a server that takes nothing else is an error.
            case never
        }

        /// When an authorization request is handed to the server before the browser opens.
        public enum Pushing: String, Sendable, Hashable, Codable, CaseIterable {
            /// Whenever the server has an endpoint for it.
            case automatic = "auto"
            /// Always; a server without an endpoint for it is an error.
            case always
            /// Never; a server that demands it is an error.
            case never
        }

        /// When tokens are bound to a key, which proves each request (RFC 9449).
        public enum Binding: String, Sendable, Hashable, Codable, CaseIterable {
            /// Where the service is known to take no other tokens. That is, where its description says so, and where the server
            /// takes no pushed request without a proof.
            case automatic = "auto"
            /// Always; a server that answers with a bearer token is an error.
            case always
            /// Always, and a bearer token is accepted. For servers that bind the refresh token alone (RFC 9449, section 5).
            case refreshOnly = "refresh-only"
            /// Never; a service whose APIs take no other tokens is an error.
            case never
        }

        /// Creates the defaults.
        public init() {}
    }
}

extension Client.Options {
    /// Decodes the options. One that is absent, as in records from before it existed, has its default.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        pushedRequests = try values.decodeIfPresent(Pushing.self, forKey: .pushedRequests) ?? pushedRequests
        dpop = try values.decodeIfPresent(Binding.self, forKey: .dpop) ?? dpop
        dpopSigningAlgorithms = try values.decodeIfPresent([String].self, forKey: .dpopSigningAlgorithms)
        signedRequests = try values.decodeIfPresent(Signing.self, forKey: .signedRequests) ?? signedRequests
        responseMode =
            try values.decodeIfPresent(AuthorizationRequest.ResponseMode.self, forKey: .responseMode) ?? responseMode
        authorizationDetails =
            try values.decodeIfPresent([AuthorizationDetail].self, forKey: .authorizationDetails)
            ?? authorizationDetails
        idTokenAlgorithm = try values.decodeIfPresent(SignatureAlgorithm.self, forKey: .idTokenAlgorithm)
        responseAlgorithm = try values.decodeIfPresent(SignatureAlgorithm.self, forKey: .responseAlgorithm)
        userInfoAlgorithm = try values.decodeIfPresent(SignatureAlgorithm.self, forKey: .userInfoAlgorithm)
        fapi2 = try values.decodeIfPresent(Bool.self, forKey: .fapi2) ?? fapi2
        retriesLostRefreshes =
            try values.decodeIfPresent(Bool.self, forKey: .retriesLostRefreshes) ?? retriesLostRefreshes
        requiresAuthenticationContext =
            try values.decodeIfPresent(Bool.self, forKey: .requiresAuthenticationContext)
            ?? requiresAuthenticationContext
    }
}

extension Client {
    /// Whether an authorization request is handed to a server before the browser opens (RFC 9126, section 5).
    ///
    /// - Throws: ``HandshakeError/configuration(member:problem:)`` when the client's option and the server's demand do not
    ///   fit.
    func pushes(to server: AuthorizationServerMetadata) throws(HandshakeError) -> Bool {
        let isPossible = server.pushedAuthorizationRequestEndpoint != nil
        if options.fapi2 { return true }
        switch options.pushedRequests {
        case .automatic: return isPossible || server.requiresPushedAuthorizationRequests
        case .always: return true
        case .never:
            guard !server.requiresPushedAuthorizationRequests else {
                throw .configuration(
                    member: "par",
                    problem: "The server accepts only pushed authorization requests. Use par = \"auto\".")
            }
            return false
        }
    }
}
