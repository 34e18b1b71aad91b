internal import Synchronization

/// A signed text in its compact form: read, but not verified before ``verify(with:allowing:)`` (RFC 7515, section 7.1).
struct JSONWebSignature: Sendable {
    private let header: Header
    /// What was signed, decoded.
    let payload: [UInt8]
    /// Header and payload as they were encoded, with the dot between.
    private let signedBytes: ArraySlice<UInt8>
    private let signature: [UInt8]
    private let token: Secret
    private let others: [Secret]

    /// The longest token that is read, in bytes.
    static let maximumLength = 65_536
    /// The maximum number of keys that are tried. Each takes time, and the server chooses how many keys fit.
    static let maximumCandidates = 16

    /// Reads a token.
    ///
    /// The header's `jwk`, `jku`, `x5u` and `x5c` are ignored: a signature cannot bring its own key (RFC 8725, section
    /// 3.10). No extension is implemented, so any `crit` is rejected (RFC 7515, section 4.1.11).
    ///
    /// - Parameters:
    ///   - token: the text.
    ///   - types: the accepted values of `typ` in lower case, without `application/`; a text without `typ` is read too.
    ///   - needsType: whether `typ` has to be there.
    ///   - secrets: what no error may show, besides the token.
    init(
        compact token: Secret, types: [String] = ["jwt"], needsType: Bool = false, hiding secrets: [Secret] = []
    ) throws(OAuthError) {
        let bytes = Array(token.reveal().utf8)
        guard bytes.count <= Self.maximumLength else {
            throw Self.wrong("token", "at most \(Self.maximumLength) bytes", found: "\(bytes.count)")
        }
        let parts = try Self.parts(of: bytes)
        header = try Header.read(parts.header)
        guard let payload = Base64URL.decode(parts.payload) else {
            throw Self.wrong("payload", "Base64URL without padding", found: "something else")
        }
        guard let signature = Base64URL.decode(parts.signature) else {
            throw Self.wrong("signature", "Base64URL without padding", found: "something else")
        }
        if header.type.map({ !Self.isType($0, among: types) }) ?? needsType {
            let expected = types == ["jwt"] ? "JWT" : types.joined(separator: " or ")
            throw Self.wrong(
                "typ", expected, found: Self.redaction(token, secrets)(header.type ?? "nothing", limit: 40))
        }
        if let critical = header.critical {
            let names = critical.array?.compactMap(\.string).joined(separator: ", ") ?? critical.kind
            throw Self.wrong(
                "crit", "absent, because no extension is supported",
                found: Self.redaction(token, secrets)(names, limit: 100))
        }
        self.token = token
        others = secrets
        self.payload = payload
        self.signature = signature
        signedBytes = bytes[..<parts.payload.endIndex]
    }

    /// Hides the token and other secrets in an error. Made only when there is one.
    private static func redaction(_ token: Secret, _ others: [Secret]) -> Redaction { Redaction(others + [token]) }

    /// The three parts of the compact form.
    private static func parts(
        of bytes: [UInt8]
    ) throws(OAuthError) -> (header: ArraySlice<UInt8>, payload: ArraySlice<UInt8>, signature: ArraySlice<UInt8>) {
        let (dot, slice) = (UInt8(ascii: "."), bytes[...])
        let text = slice.span
        let first = text.firstIndex(from: 0) { $0.flags(of: dot) }
        let second = text.firstIndex(from: first + 1) { $0.flags(of: dot) }
        if second < text.count, text.firstIndex(from: second + 1, { $0.flags(of: dot) }) == text.count {
            return (bytes[..<first], bytes[(first + 1)..<second], bytes[(second + 1)...])
        }
        let count = bytes.reduce(1) { $1 == dot ? $0 + 1 : $0 }
        guard count != 5 else {
            throw .refused(
                Refusal(.encrypted, expected: "a signed text of three parts", found: "an encrypted one of five"))
        }
        throw wrong("token", "a signed token of three parts", found: "\(min(count, 6)) parts")
    }

    /// Verifies the signature and returns the signed text.
    ///
    /// - Parameter algorithms: the client's policy. The header's `alg` has to be one of these, and the key has to fit
    ///   it.
    /// - Throws: ``OAuthError/refused(_:)`` with ``Refusal/Check/algorithm``, ``Refusal/Check/unknownKey`` when the set
    ///   has no key of this name, ``Refusal/Check/key`` when none fits, ``Refusal/Check/tooManyKeys`` when none of the first
    ///   16 that fit has signed and there are more, or ``Refusal/Check/signature``.
    func verify(
        with keys: JSONWebKeySet, allowing algorithms: [SignatureAlgorithm]
    ) throws(OAuthError) -> (payload: [UInt8], algorithm: SignatureAlgorithm) {
        guard let algorithm = algorithms.first(where: { $0.rawValue == header.algorithm }) else {
            let allowed = algorithms.map(\.rawValue).joined(separator: ", ")
            throw .refused(
                Refusal(
                    .algorithm, expected: "alg: \(allowed)",
                    found: header.algorithm.map { Self.redaction(token, others)($0, limit: 40) } ?? "nothing"))
        }
        let keyID = header.keyID
        let candidates = keys.candidates(keyID: keyID, algorithm: algorithm)
        guard !candidates.isEmpty else {
            let name = keyID.map { " named “\(Self.redaction(token, others)($0, limit: 100))”" } ?? ""
            throw .refused(
                Refusal(
                    keyID == nil || keys.contains(keyID: keyID) ? .key : .unknownKey,
                    expected: "a key for \(algorithm.rawValue)\(name)", found: "none among the server's \(keys.count)"))
        }
        let tried = candidates.prefix(Self.maximumCandidates)
        let (signature, signedBytes) = (signature, signedBytes)
        guard tried.contains(where: { $0.verifies(signature, of: signedBytes, by: algorithm) }) else {
            guard candidates.count == tried.count else {
                throw .refused(
                    Refusal(
                        .tooManyKeys, expected: "a signature by one of the first \(tried.count) that fit",
                        found: "\(candidates.count) for \(algorithm.rawValue)"))
            }
            throw .refused(
                Refusal(.signature, expected: "a signature by the server's key", found: "one that does not verify"))
        }
        return (payload, algorithm)
    }

    /// Whether a `typ` is one of these media types, with or without `application/` (RFC 7515, section 4.1.9).
    private static func isType(_ type: String, among types: [String]) -> Bool {
        // Of bounded length: lowercasing a text from outside may cost more than its length.
        guard type.utf8.count <= 60 else { return false }
        let word = type.lowercased()
        return types.contains { word == $0 || word == "application/" + $0 }
    }

    fileprivate static func wrong(_ member: String, _ expected: String, found: String) -> OAuthError {
        .refused(Refusal(.tokenForm, expected: "\(member): \(expected)", found: found))
    }
}

extension JSONWebSignature: CustomReflectable {
    var customMirror: Mirror {
        Mirror(self, children: ["algorithm": header.algorithm as Any, "keyID": header.keyID as Any])
    }
}

/// What the header of a signed text states. Nothing of it is verified.
private final class Header: Sendable {
    /// `alg`. The client's policy decides whether it is accepted.
    let algorithm: String?
    /// `kid`.
    let keyID: String?
    /// `typ`.
    let type: String?
    /// `crit`.
    let critical: JSONValue?
    private let encoded: [UInt8]

    /// The header that was read last: all texts of a server have the same one until its key changes.
    private static let last = Mutex<Header?>(nil)

    static func read(_ encoded: ArraySlice<UInt8>) throws(OAuthError) -> Header {
        if let known = last.withLock({ $0 }), known.isEncoded(as: encoded) { return known }
        let header = try Header(encoded)
        last.withLock { $0 = header }
        return header
    }

    private func isEncoded(as other: ArraySlice<UInt8>) -> Bool {
        let encoded = encoded[...]
        return encoded.span.hasBytes(of: other.span)
    }

    private init(_ encoded: ArraySlice<UInt8>) throws(OAuthError) {
        guard let bytes = Base64URL.decode(encoded) else {
            throw JSONWebSignature.wrong("header", "Base64URL without padding", found: "something else")
        }
        guard let members = (try? JSONValue(parsing: bytes))?.object else {
            throw JSONWebSignature.wrong("header", "a JSON object", found: "something else")
        }
        algorithm = try Self.string("alg", in: members)
        keyID = try Self.string("kid", in: members)
        type = try Self.string("typ", in: members)
        critical = members["crit"]
        self.encoded = Array(encoded)
    }

    private static func string(_ name: String, in members: JSONObject) throws(OAuthError) -> String? {
        guard let value = members[name] else { return nil }
        guard let text = value.string else { throw JSONWebSignature.wrong(name, "a string", found: value.kind) }
        return text
    }
}
