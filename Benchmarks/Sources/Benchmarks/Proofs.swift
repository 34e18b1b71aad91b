import Crypto
import Foundation
import HTTPTypes
import OAuth

extension Benchmark {
    static let dpop = Benchmark(
        name: "dpop", summary: "proofs of a key for requests with a token, beside the bare signatures, by one thread",
        run: { _ in try await Proofs.run() })
}

/// Each proof is for a request with an access token and a nonce, and is made in full: identifier, claims, hash of the token,
/// signature. The bare signature is P-256's of as many bytes. Each sample holds both, one after the other; the time is the
/// thread's own on the processor.
private struct Proofs {
    private static let count = 500
    private static let now = 1_700_000_000.0

    private let key: DPoPKey
    private let bare = P256.Signing.PrivateKey()
    private let request: RequestMessage
    private let token = Secret(String(repeating: "Kz8mXK1EalYznwHLC1fBAo4LjpzsPE", count: 2))
    private let nonce: DPoPNonce
    /// As many bytes as a proof signs.
    private let content: [UInt8]

    static func run() async throws -> [Figure] {
        let benchmark = try Proofs()
        let pairs = try await samples(25, warmUp: 3) { (try benchmark.proofs(), try benchmark.signatures()) }
        return [
            Figure("proofs", "a second", samples: pairs.map(\.0)),
            Figure("bare P-256 signatures", "a second", samples: pairs.map(\.1)),
            Figure("proofs by bare signatures", "%", .atLeast(80), samples: pairs.map { 100 * $0.0 / $0.1 }),
        ]
    }

    private init() throws {
        key = try DPoPKey()
        request = RequestMessage(.get, try EndpointURL("https://api.example.com/v1/accounts/1234567890/items?page=2"))
        guard let nonce = DPoPNonce(in: [.dpopNonce: "eyJ7S_zG.eyJH0-Z.HX4w-7v"]) else { throw Failure("no nonce") }
        self.nonce = nonce
        let proof = try key.proof(for: request, accessToken: token, nonce: nonce, now: Self.now).reveal()
        content = Array(Array(proof.utf8).dropLast(87))
    }

    private func proofs() throws -> Double {
        let start = processorSeconds()
        for _ in 0..<Self.count { _ = try key.proof(for: request, accessToken: token, nonce: nonce, now: Self.now) }
        return Double(Self.count) / (processorSeconds() - start)
    }

    private func signatures() throws -> Double {
        let start = processorSeconds()
        for _ in 0..<Self.count { _ = try bare.signature(for: content).rawRepresentation }
        return Double(Self.count) / (processorSeconds() - start)
    }
}
