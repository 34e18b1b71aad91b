private import Crypto

/// The secret half of PKCE (RFC 7636, section 4.1). Its 43 to 128 unreserved characters prove who began an
/// authorization.
public struct CodeVerifier: Sendable {
    /// The verifier as it is sent to the token endpoint.
    public let secret: Secret

    /// A new verifier from 256 random bits.
    public init(from random: RandomSource = .system) {
        secret = random.unguessable()
    }

    /// Takes a verifier that was made earlier.
    ///
    /// - Returns: nil when it is not 43 to 128 characters of `A-Z a-z 0-9 - . _ ~`.
    public init?(_ secret: Secret) {
        let text = secret.reveal()
        guard (43...128).contains(text.utf8.count), text.utf8.allSatisfy(PercentEncoding.isUnreserved) else {
            return nil
        }
        self.secret = secret
    }

    /// The public half, always by method `S256` (RFC 7636, section 4.2). It is the Base64URL of the verifier's SHA-256.
    ///
    /// The method `plain` does not exist here (RFC 7636, section 7.2; RFC 9700, section 2.1.1).
    public var challenge: String {
        Base64URL.encode(SHA256.hash(data: Array(secret.reveal().utf8)))
    }
}
