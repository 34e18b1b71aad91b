import Crypto
import CryptoExtras
import Foundation
import HTTPTypes
import Handshake
import OAuth
import Synchronization

extension Benchmark {
    static let keySet = Benchmark(
        name: "key-set", summary: "a set of 50 keys, 15 of which are not understood, read by one thread",
        run: { _ in try await KeySets.run() })
    static let unknownKeys = Benchmark(
        name: "unknown-keys", summary: "10,000 tokens that name an unknown key, beside valid ones",
        run: { _ in try await UnknownKeys.run() })
    static let services = Benchmark(
        name: "services", summary: "all built-in services looked up and read, by one thread",
        run: { _ in try await BuiltInServices.run() })
}

/// RSA keys, points on three curves, Ed25519, and keys that a reader has to skip.
private enum KeySets {
    static func run() async throws -> [Figure] {
        let content = Array(try document().utf8)
        guard try JSONWebKeySet(parsing: content).count == 35 else { throw Failure("35 keys should be usable") }
        let times = try await samples(25, warmUp: 3) {
            let start = processorSeconds()
            for _ in 0..<20 { _ = try JSONWebKeySet(parsing: content) }
            return (processorSeconds() - start) / 20 * 1_000
        }
        return [Figure("50 keys from \(content.count) bytes", "ms", .atMost(1), samples: times)]
    }

    private static func document() throws -> String {
        var keys: [[String: String]] = []
        for number in 0..<10 {
            let numbers = try _RSA.Signing.PrivateKey(keySize: .bits2048).publicKey.getKeyPrimitives()
            keys.append([
                "kty": "RSA", "kid": "rsa-\(number)", "use": "sig", "alg": "RS256",
                "n": Base64URL.encode(numbers.modulus), "e": Base64URL.encode(numbers.publicExponent),
            ])
        }
        for number in 0..<15 {
            keys.append(point("P-256", "ES256", number, P256.Signing.PrivateKey().publicKey.rawRepresentation))
        }
        for number in 0..<5 {
            keys.append(point("P-384", "ES384", number, P384.Signing.PrivateKey().publicKey.rawRepresentation))
            let key = Curve25519.Signing.PrivateKey().publicKey.rawRepresentation
            keys.append(["kty": "OKP", "crv": "Ed25519", "kid": "ed-\(number)", "x": Base64URL.encode(key)])
        }
        let random = Base64URL.encode((0..<256).map { _ in UInt8.random(in: 0...255) })
        for number in 0..<5 {
            keys.append(["kty": "AKP", "alg": "ML-DSA-65", "kid": "pq-\(number)", "pub": random + random])
            keys.append(["kty": "EC", "crv": "secp256k1", "kid": "k1-\(number)", "x": random, "y": random])
            keys.append(["kty": "RSA", "kid": "short-\(number)", "n": String(random.prefix(171)), "e": "AQAB"])
        }
        let data = try JSONSerialization.data(withJSONObject: ["keys": keys])
        return String(decoding: data, as: UTF8.self)
    }

    private static func point(_ curve: String, _ algorithm: String, _ number: Int, _ point: Data) -> [String: String] {
        let half = point.count / 2
        return [
            "kty": "EC", "crv": curve, "kid": "\(curve)-\(number)", "use": "sig", "alg": algorithm,
            "x": Base64URL.encode(point.prefix(half)), "y": Base64URL.encode(point.suffix(half)),
        ]
    }
}

/// Logout tokens, which any client can send to an app: each is validated like an ID token, and one that names an unknown key makes
/// the keys be fetched again, at most once in a cooling period. No account is stored, so that a token's own cost is seen.
private enum UnknownKeys {
    private static let issuer = "https://issuer.example"
    private static let flood = 10_000
    private static let valid = 200

    /// Answers as the server does, and counts how often its keys are fetched.
    private final class Server: Transport {
        private let key: P256.Signing.PublicKey
        private let count = Mutex(0)

        init(_ key: P256.Signing.PublicKey) {
            self.key = key
        }

        var fetches: Int { count.withLock { $0 } }

        func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
            let members: [String: Any]
            if request.head.path == "/jwks" {
                count.withLock { $0 += 1 }
                let point = key.rawRepresentation
                members = [
                    "keys": [
                        [
                            "kty": "EC", "crv": "P-256", "kid": "known", "use": "sig", "alg": "ES256",
                            "x": Base64URL.encode(point.prefix(32)), "y": Base64URL.encode(point.suffix(32)),
                        ]
                    ]
                ]
            } else {
                members = [
                    "issuer": issuer, "token_endpoint": issuer + "/token", "authorization_endpoint": issuer + "/a",
                    "jwks_uri": issuer + "/jwks",
                ]
            }
            return ResponseMessage(
                head: HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"]),
                content: Array(try JSONSerialization.data(withJSONObject: members)))
        }
    }

    private struct Sample {
        let alone, beside, unknown: Double
        let fetches: Int
    }

    static func run() async throws -> [Figure] {
        let all = try await samples(11, warmUp: 1) { try await sample() }
        return [
            Figure(
                "fetches for 10,000 tokens with an unknown key", "", .exactly(1),
                samples: all.map { Double($0.fetches) }),
            Figure(
                "valid tokens beside them, by valid tokens alone", "%", .atLeast(90),
                samples: all.map { $0.alone / $0.beside * 100 }),
            Figure("a valid token alone", "µs", samples: all.map { $0.alone * 1e6 }),
            Figure("a token with an unknown key", "µs", samples: all.map { $0.unknown * 1e6 }),
        ]
    }

    private static func sample() async throws -> Sample {
        let key = P256.Signing.PrivateKey()
        let server = Server(key.publicKey)
        // Each half has an app of its own, so that its vault holds as many used tokens in the one as in the other.
        let (quiet, flooded) = (try app(server), try app(server))
        try await quiet(try token(by: key, "known"))
        let alone = try await time(of: (0..<valid).map { _ in try token(by: key, "known") }, quiet)
        try await flooded(try token(by: key, "known"))
        let before = server.fetches
        let (all, wrong) = (try (0..<valid).map { _ in try token(by: key, "known") }, P256.Signing.PrivateKey())
        let forged = try (0..<200).map { try token(by: wrong, "unknown-\($0)") }
        var (beside, unknown) = (0.0, 0.0)
        for (number, token) in all.enumerated() {
            let start = processorSeconds()
            for turn in 0..<(flood / valid) {
                do {
                    try await flooded(forged[(number + turn) % forged.count])
                    throw Failure("a forged token was accepted")
                } catch is HandshakeError {}
            }
            unknown += processorSeconds() - start
            beside += try await time(of: [token], flooded) / Double(valid)
        }
        return Sample(
            alone: alone, beside: beside, unknown: unknown / Double(flood), fetches: server.fetches - before)
    }

    /// Reads a logout token, at an app that holds no account.
    private static func app(_ server: Server) throws -> (Secret) async throws -> Void {
        let service = try Service(
            name: "server", authorizationServer: .discovered(try Issuer(issuer), security: .httpsOnly))
        let client = Client(
            service: service, id: "app", redirect: .uri(try RedirectURI("com.example.app:/callback")))
        let app = try Handshake(client, vault: MemoryVault(), transport: server)
        return { _ = try await app.endSessions(logoutToken: $0) }
    }

    /// The processor time of one token. Each is timed by itself, so that as many looks at the clock are in it alone as beside others.
    private static func time(of tokens: [Secret], _ body: (Secret) async throws -> Void) async throws -> Double {
        var total = 0.0
        for token in tokens {
            let start = processorSeconds()
            try await body(token)
            total += processorSeconds() - start
        }
        return total / Double(tokens.count)
    }

    private static func token(by key: P256.Signing.PrivateKey, _ name: String) throws -> Secret {
        let now = Int(Date().timeIntervalSince1970)
        let claims: [String: Any] = [
            "iss": issuer, "aud": "app", "sub": "ada", "iat": now, "exp": now + 120, "jti": UUID().uuidString,
            "events": ["http://schemas.openid.net/event/backchannel-logout": [String: String]()],
        ]
        let parts = [["alg": "ES256", "typ": "logout+jwt", "kid": name], claims]
        let input = try parts.map { Base64URL.encode(try JSONSerialization.data(withJSONObject: $0)) }
            .joined(separator: ".")
        let signature = try key.signature(for: Data(input.utf8)).rawRepresentation
        return Secret("\(input).\(Base64URL.encode(signature))")
    }
}

/// Each service is looked up by its name, its line is read, and its addresses are checked.
private enum BuiltInServices {
    static func run() async throws -> [Figure] {
        let values = try examples()
        let names = Service.Name.all
        guard names.count >= 230 else { throw Failure("there are only \(names.count) services") }
        let times = try await samples(25, warmUp: 3) {
            let start = processorSeconds()
            for _ in 0..<10 {
                for name in names { _ = try Service.named(name, values[name.rawValue] ?? [:]) }
            }
            return (processorSeconds() - start) / 10 * 1_000
        }
        let one = try await samples(25, warmUp: 3) {
            let start = processorSeconds()
            for _ in 0..<1_000 { _ = try Service.named(.github) }
            return (processorSeconds() - start) * 1_000
        }
        return [
            Figure("all \(names.count)", "ms", .atMost(2), samples: times), Figure("one", "µs", samples: one),
        ]
    }

    /// The examples of the placeholders, as the services' lines have them.
    private static func examples() throws -> [String: [String: String]] {
        let text = try String(contentsOfFile: "../Sources/Handshake/Services/ServiceLines.swift", encoding: .utf8)
        var examples: [String: [String: String]] = [:]
        for line in text.split(separator: "\n") where line.hasPrefix("{") {
            let facts = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            guard let name = facts?["name"] as? String,
                let placeholders = facts?["placeholders"] as? [String: [String: String]]
            else { continue }
            examples[name] = placeholders.compactMapValues { $0["example"] }
        }
        return examples
    }
}
