internal import Crypto
internal import CryptoExtras
public import HTTPTypes

/// The key pair that a server binds a client's tokens to (RFC 9449).
///
/// A token that is bound to a key is of no use to who has the token alone: each request carries a proof, a text for this
/// one request that the private key has signed. The key never prints.
public struct DPoPKey: Sendable {
    /// The algorithm of the proofs.
    public let algorithm: SignatureAlgorithm
    /// The thumbprint of the public half (RFC 7638, section 3). It names the key in `dpop_jkt` and `jkt`.
    public let thumbprint: String
    private let key: SigningKey
    /// The header of every proof, encoded, and the dot behind it.
    private let header: [UInt8]

    /// The algorithms of new keys, the best first.
    static let algorithms: [SignatureAlgorithm] = [.es256, .edDSA, .ed25519, .es384, .es512, .ps256, .rs256]

    /// Makes a new key: on P-256, unless the server excludes it.
    ///
    /// - Parameter supported: `dpop_signing_alg_values_supported`; nil when the server does not state them.
    /// - Throws: ``OAuthError/configuration(member:problem:)`` when the server takes no algorithm that is known here.
    public init(among supported: [String]? = nil) throws(OAuthError) {
        guard let algorithm = Self.algorithms.first(where: { supported?.contains($0.rawValue) ?? true }) else {
            throw .configuration(
                member: "dpop",
                problem: "the server takes only proofs that are signed with "
                    + "\(quoted((supported ?? []).joined(separator: ", "), limit: 200)), and none of these is supported"
            )
        }
        try self.init(source: Self.newKey(for: algorithm), algorithm: algorithm)
    }

    /// Reads a key that was stored.
    ///
    /// - Throws: ``OAuthError/configuration(member:problem:)`` when it is damaged.
    package init(source: Secret, algorithm: SignatureAlgorithm) throws(OAuthError) {
        let key = try SigningKey(parsing: Array(source.reveal().utf8))
        guard key.algorithms.contains(algorithm) else { throw SigningKey.wrong("it signs with another algorithm") }
        self.key = key
        self.algorithm = algorithm
        thumbprint = key.thumbprint
        // RFC 9449, section 4.2: the required public members and no others; no `kid`.
        let header: JSONObject = [
            "typ": .string("dpop+jwt"), "alg": .string(algorithm.rawValue), "jwk": .object(key.publicMembers),
        ]
        self.header = Array((Base64URL.encode(JSONValue.object(header).json.utf8) + ".").utf8)
    }

    /// The key as text, to be sealed.
    package var source: Secret { key.source }

    private static func newKey(for algorithm: SignatureAlgorithm) throws(OAuthError) -> Secret {
        switch algorithm {
        case .es256: Secret(P256.Signing.PrivateKey().pemRepresentation)
        case .es384: Secret(P384.Signing.PrivateKey().pemRepresentation)
        case .es512: Secret(P521.Signing.PrivateKey().pemRepresentation)
        case .edDSA, .ed25519: edwardsKey()
        case .rs256, .rs384, .rs512, .ps256, .ps384, .ps512: try rsaKey()
        }
    }

    /// RFC 8037, section 2.
    private static func edwardsKey() -> Secret {
        let key = Curve25519.Signing.PrivateKey()
        let members: JSONObject = [
            "kty": .string("OKP"), "crv": .string("Ed25519"),
            "x": .string(Base64URL.encode(key.publicKey.rawRepresentation)),
            "d": .string(Base64URL.encode(key.rawRepresentation)),
        ]
        return Secret(JSONValue.object(members).json)
    }

    private static func rsaKey() throws(OAuthError) -> Secret {
        guard let key = try? _RSA.Signing.PrivateKey(keySize: .bits2048) else {
            throw SigningKey.wrong("a new one could not be made")
        }
        return Secret(key.pemRepresentation)
    }
}

extension DPoPKey {
    /// A proof for one sending of a request (RFC 9449, section 4.2).
    ///
    /// Each has 128 new random bits (`jti`), so a request that is sent again needs a new one.
    ///
    /// - Parameters:
    ///   - request: what is sent: its method and its address are signed, the address without query.
    ///   - accessToken: the token that is sent too; nil at the endpoints of an authorization server.
    ///   - nonce: the server's newest nonce; nil when it gave none.
    ///   - now: seconds since 1970, as the server counts them; never later.
    ///   - random: the source of `jti`.
    /// - Throws: ``OAuthError/configuration(member:problem:)`` for a request without an address, or a time that is none.
    public func proof(
        for request: RequestMessage, accessToken: Secret? = nil, nonce: DPoPNonce? = nil, now: Double,
        random: RandomSource = .system
    ) throws(OAuthError) -> Secret {
        try OAuthError.checkClock(now)
        // As bytes from beginning to end: texts would cost half as much as the signature.
        var claims = ProofClaims()
        if let accessToken { claims.add("ath", Self.digest(of: accessToken)) }
        claims.add("htm", request.head.method.rawValue)
        claims.add("htu", try Self.target(of: request.head))
        claims.add("iat", Int(now))
        claims.add("jti", random.bytes(16))
        if let nonce { claims.add("nonce", nonce.string) }
        var text: [UInt8] = []
        text.reserveCapacity(header.count + claims.bytes.count * 4 / 3 + 800)
        text.append(contentsOf: header)
        Base64URL.append(claims.closed, to: &text)
        return try key.sign(&text, by: algorithm)
    }

    /// Adds a new proof to a request, in place of one that it has.
    ///
    /// - Throws: what ``proof(for:accessToken:nonce:now:random:)`` throws.
    public func sign(
        _ request: inout RequestMessage, accessToken: Secret? = nil, nonce: DPoPNonce? = nil, now: Double,
        random: RandomSource = .system
    ) throws(OAuthError) {
        let proof = try proof(for: request, accessToken: accessToken, nonce: nonce, now: now, random: random)
        request.head.headerFields[.dpop] = proof.reveal()
    }

    /// The bytes of `ath`: the SHA-256 of the access token's ASCII text (RFC 9449, section 4.2).
    private static func digest(of accessToken: Secret) -> [UInt8] {
        Array(SHA256.hash(data: Array(accessToken.reveal().utf8)))
    }

    /// `htu`: the address that is really called, without query and fragment (RFC 9449, section 4.2).
    ///
    /// Scheme and host are in lower case and the scheme's own port is left out; the path stays as the request line has it.
    static func target(of head: HTTPRequest) throws(OAuthError) -> String {
        let origin: String
        if let (scheme, host) = plain(head) {
            origin = scheme + "://" + host
        } else if let parsed = Origin(of: head) {
            origin = parsed.description
        } else {
            throw .configuration(member: "url", problem: "a proof needs the request's scheme and host")
        }
        let path = head.path ?? ""
        let end = path.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? path.endIndex
        return origin + (end == path.startIndex ? "/" : path[..<end])
    }

    /// Scheme and host where nothing of them has to be changed: lower case, no port, no IPv6 address. Nearly all are so.
    private static func plain(_ head: HTTPRequest) -> (scheme: String, host: String)? {
        guard let scheme = head.scheme, scheme == "https" || scheme == "http", let host = head.authority,
            (1...255).contains(host.utf8.count)
        else { return nil }
        var before = UInt8(ascii: ".")
        let isPlain = host.utf8.allSatisfy { byte in
            defer { before = byte }
            return switch byte {
            case 0x2E: before != byte
            case 0x30...0x39, 0x61...0x7A, 0x2D: true
            default: false
            }
        }
        return isPlain ? (scheme, host) : nil
    }
}

/// The claims of a proof as JSON, in the order of their names.
private struct ProofClaims {
    private(set) var bytes: [UInt8] = []

    init() {
        bytes.reserveCapacity(512)
    }

    /// The text with its last brace.
    var closed: [UInt8] {
        consuming get {
            var bytes = bytes
            bytes.append(UInt8(ascii: "}"))
            return bytes
        }
    }

    mutating func add(_ name: StaticString, _ text: String) {
        begin(name)
        JSONValue.append(text, to: &bytes)
    }

    mutating func add(_ name: StaticString, _ number: Int) {
        begin(name)
        bytes.append(contentsOf: String(number).utf8)
    }

    /// Bytes in Base64URL.
    mutating func add(_ name: StaticString, _ data: [UInt8]) {
        begin(name)
        bytes.append(UInt8(ascii: "\""))
        Base64URL.append(data, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func begin(_ name: StaticString) {
        bytes.append(bytes.isEmpty ? UInt8(ascii: "{") : UInt8(ascii: ","))
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }
}

extension DPoPKey: CustomStringConvertible, CustomReflectable {
    /// The thumbprint, without the key.
    public var description: String { "DPoP key \(thumbprint)" }

    public var customMirror: Mirror {
        Mirror(self, children: ["algorithm": algorithm, "thumbprint": thumbprint], displayStyle: .struct)
    }
}

extension HTTPField.Name {
    /// `DPoP`: the proof of a request (RFC 9449, section 4.1).
    public static let dpop = constant("DPoP")
    /// `DPoP-Nonce`: what the next proof has to repeat (RFC 9449, section 8).
    public static let dpopNonce = constant("DPoP-Nonce")

    /// A name that is written down here; the fallback is never used, because both are tokens.
    private static func constant(_ name: String) -> HTTPField.Name {
        HTTPField.Name(name) ?? .authorization
    }
}
