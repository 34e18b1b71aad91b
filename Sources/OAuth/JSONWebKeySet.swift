/// The keys with which a server signs, as it publishes them (RFC 7517, section 5).
public struct JSONWebKeySet: Sendable {
    private let keys: [JSONWebKey]

    /// The longest document that is read, in bytes.
    public static let maximumLength = 1_048_576
    /// The most keys that one document may list. A set is searched key by key when a token names none.
    public static let maximumCount = 128

    /// Reads a set. A key that is not understood is skipped, and the rest stays usable (RFC 7517, section 5).
    ///
    /// Skipped are: unknown types and curves, broken points, RSA keys below 2048 bits, and keys published with their
    /// private part.
    ///
    /// - Throws: ``OAuthError/malformed(step:member:expected:found:)`` naming `content` or `keys`.
    public init(parsing content: [UInt8]) throws(OAuthError) {
        guard content.count <= Self.maximumLength else {
            throw .malformed(
                step: .keys, member: "content", expected: "at most \(Self.maximumLength) bytes",
                found: "\(content.count)")
        }
        let document = try AnswerReader(step: .keys, content: content)
        guard let elements = document["keys"]?.array else { throw document.wrong("keys", expected: "a list of keys") }
        guard elements.count <= Self.maximumCount else {
            throw .malformed(
                step: .keys, member: "keys", expected: "at most \(Self.maximumCount) keys", found: "\(elements.count)")
        }
        keys = elements.compactMap { $0.object.flatMap(JSONWebKey.init) }
    }

    /// How many keys were understood.
    public var count: Int {
        keys.count
    }

    /// The keys that may check a signature: a name selects or fails, without a name every fitting key is one
    /// (`oauth-security.md` D5). There is no default key.
    func candidates(keyID: String?, algorithm: SignatureAlgorithm) -> [JSONWebKey] {
        keys.filter { key in (keyID == nil || key.keyID == keyID) && key.fits(algorithm) }
    }
}
