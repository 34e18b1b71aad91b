import Crypto
import Foundation
import HTTPTypes
import OAuth
import Sandbox
import Testing

@testable import Handshake

/// The proof of a request that was sent (RFC 9449, section 4.2), verified with the P-256 key in it.
struct SentProof {
    let claims: JSONObject
    let thumbprint: String

    /// Nil for a request without a proof.
    init?(_ request: RequestMessage) throws {
        let fields = request.head.headerFields[values: .dpop]
        guard !fields.isEmpty else { return nil }
        try #require(fields.count == 1)
        let parts = fields[0].split(separator: ".", omittingEmptySubsequences: false)
        try #require(parts.count == 3)
        claims = try Self.object(parts[1])
        let key = try #require(try Self.object(parts[0])["jwk"]?.object)
        thumbprint = try #require(key.thumbprint)
        let point = ["x", "y"].flatMap { key[$0]?.string.flatMap { Base64URL.decode($0) } ?? [] }
        let bytes = try #require(Base64URL.decode(parts[2]))
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: bytes)
        let isSigned = try P256.Signing.PublicKey(rawRepresentation: point).isValidSignature(
            signature, for: Data("\(parts[0]).\(parts[1])".utf8))
        try #require(isSigned)
    }

    /// The object that a part of a signed text holds.
    static func object(_ part: Substring) throws -> JSONObject {
        let bytes = try #require(Base64URL.decode(part))
        return try #require(try JSONValue(parsing: bytes).object)
    }

    subscript(name: String) -> String? { claims[name]?.string }

    /// The proofs of the requests to a path; a request without one fails the test.
    static func all(_ requests: [RequestMessage], to path: String) throws -> [SentProof] {
        try requests.filter { $0.head.path == path }.map { request in
            let proof = try SentProof(request)
            return try #require(proof)
        }
    }
}

extension ScriptedProvider {
    /// Every request so far.
    var requests: [RequestMessage] {
        var requests: [RequestMessage] = []
        change { requests = $0.requests }
        return requests
    }

    /// Makes the tokens bound ones: `token_type` is `DPoP`.
    func bindTokens() {
        answer("/token") { try self.boundTokens($0) }
    }

    /// The provider's own tokens, as bound ones.
    func boundTokens(_ request: RequestMessage) throws -> ResponseMessage {
        let answer = try answer("/token", request)
        var members = try JSONSerialization.jsonObject(with: Data(answer.content)) as? [String: Any] ?? [:]
        members["token_type"] = "DPoP"
        return .json(200, members)
    }

    /// Answers a path otherwise.
    func answer(_ path: String, _ answer: @escaping @Sendable (RequestMessage) async throws -> ResponseMessage) {
        change { $0.overrides[path] = answer }
    }

    /// Adds members to the metadata.
    func announce(_ more: [String: any Sendable]) {
        answer("/.well-known/openid-configuration") { request in
            let answer = try self.answer("/.well-known/openid-configuration", request)
            let members = try JSONSerialization.jsonObject(with: Data(answer.content)) as? [String: Any] ?? [:]
            return .json(200, members.merging(more) { $1 })
        }
    }

    /// An app whose tokens are bound.
    func boundApp(_ binding: Client.Options.Binding = .always, vault: any Vault = MemoryVault()) throws -> Handshake {
        var client = try client()
        client.options.dpop = binding
        return try Handshake(client, vault: vault, transport: self, time: time.source)
    }
}

extension World {
    /// A client of the sandbox's standard server whose tokens are bound.
    func boundClient(_ id: String = "sandbox-dpop", _ binding: Client.Options.Binding = .always) throws -> Client {
        let known = try #require(sandbox.standard.clients.first { $0.id == id })
        var client =
            if let secret = known.secret {
                Client.confidential(service: try service(), id: id, secret: Secret(secret))
            } else { Client(service: try service(), id: id) }
        client.options.dpop = binding
        return client
    }

    /// The statuses of the requests to a path.
    func statuses(_ path: String) -> [Int?] {
        sandbox.requests(.standard).filter { $0.path == path }.map(\.status)
    }

    /// Whom the standard server's example API knows.
    var whoAmI: String { sandbox.standard.origin + "/api/whoami" }
}

/// Answers in their order; the last one stays.
actor Script {
    private var answers: [ResponseMessage]
    private(set) var count = 0

    init(_ answers: [ResponseMessage]) {
        self.answers = answers
    }

    func next() -> ResponseMessage {
        count += 1
        return answers.count > 1 ? answers.removeFirst() : answers[0]
    }

    /// The error by which an authorization server demands a nonce (RFC 9449, section 8).
    static func demand(_ nonce: String?, status: Int = 400) -> ResponseMessage {
        .json(status, ["error": "use_dpop_nonce"], nonce.map { [.dpopNonce: $0] } ?? [:])
    }

    /// The challenge by which a resource demands a nonce (RFC 9449, section 9).
    static func challenge(_ nonce: String?, _ text: String = #"DPoP error="use_dpop_nonce""#) -> ResponseMessage {
        var fields: HTTPFields = [.wwwAuthenticate: text]
        fields[.dpopNonce] = nonce
        return .json(401, [:], fields)
    }
}
