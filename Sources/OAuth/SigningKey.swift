internal import Crypto
internal import CryptoExtras

/// A private key with which a client signs its assertions.
///
/// RSA from 2048 to 8192 bits, EC on P-256, P-384 and P-521, and Ed25519. The key never prints; its public half may be
/// published.
public struct SigningKey: Sendable {
    /// The name by which the server selects the public half (`kid`). Nil when the key has none.
    public let keyID: String?
    /// The algorithms that the key signs with. The first is the one to use when a server states none.
    public private(set) var algorithms: [SignatureAlgorithm]
    /// The public half as the required members of a JWK (RFC 7638, section 3.2).
    package let publicMembers: JSONObject
    /// What the key was read from, to be sealed.
    package let source: Secret
    private let material: Material

    /// The key itself.
    enum Material: Sendable {
        case rsa(_RSA.Signing.PrivateKey)
        case p256(P256.Signing.PrivateKey)
        case p384(P384.Signing.PrivateKey)
        case p521(P521.Signing.PrivateKey)
        case ed25519(Curve25519.Signing.PrivateKey)
    }

    /// The longest file that is read, in bytes.
    public static let maximumLength = 65_536

    /// Reads a key: PEM, a JWK, or a set with private keys. The PEM forms are `PRIVATE KEY`, `RSA PRIVATE KEY` and
    /// `EC PRIVATE KEY`.
    ///
    /// Apple's `.p8` files are PEM of the first kind.
    ///
    /// - Parameters:
    ///   - content: the file.
    ///   - keyID: the name that the server knows the key by; of a set, the key to use. Needed for a key that has no
    ///     name of its own, where the server demands one.
    /// - Throws: ``OAuthError/configuration(member:problem:)`` with the cure, and without a byte of the key: for an
    ///   encrypted, public or unknown key, one that is too short, or one that `use`, `key_ops` or `alg` keeps from
    ///   signing.
    public init(parsing content: [UInt8], keyID: String? = nil) throws(OAuthError) {
        guard content.count <= Self.maximumLength else {
            throw Self.wrong("the file has more than \(Self.maximumLength) bytes, which no key has")
        }
        guard let text = String(validating: content, as: UTF8.self) else {
            throw Self.wrong(
                "the file is not text; convert a key in DER form with “openssl pkey -inform DER -in FILE -out key.pem”")
        }
        try Self.checkName(keyID)
        if content.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") {
            let members = try Self.selected(in: content, keyID: keyID)
            try Self.checkName(members["kid"]?.string)
            let material = try Material(privateMembers: members)
            try self.init(
                material, keyID: members["kid"]?.string ?? keyID, algorithm: members["alg"]?.string,
                source: Secret(text))
        } else {
            let block = try PrivateKeyBlock(pem: text)
            try self.init(try Material(block), keyID: keyID, algorithm: nil, source: Secret(text))
        }
    }

    private static func checkName(_ keyID: String?) throws(OAuthError) {
        guard let keyID else { return }
        guard (1...255).contains(keyID.utf8.count), keyID.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw wrong("a key's name (“kid”) has 1 to 255 characters of printable ASCII without spaces")
        }
    }

    private init(
        _ material: Material, keyID: String?, algorithm: String?, source: Secret
    ) throws(OAuthError) {
        let possible = material.algorithms
        let stated = algorithm.flatMap(SignatureAlgorithm.init)
        guard algorithm == nil || stated.map(possible.contains) ?? false else {
            throw Self.wrong("its member “alg” names no algorithm that such a key signs with; correct or remove it")
        }
        guard let publicMembers = material.publicMembers else { throw Self.wrong("it is damaged") }
        self.material = material
        self.keyID = keyID
        self.source = source
        self.publicMembers = publicMembers
        algorithms = stated.map { [$0] } ?? possible
    }

    /// The error for a file that holds no usable key.
    static func wrong(_ problem: String) -> OAuthError {
        .configuration(member: "key", problem: problem)
    }

    static let newKeyCure =
        "make a new one with: openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key.pem"
}

extension SigningKey {
    /// The thumbprint of the public half (RFC 7638, section 3).
    public var thumbprint: String {
        publicMembers.thumbprint ?? ""
    }

    /// The public half as a key set (RFC 7517, section 5). For the client's registration.
    ///
    /// The key has its own name, otherwise its thumbprint. No private member is in it.
    public var publicKeySet: String {
        var members = publicMembers
        members["kid"] = .string(keyID ?? thumbprint)
        members["use"] = .string("sig")
        if algorithms.count == 1 || algorithms.first == .edDSA { members["alg"] = .string(algorithms[0].rawValue) }
        return JSONValue.object(["keys": .array([.object(members)])]).json
    }

    /// The algorithm to sign with at a server.
    ///
    /// - Parameter supported: the server's list; nil when it states none.
    /// - Throws: ``OAuthError/configuration(member:problem:)`` when the key can sign with none of the list.
    func algorithm(among supported: [String]?) throws(OAuthError) -> SignatureAlgorithm {
        guard let supported else { return algorithms[0] }
        guard let algorithm = algorithms.first(where: { supported.contains($0.rawValue) }) else {
            throw Self.wrong(
                "it signs with \(algorithms.map(\.rawValue).joined(separator: ", ")), and the server accepts only "
                    + "\(quoted(supported.joined(separator: ", "), limit: 200)); use a key for one of these")
        }
        return algorithm
    }

    /// The same key, which signs with nothing but these algorithms.
    ///
    /// - Throws: ``OAuthError/configuration(member:problem:)`` when it signs with none of them.
    package func limited(to allowed: [SignatureAlgorithm]) throws(OAuthError) -> SigningKey {
        var key = self
        key.algorithms = algorithms.filter(allowed.contains)
        guard !key.algorithms.isEmpty else {
            throw Self.wrong(
                "it signs with \(algorithms.map(\.rawValue).joined(separator: ", ")), and only "
                    + "\(allowed.map(\.rawValue).joined(separator: ", ")) may be used; \(Self.newKeyCure)")
        }
        return key
    }

    /// Signs a text in its compact form (RFC 7515, section 7.1).
    ///
    /// - Parameter header: the members besides `alg`.
    func sign(
        _ payload: JSONObject, header: JSONObject, by algorithm: SignatureAlgorithm
    ) throws(OAuthError) -> Secret {
        var header = header
        header["alg"] = .string(algorithm.rawValue)
        return try sign(
            Base64URL.encode(JSONValue.object(header).json.utf8) + "."
                + Base64URL.encode(JSONValue.object(payload).json.utf8), by: algorithm)
    }

    /// The text with its signature.
    ///
    /// - Parameter text: header and payload, encoded and joined (RFC 7515, section 5.1).
    func sign(_ text: String, by algorithm: SignatureAlgorithm) throws(OAuthError) -> Secret {
        var bytes = Array(text.utf8)
        return try sign(&bytes, by: algorithm)
    }

    /// The same from bytes, to which the signature is added.
    func sign(_ text: inout [UInt8], by algorithm: SignatureAlgorithm) throws(OAuthError) -> Secret {
        guard let signature = try? material.signature(of: text, by: algorithm) else {
            throw Self.wrong("it cannot sign with \(algorithm.rawValue)")
        }
        text.append(UInt8(ascii: "."))
        Base64URL.append(signature, to: &text)
        return Secret(String(decoding: text, as: UTF8.self))
    }
}

extension SigningKey: CustomStringConvertible, CustomReflectable {
    /// The public name, without the key.
    public var description: String { "signing key \(keyID ?? thumbprint)" }

    public var customMirror: Mirror { Mirror(self, children: ["keyID": keyID as Any], displayStyle: .struct) }
}

extension JSONObject {
    /// The thumbprint of a JWK: SHA-256 of its required members, whatever other members it has (RFC 7638, section 3; RFC
    /// 8037, section 2). Nil when one of them is missing.
    package var thumbprint: String? {
        let names: [String]
        switch self["kty"]?.string {
        case "EC": names = ["crv", "kty", "x", "y"]
        case "OKP": names = ["crv", "kty", "x"]
        case "RSA": names = ["e", "kty", "n"]
        default: return nil
        }
        var required = JSONObject()
        for name in names {
            guard let value = self[name], value.string != nil else { return nil }
            required[name] = value
        }
        return Base64URL.encode(SHA256.hash(data: Array(JSONValue.object(required).json.utf8)))
    }
}

extension SigningKey.Material {
    var algorithms: [SignatureAlgorithm] {
        switch self {
        case .rsa: [.rs256, .ps256, .rs384, .ps384, .rs512, .ps512]
        case .p256: [.es256]
        case .p384: [.es384]
        case .p521: [.es512]
        case .ed25519: [.edDSA, .ed25519]
        }
    }

    /// The required members of the public half; nil for a key that does not state them.
    var publicMembers: JSONObject? {
        func ec(_ curve: String, _ point: some Collection<UInt8>) -> JSONObject {
            let half = point.count / 2
            return [
                "kty": .string("EC"), "crv": .string(curve), "x": .string(Base64URL.encode(point.prefix(half))),
                "y": .string(Base64URL.encode(point.suffix(half))),
            ]
        }
        switch self {
        case .rsa(let key):
            guard let numbers = try? key.publicKey.getKeyPrimitives() else { return nil }
            return [
                "kty": .string("RSA"), "n": .string(Base64URL.encode(numbers.modulus.drop { $0 == 0 })),
                "e": .string(Base64URL.encode(numbers.publicExponent.drop { $0 == 0 })),
            ]
        case .p256(let key): return ec("P-256", key.publicKey.rawRepresentation)
        case .p384(let key): return ec("P-384", key.publicKey.rawRepresentation)
        case .p521(let key): return ec("P-521", key.publicKey.rawRepresentation)
        case .ed25519(let key):
            return [
                "kty": .string("OKP"), "crv": .string("Ed25519"),
                "x": .string(Base64URL.encode(key.publicKey.rawRepresentation)),
            ]
        }
    }

    /// The key's signature of bytes; nil for an algorithm that is not the key's.
    func signature(of bytes: [UInt8], by algorithm: SignatureAlgorithm) throws -> [UInt8]? {
        switch (self, algorithm) {
        case (.rsa(let key), .rs256):
            Array(try key.signature(for: SHA256.hash(data: bytes), padding: .insecurePKCS1v1_5).rawRepresentation)
        case (.rsa(let key), .rs384):
            Array(try key.signature(for: SHA384.hash(data: bytes), padding: .insecurePKCS1v1_5).rawRepresentation)
        case (.rsa(let key), .rs512):
            Array(try key.signature(for: SHA512.hash(data: bytes), padding: .insecurePKCS1v1_5).rawRepresentation)
        case (.rsa(let key), .ps256):
            Array(try key.signature(for: SHA256.hash(data: bytes), padding: .PSS).rawRepresentation)
        case (.rsa(let key), .ps384):
            Array(try key.signature(for: SHA384.hash(data: bytes), padding: .PSS).rawRepresentation)
        case (.rsa(let key), .ps512):
            Array(try key.signature(for: SHA512.hash(data: bytes), padding: .PSS).rawRepresentation)
        case (.p256(let key), .es256): Array(try key.signature(for: bytes).rawRepresentation)
        case (.p384(let key), .es384): Array(try key.signature(for: bytes).rawRepresentation)
        case (.p521(let key), .es512): Array(try key.signature(for: bytes).rawRepresentation)
        case (.ed25519(let key), .edDSA), (.ed25519(let key), .ed25519): Array(try key.signature(for: bytes))
        default: nil
        }
    }
}
