/// The keys with which a server signs, as it publishes them (RFC 7517, section 5).
///
/// A signature that does not name its key (`kid`) is checked with the first 16 keys that fit its algorithm, and rejected with
/// ``Refusal/Check/tooManyKeys`` when it is by none of these and more fit. So the time does not grow with the server's set.
public struct JSONWebKeySet: Sendable {
    private let keys: [JSONWebKey]

    /// The longest document that is read, in bytes.
    public static let maximumLength = 1_048_576
    /// The maximum number of keys that one document may list.
    public static let maximumCount = 128

    /// Reads a key set. A key that is not understood is skipped, and the rest stays usable (RFC 7517, section 5).
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
        let document = try ResponseReader(step: .keys, content: content)
        guard let elements = document["keys"]?.array else {
            throw document.malformed("keys", expected: "a list of keys")
        }
        guard elements.count <= Self.maximumCount else {
            throw .malformed(
                step: .keys, member: "keys", expected: "at most \(Self.maximumCount) keys", found: "\(elements.count)")
        }
        keys = elements.compactMap { $0.object.flatMap(JSONWebKey.init) }
    }

    private init(keys: [JSONWebKey]) {
        self.keys = keys
    }

    /// The keys that may sign for the issuer that a text states: those published for it, for all tenants, or for no issuer in
    /// particular. Without a template all of them.
    ///
    /// A server with many tenants publishes the keys of several issuers in one set, each with a member `issuer`.
    func limited(to text: JSONWebSignature, of template: IssuerTemplate?) -> JSONWebKeySet {
        guard let template, keys.contains(where: { $0.issuer != nil }) else { return self }
        // Not verified yet. A token that lies about its issuer selects keys that it is not signed with.
        let stated = (try? JSONValue(parsing: text.payload))?.object?["iss"]?.string
        return JSONWebKeySet(
            keys: keys.filter { key in
                guard let issuer = key.issuer, !template.isSpelled(issuer) else { return true }
                return stated.map(issuer.isIdentical(to:)) ?? false
            })
    }

    /// The number of usable keys.
    public var count: Int {
        keys.count
    }

    /// The keys that may verify a signature: those of this name, or without a name all, that fit the algorithm
    /// (`oauth-security.md` D5). There is no default key.
    func candidates(keyID: String?, algorithm: SignatureAlgorithm) -> [JSONWebKey] {
        keys.filter { key in isNamed(key, keyID) && key.fits(algorithm) }
    }

    /// Whether the set has a key of this name, or any key when no name is given.
    func contains(keyID: String?) -> Bool {
        keys.contains { isNamed($0, keyID) }
    }

    private func isNamed(_ key: JSONWebKey, _ keyID: String?) -> Bool {
        guard let keyID else { return true }
        return key.keyID?.isIdentical(to: keyID) ?? false
    }
}
