#if Sandbox
import Crypto
import SandboxCore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What the standard server knows of proofs (RFC 9449): which were used, which tokens are bound to which key, and its nonces.
///
/// A class, because the endpoints and the resources share it.
final class ProofChecks: Sendable {
    /// Which server issues a nonce. The authorization server and the resources share an origin and have nonces of their own.
    enum Role: Sendable {
        case authorizationServer, resource
    }

    /// Whose a nonce is: clients with another rule have another one.
    private struct Place: Hashable {
        let role: Role
        let rule: SandboxClient.ProofRule
    }

    /// A nonce, when it was made, and the number of proofs that it was in.
    private struct Nonce {
        let text = RandomText.base64URL(bytes: 12)
        let begin: Double
        var uses = 0
    }

    private struct State {
        /// The identifiers that were used, and when.
        var used: [String: Double] = [:]
        /// The thumbprints of the keys that tokens are bound to.
        var keys: [String: String] = [:]
        var nonces: [Place: Nonce] = [:]

        /// The nonce that counts at a time.
        mutating func nonce(of place: Place, at now: Double) -> String {
            let lifetime = place.rule.nonceLifetime ?? .infinity
            if let nonce = nonces[place], now - nonce.begin < lifetime { return nonce.text }
            let nonce = Nonce(begin: now)
            nonces[place] = nonce
            return nonce.text
        }

        /// Counts a proof with the nonce, which ends with the last one that it is for.
        mutating func useNonce(of place: Place) {
            nonces[place]?.uses += 1
            guard let maximum = place.rule.usesOfNonce, let nonce = nonces[place], nonce.uses >= maximum else { return }
            nonces[place] = nil
        }
    }

    private let state = Mutex(State())

    /// Seconds by which `iat` may differ.
    private static let window = 10.0

    /// The key of a request's proof at an endpoint of the authorization server; nil without a proof.
    func thumbprint(
        ofProofIn request: IncomingRequest, _ rule: SandboxClient.ProofRule, at server: AuthorizationServer
    ) throws(ProofFailure) -> String? {
        guard let proof = try ProofVerifier(request) else {
            guard rule == .optional else { throw .invalid("The request needs a proof.") }
            return nil
        }
        try check(proof, of: request, with: nil, rule, as: .authorizationServer, at: server, server.root)
        return proof.thumbprint
    }

    /// Checks the proof of a request to a resource with a token that is bound to a key.
    ///
    /// - Parameter origin: where the resource is; nil for the server's own origin.
    func check(
        _ request: IncomingRequest, with token: String, of thumbprint: String, _ rule: SandboxClient.ProofRule,
        at server: AuthorizationServer, origin: String? = nil
    ) throws(ProofFailure) {
        guard let proof = try ProofVerifier(request) else { throw .invalid("The request needs a proof.") }
        guard proof.thumbprint == thumbprint else { throw .invalid("The token is bound to another key.") }
        try check(proof, of: request, with: token, rule, as: .resource, at: server, origin ?? server.root)
    }

    /// RFC 9449 section 4.3, points 8 to 12, and section 11.1.
    private func check(
        _ proof: ProofVerifier, of request: IncomingRequest, with token: String?, _ rule: SandboxClient.ProofRule,
        as role: Role, at server: AuthorizationServer, _ origin: String
    ) throws(ProofFailure) {
        let now = server.clock.now
        guard case .string(request.method)? = proof.claims["htm"] else { throw .invalid("htm is another method.") }
        guard case .string((request.origin ?? origin) + request.path)? = proof.claims["htu"] else {
            throw .invalid("htu is another address.")
        }
        guard let issuedAt = proof.claims["iat"]?.integer, abs(Double(issuedAt) - now) <= Self.window else {
            throw .invalid("iat is too early or too late.")
        }
        let hash = token.map { URLSafeBase64.encoded(SHA256.hash(data: Data($0.utf8))) }
        guard proof.claims["ath"]?.scalarText == hash else { throw .invalid("ath is another token's, or missing.") }
        guard let identifier = proof.claims["jti"]?.scalarText, identifier.utf8.count >= 16 else {
            throw .invalid("jti is missing or too short.")
        }
        let isFresh = state.withLock { state in
            if state.used.count >= 100_000 { state.used = state.used.filter { now - $0.value <= 2 * Self.window } }
            return state.used.updateValue(now, forKey: proof.thumbprint + identifier) == nil
        }
        guard isFresh else { throw .invalid("The proof was used before.") }
        guard rule.demandsNonce else { return }
        let place = Place(role: role, rule: rule)
        let isRight = state.withLock { state in
            let isRight = proof.claims["nonce"]?.scalarText == state.nonce(of: place, at: now)
            if isRight { state.useNonce(of: place) }
            return isRight
        }
        guard isRight else { throw .nonce }
    }

    /// A code counts only for the key that it was asked for with (RFC 9449 section 10). A public client's refresh token counts
    /// only for the key that it was issued to (RFC 9449 section 5).
    func checkBinding(
        of form: FormParameters, by client: SandboxClient, to thumbprint: String?, at server: AuthorizationServer
    ) throws(ProofFailure) {
        let grant = server.state.withLock { $0.store.grant(ofCode: form["code"]) }
        if let bound = grant?.keyThumbprint, bound != thumbprint {
            throw ProofFailure(code: "invalid_grant", detail: "The code is bound to another key.")
        }
        guard let token = form["refresh_token"], let bound = self.thumbprint(of: token) else { return }
        guard thumbprint != nil else { throw .invalid("The refresh needs a proof.") }
        guard client.kind == .confidential || bound == thumbprint else {
            throw .invalid("The refresh token is bound to another key.")
        }
    }

    /// The key that a token is bound to; nil for a bearer token.
    func thumbprint(of token: String) -> String? {
        state.withLock { $0.keys[token] }
    }

    func bind(_ tokens: IssuedTokens, to thumbprint: String) {
        state.withLock { state in
            state.keys[tokens.accessToken] = thumbprint
            if let token = tokens.refreshToken { state.keys[token] = thumbprint }
        }
    }

    /// The answer with the nonce for the next proof, where the client needs one.
    func withNonce(
        _ answer: Answer, _ rule: SandboxClient.ProofRule, as role: Role, at server: AuthorizationServer
    ) -> Answer {
        guard rule.demandsNonce else { return answer }
        let (place, now) = (Place(role: role, rule: rule), server.clock.now)
        return answer.setting("DPoP-Nonce", state.withLock { $0.nonce(of: place, at: now) })
    }

    func rotateNonces() {
        state.withLock { $0.nonces = [:] }
    }
}
#endif
