import OAuth

/// How the tokens of an account are bound to a key (RFC 9449). Sealed in one record with them.
struct TokenBinding: Sendable {
    /// The key. Nil when it was lost: its record could be read, and the key in it could not.
    let key: DPoPKey?
    /// Whether the access token is bound. Otherwise the refresh token alone may be (RFC 9449, section 5).
    var bindsAccessToken: Bool

    /// The binding of the tokens that a request brought whose proof was signed with a key; nil for a request without one.
    init?(_ key: DPoPKey?, _ response: TokenResponse) {
        guard let key else { return nil }
        self.key = key
        bindsAccessToken = response.isBound
    }

    init(key: DPoPKey?, bindsAccessToken: Bool) {
        self.key = key
        self.bindsAccessToken = bindsAccessToken
    }
}

/// A key as text, for the inside of a sealed record and nowhere else.
struct StoredKey: Codable, Sendable {
    let source: String
    let algorithm: String

    init(_ key: DPoPKey) {
        source = key.source.reveal()
        algorithm = key.algorithm.rawValue
    }

    /// The key again; nil when it is damaged, which counts as lost.
    var key: DPoPKey? {
        guard let algorithm = SignatureAlgorithm(rawValue: algorithm) else { return nil }
        return try? DPoPKey(source: Secret(source), algorithm: algorithm)
    }
}

extension ServerError {
    /// Whether an authorization server takes no request without a proof (RFC 9449, sections 5 and 8).
    package var demandsProof: Bool { code == DPoPNonce.code || code == "invalid_dpop_proof" }
}

extension Client {
    /// The thumbprint of the certificate that a server binds the client's tokens to; nil where it binds them to none.
    ///
    /// Source: RFC 8705, sections 3 and 4. A server that does not say that it binds tokens is not taken to do so.
    ///
    /// - Parameter isProven: whether the tokens are asked for with a proof. They are then bound to its key instead.
    func thumbprint(boundAt server: AuthorizationServerMetadata, isProven: Bool) -> String? {
        server.bindsTokensToCertificates && !isProven ? certificate?.thumbprint : nil
    }

    /// The key of a new sign-in at a server; nil when its tokens are not to be bound.
    ///
    /// - Parameter isDemanded: whether the server has said that it takes no request without a proof.
    /// - Throws: ``HandshakeError/exchange(_:)`` with `OAuthError/configuration(member:problem:)` when the server takes no
    ///   algorithm that is known here; ``HandshakeError/configuration(member:problem:)`` when the service demands bound tokens,
    ///   and the client forbids them.
    func newDPoPKey(
        at server: AuthorizationServerMetadata, isDemanded: Bool = false
    ) throws(HandshakeError) -> DPoPKey? {
        // Of the two ways to bind tokens the profile needs one.
        let isRequired = isDemanded || service.deviations.requiresDPoP || (options.fapi2 && certificate == nil)
        switch options.dpop {
        case .never:
            guard !isRequired else {
                throw .configuration(
                    member: "dpop",
                    problem: "The service \(service.displayName) takes only tokens bound to a key. Use dpop = \"auto\"."
                )
            }
            return nil
        case .automatic where !isRequired: return nil
        case .automatic, .always, .refreshOnly:
            do {
                let profile = SignatureAlgorithm.fapi2.map(\.rawValue)
                let listed = try proofAlgorithms(at: server)
                return try DPoPKey(
                    among: options.fapi2 ? listed.map { $0.filter(profile.contains) } ?? profile : listed)
            } catch {
                throw .exchange(error)
            }
        }
    }

    /// The algorithms of proofs that server and API both take; nil when neither states them.
    private func proofAlgorithms(at server: AuthorizationServerMetadata) throws(OAuthError) -> [String]? {
        guard let api = options.dpopSigningAlgorithms else { return server.dpopSigningAlgorithms }
        guard let own = server.dpopSigningAlgorithms else { return api }
        let taken = Set(api)
        let both = own.filter(taken.contains)
        guard !both.isEmpty else {
            throw .configuration(
                member: "dpop",
                problem: "one key has to serve the server, which takes proofs by "
                    + "\(quoted(own.joined(separator: ", "), limit: 200)), and the API, which takes proofs by "
                    + "\(quoted(api.joined(separator: ", "), limit: 200)); no algorithm is in both lists")
        }
        return both
    }

    /// Which access tokens this client takes for a request whose proof was signed with a key.
    ///
    /// - Parameter binding: how the account was bound at its sign-in, which later options do not change.
    func accepting(_ key: DPoPKey?, keeping binding: TokenBinding? = nil) -> TokenRequest.AccessTokenKinds {
        guard key != nil else { return .bearer }
        return options.dpop == .refreshOnly || binding?.bindsAccessToken == false ? .either : .bound
    }
}
