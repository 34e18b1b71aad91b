import Crypto
import CryptoExtras
import Foundation
import Testing

@testable import OAuth

@Suite("Keys of clients")
struct SigningKeyTests {
    /// One DER element.
    private static func der(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let length: [UInt8] =
            switch content.count {
            case ..<0x80: [UInt8(content.count)]
            case ..<0x100: [0x81, UInt8(content.count)]
            default: [0x82, UInt8(content.count >> 8), UInt8(content.count & 0xFF)]
            }
        return [tag] + length + content
    }

    private static func pem(_ label: String, _ bytes: some Sequence<UInt8>) -> String {
        let text = Data(bytes).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(text)\n-----END \(label)-----\n"
    }

    private static let curves: [String: [UInt8]] = [
        "P-256": [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07], "P-384": [0x2B, 0x81, 0x04, 0x00, 0x22],
        "secp256k1": [0x2B, 0x81, 0x04, 0x00, 0x0A], "P-521": [0x2B, 0x81, 0x04, 0x00, 0x23],
        "P-192": [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x01],
    ]

    /// An EC key alone (RFC 5915, section 3).
    private static func sec1(_ curve: String, _ secret: some Sequence<UInt8>, _ point: some Sequence<UInt8>) -> [UInt8]
    {
        der(
            0x30,
            der(0x02, [1]) + der(0x04, Array(secret)) + der(0xA0, der(0x06, curves[curve] ?? []))
                + der(0xA1, der(0x03, [0] + Array(point))))
    }

    private static func ed25519(_ secret: some Sequence<UInt8>) -> [UInt8] {
        der(0x30, der(0x02, [0]) + der(0x30, der(0x06, [0x2B, 0x65, 0x70])) + der(0x04, der(0x04, Array(secret))))
    }

    /// The numbers of an RSA key: n, e, d, p, q.
    static func numbers(_ key: _RSA.Signing.PrivateKey) throws -> [String: String] {
        var outer = DERReader(key.derRepresentation)
        let content = outer.next(.sequence)
        var inner = DERReader(try #require(content))
        _ = inner.next(.integer)
        var numbers: [String: String] = [:]
        for name in ["n", "e", "d", "p", "q"] {
            let number = inner.next(.integer)
            numbers[name] = Base64URL.encode(try #require(number).drop { $0 == 0 })
        }
        return numbers
    }

    static func json(_ members: [String: Any]) throws -> String {
        String(decoding: try JSONSerialization.data(withJSONObject: members, options: .sortedKeys), as: UTF8.self)
    }

    private static func ec(_ curve: String, _ secret: Data, _ point: Data) -> [String: Any] {
        [
            "kty": "EC", "crv": curve, "d": Base64URL.encode(secret),
            "x": Base64URL.encode(point.prefix(point.count / 2)), "y": Base64URL.encode(point.suffix(point.count / 2)),
        ]
    }

    /// Every form in which a key may come, with the algorithm that it signs with first.
    private static func forms() throws -> [(name: String, text: String, algorithm: SignatureAlgorithm)] {
        let keys = try SigningKeys.shared.get()
        let rsa = try numbers(keys.rsa).merging(["kty": "RSA"]) { $1 }
        let okp = [
            "kty": "OKP", "crv": "Ed25519", "d": Base64URL.encode(keys.ed25519.rawRepresentation),
            "x": Base64URL.encode(keys.ed25519.publicKey.rawRepresentation),
        ]
        let p256 = ec("P-256", keys.p256.rawRepresentation, keys.p256.publicKey.rawRepresentation)
        var publicHalf = okp
        publicHalf["d"] = nil
        return [
            ("RSA, PKCS#8", pem("PRIVATE KEY", keys.rsa.pkcs8DERRepresentation), .rs256),
            ("RSA, PKCS#1", pem("RSA PRIVATE KEY", keys.rsa.derRepresentation), .rs256),
            ("P-256, PKCS#8, as Apple's .p8", keys.p256.pemRepresentation, .es256),
            ("P-384, PKCS#8", keys.p384.pemRepresentation, .es384),
            ("P-521, PKCS#8", keys.p521.pemRepresentation, .es512),
            (
                "P-256, alone",
                pem("EC PARAMETERS", der(0x06, curves["P-256"] ?? []))
                    + pem(
                        "EC PRIVATE KEY",
                        sec1("P-256", keys.p256.rawRepresentation, keys.p256.publicKey.x963Representation)),
                .es256
            ),
            (
                "P-521, alone with carriage returns",
                pem(
                    "EC PRIVATE KEY", sec1("P-521", keys.p521.rawRepresentation, keys.p521.publicKey.x963Representation)
                )
                .replacing("\n", with: "\r\n"), .es512
            ),
            ("Ed25519, PKCS#8", pem("PRIVATE KEY", ed25519(keys.ed25519.rawRepresentation)), .edDSA),
            ("RSA, JWK", try json(rsa), .rs256),
            ("RSA, JWK for PS384", try json(rsa.merging(["alg": "PS384"]) { $1 }), .ps384),
            ("P-256, JWK", try json(p256), .es256),
            (
                "P-384, JWK", try json(ec("P-384", keys.p384.rawRepresentation, keys.p384.publicKey.rawRepresentation)),
                .es384
            ),
            (
                "P-521, JWK", try json(ec("P-521", keys.p521.rawRepresentation, keys.p521.publicKey.rawRepresentation)),
                .es512
            ),
            ("Ed25519, JWK", try json(okp), .edDSA),
            (
                "one private key in a set",
                try json(["keys": [p256, ["kty": "oct", "k": "c2VjcmV0"], publicHalf]]), .es256
            ),
        ]
    }

    @Test("M304: a key of each PEM and JWK form signs what its exported public half verifies")
    func forms() throws {
        for (name, text, algorithm) in try Self.forms() {
            let key = try SigningKey(parsing: Array(text.utf8))
            #expect(key.algorithms.first == algorithm, "\(name)")
            let signed = try key.sign(["sub": .string("app")], header: [:], by: algorithm)
            let keys = try JSONWebKeySet(parsing: Array(key.publicKeySet.utf8))
            let read = try JSONWebSignature(compact: signed).verify(with: keys, allowing: [algorithm])
            #expect(String(decoding: read.payload, as: UTF8.self) == #"{"sub":"app"}"#, "\(name)")
            #expect(key.publicKeySet.contains(#""kid":"\#(key.thumbprint)""#), "\(name)")
            for member in ["d", "p", "q", "dp", "dq", "qi", "k"] {
                #expect(!key.publicKeySet.contains(#""\#(member)":"#), "\(name)")
            }
            // What is sealed is read again as the same key.
            #expect(try SigningKey(parsing: Array(key.source.reveal().utf8)).thumbprint == key.thumbprint, "\(name)")
        }
    }

    @Test("M304: a key set is read by the name of the key, and the name stands in the public half")
    func named() throws {
        let keys = try SigningKeys.shared.get()
        let one = Self.ec("P-256", keys.p256.rawRepresentation, keys.p256.publicKey.rawRepresentation)
        let two = Self.ec("P-384", keys.p384.rawRepresentation, keys.p384.publicKey.rawRepresentation)
        let set = try Self.json([
            "keys": [one.merging(["kid": "one"]) { $1 }, two.merging(["kid": "two"]) { $1 }]
        ])
        let key = try SigningKey(parsing: Array(set.utf8), keyID: "two")
        #expect(key.algorithms == [.es384])
        #expect(key.publicKeySet.contains(#""kid":"two""#))
        for name in [nil, "three"] {
            #expect(failure { _ = try SigningKey(parsing: Array(set.utf8), keyID: name) } == "configuration key")
        }
        #expect(try SigningKey(parsing: Array(keys.p256.pemRepresentation.utf8), keyID: "k1").keyID == "k1")
    }

    /// Files that hold no usable key, each with a word of its cure.
    private static func refused() throws -> [(name: String, text: String, cure: String)] {
        let keys = try SigningKeys.shared.get()
        let p256 = ec("P-256", keys.p256.rawRepresentation, keys.p256.publicKey.rawRepresentation)
        let small = try _RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: 1024))
        let smallNumbers = try numbers(small).merging(["kty": "RSA"]) { $1 }
        let foreign = try numbers(_RSA.Signing.PrivateKey(keySize: .bits2048))
        let rsa: [String: Any] = try numbers(keys.rsa).merging(["kty": "RSA"]) { $1 }
        let without = rsa.filter { !["p", "q"].contains($0.key) }
        let mixed = rsa.merging(["d": foreign["d"] ?? ""]) { $1 }
        let p192 = der(
            0x30,
            der(0x02, [0])
                + der(0x30, der(0x06, [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]) + der(0x06, curves["P-192"] ?? []))
                + der(0x04, sec1("P-192", Array(repeating: 7, count: 24), Array(repeating: 7, count: 49))))
        // As long as a key on P-256.
        let (secret, point) = (keys.p256.rawRepresentation, keys.p256.publicKey.x963Representation)
        let koblitz = der(
            0x30,
            der(0x02, [0])
                + der(
                    0x30, der(0x06, [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]) + der(0x06, curves["secp256k1"] ?? []))
                + der(
                    0x04,
                    der(0x30, der(0x02, [1]) + der(0x04, Array(secret)) + der(0xA1, der(0x03, [0] + Array(point))))))
        let encrypted = pem("RSA PRIVATE KEY", keys.rsa.derRepresentation)
            .replacing(
                "KEY-----\n", with: "KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n", maxReplacements: 1
            )
        return [
            ("encrypted PKCS#8", pem("ENCRYPTED PRIVATE KEY", Array(repeating: 9, count: 64)), "openssl pkey"),
            ("encrypted PKCS#1", encrypted, "openssl pkey"),
            ("P-192", pem("PRIVATE KEY", p192), "genpkey"),
            ("secp256k1", pem("PRIVATE KEY", koblitz), "genpkey"),
            ("secp256k1, alone", pem("EC PRIVATE KEY", sec1("secp256k1", secret, point)), "genpkey"),
            ("P-192, alone", pem("EC PRIVATE KEY", sec1("P-192", Array(repeating: 7, count: 24), [4])), "genpkey"),
            ("RSA 1024", pem("PRIVATE KEY", small.pkcs8DERRepresentation), "2048"),
            ("RSA 1024, PKCS#1", pem("RSA PRIVATE KEY", small.derRepresentation), "2048"),
            ("RSA 1024, JWK", try json(smallNumbers), "2048"),
            ("public PEM", keys.p256.publicKey.pemRepresentation, "private key"),
            ("a certificate", pem("CERTIFICATE", [1, 2, 3]), "private key"),
            ("public JWK", try json(p256.filter { $0.key != "d" }), "private key"),
            ("for encryption", try json(p256.merging(["use": "enc"]) { $1 }), "signatures"),
            ("to verify only", try json(p256.merging(["key_ops": ["verify"]]) { $1 }), "signatures"),
            ("another algorithm", try json(p256.merging(["alg": "ES384"]) { $1 }), "alg"),
            ("a shared secret", #"{"kty":"oct","k":"c2VjcmV0IG9mIHRoZSBjbGllbnQ"}"#, "client's secret"),
            ("another curve", try json(p256.merging(["crv": "secp256k1"]) { $1 }), "genpkey"),
            ("another public half", try json(p256.merging(["x": p256["y"] ?? ""]) { $1 }), "again"),
            ("another private number", try json(mixed), "again"),
            ("a name with spaces", try json(p256.merging(["kid": "my signing key"]) { $1 }), "“kid”"),
            ("a name without end", try json(p256.merging(["kid": String(repeating: "k", count: 256)]) { $1 }), "“kid”"),
            ("another private number, no primes", try json(mixed.filter { !["p", "q"].contains($0.key) }), "again"),
            ("one prime", try json(rsa.filter { $0.key != "q" }), "“p” and “q”"),
            ("what follows from primes alone", try json(without.merging(["dp": "AQAB"]) { $1 }), "“p” and “q”"),
            ("primes that are not text", try json(without.merging(["p": 3, "q": 5]) { $1 }), "“p” and “q”"),
            ("more than two primes", try json(rsa.merging(["oth": [String]()]) { $1 }), "“oth”"),
            ("two keys", keys.p256.pemRepresentation + "\n" + keys.p384.pemRepresentation, "several"),
            ("cut", String(keys.p256.pemRepresentation.prefix(80)) + "\n-----END PRIVATE KEY-----", "again"),
            ("nothing", "", "openssl"), ("other text", "a key, perhaps", "openssl"),
            ("broken JSON", "{\"kty\":", "again"), ("JSON without a key", #"{"type":"other"}"#, "no key (JWK)"),
        ]
    }

    @Test("M305: a file without a usable key is refused with the cure, and no byte of it is shown")
    func refusals() throws {
        for (name, text, cure) in try Self.refused() {
            do {
                _ = try SigningKey(parsing: Array(text.utf8))
                Issue.record("\(name) was accepted")
            } catch {
                guard case .configuration("key", let problem) = error else {
                    Issue.record("\(name): \(error)")
                    continue
                }
                #expect(problem.contains(cure), "\(name): \(problem)")
                let words = text.split { !$0.isLetter && !$0.isNumber }.filter { $0.utf8.count >= 24 }
                for word in words { #expect(!"\(error)".contains(word), "\(name)") }
            }
        }
    }

    @Test("M305: no bytes that are given as a key trap")
    func fuzz() throws {
        let forms = try Self.forms().map { Array($0.text.utf8) }
        for (index, form) in forms.enumerated() {
            let random = Example.seeded(UInt64(index + 1)).bytes(600)
            for step in 0..<150 {
                var bytes = form
                let place = (Int(random[step * 2]) << 8 | Int(random[step * 2 + 1])) % bytes.count
                switch step % 3 {
                case 0: bytes[place] = random[step * 3]
                case 1: bytes.removeLast(bytes.count - place)
                default: bytes.remove(at: place)
                }
                _ = try? SigningKey(parsing: bytes)
            }
        }
        var reader = DERReader([0x30, 0x83, 0xFF, 0xFF, 0xFF, 0x00])
        #expect(reader.next(.sequence) == nil)
    }

    @Test("L1: a key that is printed or dumped shows nothing of itself")
    func hidden() throws {
        let keys = try SigningKeys.shared.get()
        let key = try SigningKey(parsing: Array(keys.p256.pemRepresentation.utf8), keyID: "k1")
        var dumped = ""
        dump(key, to: &dumped)
        let inside = keys.p256.pemRepresentation.split(separator: "\n")[1]
        for text in [dumped, "\(key)", String(reflecting: key)] { #expect(!text.contains(inside)) }
    }

    @Test("thumbprints are those of RFC 8037, appendix A.3 and RFC 9449, section 6, whatever else the key says")
    func thumbprints() {
        let p256: JSONObject = [
            "y": .string("9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA"), "use": .string("sig"),
            "x": .string("l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs"), "crv": .string("P-256"),
            "kty": .string("EC"), "kid": .string("any"),
        ]
        #expect(p256.thumbprint == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
        let ed25519: JSONObject = [
            "x": .string("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"), "kty": .string("OKP"),
            "crv": .string("Ed25519"), "alg": .string("EdDSA"),
        ]
        #expect(ed25519.thumbprint == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")
        #expect(JSONObject().thumbprint == nil)
    }
}
