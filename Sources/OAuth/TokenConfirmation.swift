/// What a token is bound to. Source: RFC 7800, section 3.1.
///
/// A token that is bound counts only with a proof. An API that accepts it without one accepts it from a thief too.
public struct TokenConfirmation: Sendable, Hashable {
    /// `jkt`: the thumbprint of the key that signs the proofs (RFC 9449, section 6.2). Nil where there is none.
    public let keyThumbprint: String?
    /// `x5t#S256`: the thumbprint of the certificate (RFC 8705, section 3.2). Nil where there is none.
    public let certificateThumbprint: String?
    /// The other members of `cnf`, sorted. They bind the token to what this package cannot compare.
    public let otherMembers: [String]

    /// Whether a request comes from the holder that the token is bound to.
    ///
    /// Both bindings have to hold where there are two, and none holds where there are ``otherMembers`` or nothing at all.
    ///
    /// - Parameters:
    ///   - key: the thumbprint of the key of the request's verified DPoP proof; nil for a request without one.
    ///   - certificate: the thumbprint of the certificate of the request's connection; nil for a connection without one.
    public func holds(key: String?, certificate: String?) -> Bool {
        guard otherMembers.isEmpty, keyThumbprint != nil || certificateThumbprint != nil else { return false }
        return (keyThumbprint.map { key?.isIdentical(to: $0) ?? false } ?? true)
            && (certificateThumbprint.map { certificate?.isIdentical(to: $0) ?? false } ?? true)
    }

    /// Reads `cnf`; nil where the server states none.
    ///
    /// - Throws: ``OAuthError/malformed(step:member:expected:found:)`` for one that is no object, and for a thumbprint that is
    ///   none: the token would otherwise count without a proof.
    init?(_ members: ResponseReader) throws(OAuthError) {
        guard let value = members["cnf"] else { return nil }
        guard let object = value.object else { throw members.malformed("cnf", expected: "an object") }
        func thumbprint(_ name: String) throws(OAuthError) -> String? {
            guard let value = object[name] else { return nil }
            guard let text = value.string, Self.isThumbprint(text) else {
                throw members.malformed(
                    "cnf", expected: "a SHA-256 thumbprint as \(name)", found: value.string ?? value.kind)
            }
            return text
        }
        keyThumbprint = try thumbprint("jkt")
        certificateThumbprint = try thumbprint("x5t#S256")
        otherMembers = object.keys.filter { $0 != "jkt" && $0 != "x5t#S256" }.sorted()
    }

    /// Whether a text may be the Base64URL of 32 bytes. Not decoded: RFC 8705's own example has bits beyond the last byte.
    private static func isThumbprint(_ text: String) -> Bool {
        text.utf8.count == 43
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
                default: false
                }
            }
    }
}
