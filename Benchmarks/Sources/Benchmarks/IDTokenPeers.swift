import Crypto
import CryptoExtras
import Foundation
import OAuth

/// Whole validations of ID tokens beside swift-crypto's bare verification of the same signatures, and beside joserfc and
/// Authlib.
final class IDTokenPeers {
    private static let algorithms = ["ES256", "RS256", "PS256", "EdDSA"]

    /// What `Peers/id_tokens.py` makes.
    private struct Made: Decodable {
        let tokens: [String: String]
        let keys: String
    }

    private let process: ChildProcess
    private let made: Made
    private let keys: JSONWebKeySet

    init(_ options: Options) throws {
        process = try ChildProcess("/usr/bin/env", [options.python, "-W", "ignore", "Peers/id_tokens.py"])
        guard let line = process.readLine() else {
            throw MissingPeer(
                description: "joserfc and Authlib, which need pip install -r Peers/requirements.txt and --python PATH")
        }
        made = try JSONDecoder().decode(Made.self, from: Data(line.utf8))
        keys = try JSONWebKeySet(parsing: Array(made.keys.utf8))
    }

    deinit {
        process.kill()
        _ = process.wait()
    }

    func figures() async throws -> [Figure] {
        var figures: [Figure] = []
        for algorithm in Self.algorithms { figures += try await self.figures(algorithm) }
        return figures
    }

    private struct Rates {
        let raw, ours, joserfc, authlib: Double
    }

    private func figures(_ algorithm: String) async throws -> [Figure] {
        guard let token = made.tokens[algorithm] else { throw Failure("there is no \(algorithm) token") }
        let validator = IDTokenValidator(
            issuer: try Issuer("https://issuer.example"), clientID: "benchmark",
            nonce: Secret("bm9uY2Utb2YtdGhlLWJlbmNobWFyaw"), accessToken: nil)
        let verify = try rawVerification(of: token, algorithm)
        let count = algorithm == "RS256" || algorithm == "PS256" ? 8_000 : 2_000
        let now = Date().timeIntervalSince1970
        let rates = try await samples(11, warmUp: 1) {
            let (raw, ours) = try Self.rates(
                count, { guard verify() else { throw Failure("a signature is wrong") } },
                { _ = try validator.claims(of: Secret(token), keys: keys, now: now) })
            return Rates(
                raw: raw, ours: ours, joserfc: try ask("joserfc \(algorithm) \(count)"),
                authlib: try ask("authlib \(algorithm) \(count)"))
        }
        return [
            Figure(
                "\(algorithm): whole validations by bare verifications", "%", .atLeast(85),
                samples: rates.map { $0.ours / $0.raw * 100 }),
            Figure("\(algorithm): ours by joserfc's", "×", .atLeast(1), samples: rates.map { $0.ours / $0.joserfc }),
            Figure("\(algorithm): ours by Authlib's", "×", .atLeast(1), samples: rates.map { $0.ours / $0.authlib }),
            Figure("\(algorithm): ours", "a second", samples: rates.map(\.ours)),
        ]
    }

    private func ask(_ order: String) throws -> Double {
        process.write(order)
        guard let rate = process.readLine().flatMap(Double.init) else { throw Failure("id_tokens.py ended early") }
        return rate
    }

    /// How often each of two bodies runs in one second of processor time. They take turns, so that a processor that
    /// becomes slower becomes so for both.
    private static func rates(
        _ count: Int, _ first: () throws -> Void, _ second: () throws -> Void
    ) rethrows -> (Double, Double) {
        var spent = (0.0, 0.0)
        for _ in 0..<(count / 100) {
            let start = processorSeconds()
            for _ in 0..<100 { try first() }
            let middle = processorSeconds()
            for _ in 0..<100 { try second() }
            spent.0 += middle - start
            spent.1 += processorSeconds() - middle
        }
        return (Double(count) / spent.0, Double(count) / spent.1)
    }

    /// The verification of a token's signature, with the key and the bytes at hand.
    private func rawVerification(of token: String, _ algorithm: String) throws -> () -> Bool {
        let parts = token.split(separator: ".")
        guard parts.count == 3, let signature = Base64URL.decode(parts[2]) else { throw Failure("no token") }
        let text = Data("\(parts[0]).\(parts[1])".utf8)
        let all = try JSONSerialization.jsonObject(with: Data(made.keys.utf8)) as? [String: [[String: Any]]]
        guard let key = all?["keys"]?.first(where: { $0["alg"] as? String == algorithm }) else {
            throw Failure("there is no \(algorithm) key")
        }
        func member(_ name: String) -> Data { Data(Base64URL.decode((key[name] as? String ?? "")[...]) ?? []) }
        switch algorithm {
        case "ES256":
            let key = try P256.Signing.PublicKey(rawRepresentation: member("x") + member("y"))
            let signature = try P256.Signing.ECDSASignature(rawRepresentation: signature)
            return { key.isValidSignature(signature, for: text) }
        case "EdDSA":
            let key = try Curve25519.Signing.PublicKey(rawRepresentation: member("x"))
            return { key.isValidSignature(signature, for: text) }
        default:
            let key = try _RSA.Signing.PublicKey(n: member("n"), e: member("e"))
            let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
            let padding: _RSA.Signing.Padding = algorithm == "PS256" ? .PSS : .insecurePKCS1v1_5
            return { key.isValidSignature(signature, for: SHA256.hash(data: text), padding: padding) }
        }
    }
}
