import HTTPTypes
import OAuth
import Synchronization

/// What the next proofs need to know of servers: their newest nonces, and how their clocks differ from this one.
///
/// In memory alone: a process that does not know a nonce learns it from the first answer (RFC 9449, section 8).
final class ProofMemory: Sendable {
    /// A server as the giver of nonces (RFC 9449, sections 8.2 and 9).
    private struct Giver: Hashable {
        let origin: Origin
        let role: DPoPNonce.Role
    }

    private struct State {
        /// By the thumbprint of the key.
        var nonces: [String: [Giver: DPoPNonce]] = [:]
        /// Seconds that the clock of an origin is ahead of this one.
        var offsets: [Origin: Double] = [:]
    }

    private let state = Mutex(State())

    /// The maximum number of nonces of one key.
    static let maximumNonces = 100
    /// The maximum number of keys whose nonces are known, and of origins whose clocks are.
    static let maximumCount = 4_096
    /// A clock that differs by more is not followed, in seconds.
    static let maximumOffset = 600.0
    /// An answer that took longer says nothing of the server's clock, in seconds.
    private static let maximumExchangeTime = 5.0

    func nonce(for key: DPoPKey, at origin: Origin, as role: DPoPNonce.Role) -> DPoPNonce? {
        state.withLock { $0.nonces[key.thumbprint]?[Giver(origin: origin, role: role)] }
    }

    /// Remembers the nonce of any answer: of a success, of an error, and of the answer to a retry.
    func note(_ nonce: DPoPNonce, for key: DPoPKey, at origin: Origin, as role: DPoPNonce.Role) {
        state.withLock { state in
            if state.nonces[key.thumbprint] == nil, state.nonces.count >= Self.maximumCount { state.nonces = [:] }
            var known = state.nonces[key.thumbprint] ?? [:]
            let giver = Giver(origin: origin, role: role)
            if known[giver] == nil, known.count >= Self.maximumNonces { known = [:] }
            known[giver] = nonce
            state.nonces[key.thumbprint] = known
        }
    }

    /// The time by a server's clock, in seconds since 1970. Never later than it really is there.
    func time(at origin: Origin, now: Double) -> Double {
        now + (state.withLock { $0.offsets[origin] } ?? 0)
    }

    /// The time by an authorization server's clock, for what a client signs.
    ///
    /// The token endpoint's clock comes before the issuer's: they may be at two origins, and a process with stored metadata does
    /// not ask the issuer.
    func time(of server: AuthorizationServerMetadata, now: Double) -> Double {
        let offset = state.withLock { state in
            state.offsets[server.tokenEndpoint.origin] ?? state.offsets[server.issuer.url.origin]
        }
        return now + (offset ?? 0)
    }

    /// Learns from an answer how the server's clock differs (`oauth-security.md` D11).
    ///
    /// - Parameters:
    ///   - sent: when the request was sent, in seconds since 1970.
    ///   - received: when the answer had come.
    func noteTime(in head: HTTPResponse, of origin: Origin, sent: Double, received: Double) {
        // What a cache has kept says nothing of the present (RFC 9111, section 5.1).
        guard head.headerFields[.age] == nil, received >= sent, received - sent <= Self.maximumExchangeTime,
            let text = head.headerFields[.date], text.utf8.count <= 64,
            let stated = RetryAfter.seconds(httpDate: text, now: received).map(Double.init)
        else { return }
        // The field has whole seconds. When the server's time can be this clock's, the clocks agree.
        let agrees = stated - received <= 0 && stated + 1 - sent >= 0
        let offset = agrees ? 0 : stated - received
        guard abs(offset) <= Self.maximumOffset else { return }
        state.withLock { state in
            if state.offsets[origin] == nil, state.offsets.count >= Self.maximumCount { state.offsets = [:] }
            state.offsets[origin] = offset == 0 ? nil : offset
        }
    }
}
