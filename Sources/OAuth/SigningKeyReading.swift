internal import Crypto
internal import CryptoExtras

/// The one private key in a PEM text, as DER (RFC 7468, sections 10 and 13).
struct PrivateKeyBlock {
    /// The form of the key inside.
    enum Form {
        case pkcs8, rsa, ec
    }

    let form: Form
    let bytes: [UInt8]

    /// - Throws: ``OAuthError/configuration(member:problem:)`` when there is no such block, more than one, or an
    ///   encrypted one.
    init(pem text: String) throws(OAuthError) {
        var found: (form: Form, lines: [Substring])?
        var open: (label: Substring, lines: [Substring])?
        var labels: [Substring] = []
        for line in text.split(whereSeparator: \.isNewline) {
            let line = Self.trimmed(line)
            if line.hasPrefix("-----BEGIN "), line.hasSuffix("-----"), line.utf8.count > 16 {
                open = (line.dropFirst(11).dropLast(5), [])
                labels.append(open?.label ?? "")
            } else if line.hasPrefix("-----END ") {
                if let block = open, let form = Self.form(of: block.label) {
                    guard found == nil else {
                        throw SigningKey.wrong("the file has several private keys; leave only the client's in it")
                    }
                    found = (form, block.lines)
                }
                open = nil
            } else {
                open?.lines.append(line)
            }
        }
        let isEncrypted = labels.contains("ENCRYPTED PRIVATE KEY") || found?.lines.contains { $0.contains(":") } == true
        guard !isEncrypted else {
            throw SigningKey.wrong(
                "the key is encrypted; decrypt it with: openssl pkey -in FILE -out key.pem, then: chmod 600 key.pem")
        }
        guard let found else { throw SigningKey.wrong(Self.problem(with: labels)) }
        guard let bytes = Base64.decode(found.lines) else {
            throw SigningKey.wrong("the text between the lines BEGIN and END is not Base64; copy the file again")
        }
        form = found.form
        self.bytes = bytes
    }

    private static func form(of label: Substring) -> Form? {
        switch label {
        case "PRIVATE KEY": .pkcs8
        case "RSA PRIVATE KEY": .rsa
        case "EC PRIVATE KEY": .ec
        default: nil
        }
    }

    private static func problem(with labels: [Substring]) -> String {
        if labels.contains(where: { $0.hasSuffix("PUBLIC KEY") || $0.hasSuffix("CERTIFICATE") }) {
            return "the file has only the public half; give the file with the private key"
        }
        return
            "the file has no private key as PEM (PRIVATE KEY, RSA PRIVATE KEY, EC PRIVATE KEY) or JWK; convert a key of "
            + "another form with “openssl pkey -in FILE -out key.pem”"
    }

    private static func trimmed(_ line: Substring) -> Substring {
        let isSpace = { (character: Character) in character == " " || character == "\t" }
        var line = line.drop(while: isSpace)
        while let last = line.last, isSpace(last) { line.removeLast() }
        return line
    }
}

extension SigningKey.Material {
    /// Reads a key of a PEM block.
    init(_ block: PrivateKeyBlock) throws(OAuthError) {
        switch block.form {
        case .rsa: try self.init(rsa: block.bytes)
        case .ec: try self.init(ec: block.bytes, curve: Self.curve(of: block.bytes))
        case .pkcs8: try self.init(pkcs8: block.bytes)
        }
    }

    private static let rsaIdentifier: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]
    private static let ecIdentifier: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
    private static let ed25519Identifier: [UInt8] = [0x2B, 0x65, 0x70]

    /// RFC 5958, section 2; for Ed25519 RFC 8410, section 7.
    private init(pkcs8 bytes: [UInt8]) throws(OAuthError) {
        var outer = DERReader(bytes)
        guard let content = outer.next(.sequence) else { throw Self.damaged }
        var members = DERReader(content)
        guard members.next(.integer) != nil, let kind = members.next(.sequence), let key = members.next(.octetString)
        else { throw Self.damaged }
        var names = DERReader(kind)
        switch names.next(.objectIdentifier).map(Array.init) {
        case Self.rsaIdentifier: try self.init(rsa: Array(key))
        case Self.ecIdentifier: try self.init(ec: bytes, curve: names.next(.objectIdentifier))
        case Self.ed25519Identifier:
            var inner = DERReader(key)
            guard let seed = inner.next(.octetString),
                let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: seed)
            else { throw Self.damaged }
            self = .ed25519(key)
        default:
            throw SigningKey.wrong(
                "it is of a kind that is not supported: RSA, EC on P-256, P-384 or P-521, or Ed25519; "
                    + SigningKey.newKeyCure)
        }
    }

    /// RFC 8017, appendix A.1.2.
    private init(rsa bytes: [UInt8]) throws(OAuthError) {
        var outer = DERReader(bytes)
        guard let content = outer.next(.sequence) else { throw Self.damaged }
        var numbers = DERReader(content)
        guard numbers.next(.integer) != nil, let modulus = numbers.next(.integer),
            let exponent = numbers.next(.integer)
        else { throw Self.damaged }
        try Self.check(modulus, exponent)
        guard let key = try? _RSA.Signing.PrivateKey(derRepresentation: bytes) else { throw Self.damaged }
        self = .rsa(key)
    }

    /// A key on one of three curves, alone (RFC 5915, section 3) or inside PKCS#8.
    ///
    /// - Parameter curve: the curve that the file names. swift-crypto takes another one's key too if it is as long.
    private init(ec bytes: [UInt8], curve: ArraySlice<UInt8>?) throws(OAuthError) {
        let material: SigningKey.Material?
        switch curve.map(Array.init) {
        case [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]:
            material = (try? P256.Signing.PrivateKey(derRepresentation: bytes)).map { .p256($0) }
        case [0x2B, 0x81, 0x04, 0x00, 0x22]:
            material = (try? P384.Signing.PrivateKey(derRepresentation: bytes)).map { .p384($0) }
        case [0x2B, 0x81, 0x04, 0x00, 0x23]:
            material = (try? P521.Signing.PrivateKey(derRepresentation: bytes)).map { .p521($0) }
        default:
            throw SigningKey.wrong("its curve is not P-256, P-384 or P-521; " + SigningKey.newKeyCure)
        }
        guard let material else { throw Self.damaged }
        self = material
    }

    /// The curve that a key alone names; nil when it names none.
    private static func curve(of bytes: [UInt8]) -> ArraySlice<UInt8>? {
        var outer = DERReader(bytes)
        var members = DERReader(outer.next(.sequence) ?? [])
        guard members.next(.integer) != nil, members.next(.octetString) != nil else { return nil }
        var parameters = DERReader(members.next(.parameters) ?? [])
        return parameters.next(.objectIdentifier)
    }

    private static func check(
        _ modulus: some Collection<UInt8>, _ exponent: some Collection<UInt8>
    ) throws(OAuthError) {
        guard JSONWebKey.isAcceptable(modulus: Array(modulus), exponent: Array(exponent)) else {
            throw SigningKey.wrong(
                "an RSA key has 2048 to 8192 bits and an odd exponent from 3 on, and this one has not; "
                    + SigningKey.newKeyCure)
        }
    }

    private static let damaged = SigningKey.wrong("it is damaged; copy the file again, whole")
}

extension SigningKey {
    /// The members of the one key to use.
    ///
    /// - Parameter keyID: the name that selects it in a set.
    fileprivate static func selectedMembers(
        of document: JSONObject, keyID: String?
    ) throws(OAuthError) -> JSONObject {
        guard document["keys"] != nil else {
            if let keyID, let own = document["kid"]?.string, own != keyID {
                throw wrong("it has another name than “\(quoted(keyID, limit: 80))”; leave the name out")
            }
            return document
        }
        let keys = (document["keys"]?.array ?? []).compactMap(\.object)
        guard keys.count <= JSONWebKeySet.maximumCount else {
            throw wrong("the set has more than \(JSONWebKeySet.maximumCount) keys")
        }
        let known = keys.filter { $0["kty"]?.string != "oct" && $0["d"] != nil }
        let wanted = keyID.map { keyID in known.filter { $0["kid"]?.string?.isIdentical(to: keyID) ?? false } } ?? known
        guard wanted.count == 1 else {
            guard keyID != nil || known.isEmpty else {
                throw wrong("the set has several private keys; name the one to use")
            }
            throw wrong(
                known.isEmpty
                    ? "the set has only public halves; give the file with the private key"
                    : "the set does not have exactly one private key of this name")
        }
        return wanted[0]
    }

    /// The JWK in a document, checked for what it is for (RFC 7517, sections 4.2 and 4.3).
    static func selected(in content: [UInt8], keyID: String?) throws(OAuthError) -> JSONObject {
        guard let document = (try? JSONValue(parsing: content))?.object else {
            throw wrong("the file is not valid JSON; copy the key again, whole")
        }
        let members = try selectedMembers(of: document, keyID: keyID)
        if members["kty"]?.string == "oct" {
            throw wrong("it is a shared secret; give it as the client's secret, not as its key")
        }
        guard members["d"] != nil else {
            throw wrong(
                members["kty"] == nil
                    ? "the file is JSON but no key (JWK); give the file with the private key"
                    : "the file has only the public half; give the file with the private key")
        }
        let operations = members["key_ops"]?.array?.map(\.string)
        guard members["use"] == nil || members["use"]?.string == "sig",
            members["key_ops"] == nil || operations?.contains("sign") ?? false
        else {
            throw wrong("its members “use” or “key_ops” do not allow it to sign; use a key that is made for signatures")
        }
        guard members["kid"] == nil || members["kid"]?.string != nil,
            members["alg"] == nil || members["alg"]?.string != nil
        else { throw wrong("its members “kid” and “alg” have to be text") }
        return members
    }
}

extension SigningKey.Material {
    /// Reads the private key of a JWK, whose public members have to be its own (RFC 7518, sections 6.2.2 and 6.3.2; RFC
    /// 8037, section 2).
    init(privateMembers members: JSONObject) throws(OAuthError) {
        func bytes(_ name: String) -> [UInt8] {
            members[name]?.string.flatMap { $0.utf8.count <= 2048 ? Base64URL.decode($0) : nil } ?? []
        }
        let secret = bytes("d")
        let material: SigningKey.Material?
        switch (members["kty"]?.string, members["crv"]?.string) {
        case ("RSA", _): material = try Self.rsa(members, bytes)
        case ("EC", "P-256"): material = (try? P256.Signing.PrivateKey(rawRepresentation: secret)).map { .p256($0) }
        case ("EC", "P-384"): material = (try? P384.Signing.PrivateKey(rawRepresentation: secret)).map { .p384($0) }
        case ("EC", "P-521"): material = (try? P521.Signing.PrivateKey(rawRepresentation: secret)).map { .p521($0) }
        case ("OKP", "Ed25519"):
            material = (try? Curve25519.Signing.PrivateKey(rawRepresentation: secret)).map { .ed25519($0) }
        default:
            throw SigningKey.wrong(
                "its type or curve is not supported: RSA, EC on P-256, P-384 or P-521, or OKP with Ed25519; "
                    + SigningKey.newKeyCure)
        }
        guard let material, let own = material.publicMembers, own.thumbprint == members.thumbprint else {
            throw Self.damaged
        }
        self = material
    }

    /// An RSA key, with its primes and what follows from them or without (RFC 7518, section 6.3.2).
    ///
    /// One trial shows that the private numbers are the public ones'.
    private static func rsa(_ members: JSONObject, _ bytes: (String) -> [UInt8]) throws(OAuthError) -> Self? {
        let (n, e, d) = (bytes("n"), bytes("e"), bytes("d"))
        try check(n, e)
        guard members["oth"] == nil else {
            throw SigningKey.wrong("it has more than two primes, by its member “oth”; " + SigningKey.newKeyCure)
        }
        let digits = d.drop { $0 == 0 }
        guard digits.count > 8, digits.count <= n.count, n.last.map({ $0 % 2 == 1 }) ?? false else { return nil }
        var (p, q) = (bytes("p"), bytes("q"))
        if ["p", "q", "dp", "dq", "qi"].allSatisfy({ members[$0] == nil }) {
            guard let primes = RSAPrimes(modulus: n, publicExponent: e, privateExponent: d) else { return nil }
            (p, q) = (primes.p, primes.q)
        }
        guard !p.isEmpty, !q.isEmpty else {
            throw SigningKey.wrong(
                "it has members of its primes, but not both “p” and “q”; export it again, with all of “p”, “q”, “dp”, “dq” "
                    + "and “qi” or with none")
        }
        let trial = SHA256.hash(data: Array("handshake".utf8))
        guard let key = try? _RSA.Signing.PrivateKey(n: n, e: e, d: d, p: p, q: q),
            let signature = try? key.signature(for: trial, padding: .PSS),
            key.publicKey.isValidSignature(signature, for: trial, padding: .PSS)
        else { return nil }
        return .rsa(key)
    }
}

extension Base64 {
    /// Decodes lines of the plain alphabet with padding, as PEM has them (RFC 7468, section 3).
    static func decode(_ lines: [Substring]) -> [UInt8]? {
        var text: [UInt8] = []
        for byte in lines.lazy.flatMap(\.utf8) {
            switch byte {
            case UInt8(ascii: "+"): text.append(UInt8(ascii: "-"))
            case UInt8(ascii: "/"): text.append(UInt8(ascii: "_"))
            case UInt8(ascii: "-"), UInt8(ascii: "_"): return nil
            default: text.append(byte)
            }
        }
        while text.last == UInt8(ascii: "=") { text.removeLast() }
        return Base64URL.decode(String(decoding: text, as: UTF8.self))
    }
}
