import Crypto
import Foundation
import Handshake
import OAuth
import Synchronization
import TestFixtures

/// An OpenID provider on a raw socket that keeps to the letter of rotation, and misbehaves in every other way.
///
/// A refresh token works once (RFC 9700, section 4.14.2). While the provider misbehaves, the one before is forgiven as long as its
/// successor was not used: an answer was lost. Every other repeat ends the user's session for good. Each refresh brings an ID token,
/// signed by the newest key. It also says who a user is, has an API, and revokes.
final class StrictProvider: Sendable {
    private struct Session {
        /// The number of the current refresh token; those before it are spent.
        var current = 0
        /// The number of the token whose answer may have been lost.
        var forgiven: Int?
        var isRevoked = false
    }

    private struct State {
        var origin = ""
        /// Where redirects lead.
        var elsewhere = ""
        var sessions: [String: Session] = [:]
        var keys = [P256.Signing.PrivateKey()]
        var requests: UInt64 = 0
        var isWell = false
        var faults: Set<ProviderFault> = []
        var rotations = 0
        var reused: [String] = []
    }

    private let state = Mutex(State())
    private let seed: UInt64
    private let now: @Sendable () -> Double

    init(seed: UInt64, now: @escaping @Sendable () -> Double) {
        (self.seed, self.now) = (seed, now)
    }

    func open(at origin: String, leadingTo elsewhere: String) {
        state.withLock { ($0.origin, $0.elsewhere) = (origin, elsewhere) }
    }

    /// From now on every answer is right.
    func recover() { state.withLock { $0.isWell = true } }

    /// Signs with a new key, and publishes it beside those before it.
    func rotateKeys() { state.withLock { $0.keys.append(P256.Signing.PrivateKey()) } }

    /// How many refreshes were processed.
    var rotations: Int { state.withLock { $0.rotations } }

    /// The ways in which answers were wrong.
    var faults: Set<ProviderFault> { state.withLock { $0.faults } }

    /// The spent refresh tokens that came again, and those that were never issued.
    var reused: [String] { state.withLock { $0.reused } }

    /// Whether an access token is the newest of its user.
    func isCurrent(_ token: String, of user: String) -> Bool {
        state.withLock { token == "token-\(user)-\($0.sessions[user]?.current ?? -1)" }
    }

    /// The grant of a sign-in, whose access token has expired.
    func firstGrant(of user: String) throws -> Grant {
        let origin = state.withLock { state in
            state.sessions[user] = Session()
            return state.origin
        }
        let claims: JSONObject = [
            "iss": .string(origin), "sub": .string(user), "aud": .string("app"), "iat": .number("1"),
            "exp": .number("600"),
        ]
        return Grant(
            accessToken: Secret("token-\(user)-0"), expiresAt: 1, issuedAt: 0,
            refreshToken: Secret("refresh-\(user)-0"), scopes: [], identity: try IDTokenClaims(claims: claims))
    }

    /// What the socket does with a request: every second answer is right, the others fail before or after the work.
    func steps(for request: [UInt8]) -> [RawServer.Step] {
        let text = String(decoding: request, as: UTF8.self)
        let (number, isWell, elsewhere) = state.withLock { state in
            state.requests += 1
            return (state.requests, state.isWell, state.elsewhere)
        }
        guard !isWell, !number.isMultiple(of: 2) else { return [Self.step(answer(to: text))] }
        let chosen = ProviderFault(seed: seed, number: number)
        // UserInfo is waited for longer than a test may take, and hostile bytes may lead a request to the API out of this machine.
        let isForAPI = text.hasPrefix("GET /userinfo ") || text.hasPrefix("GET /api ")
        let fault = isForAPI && (chosen.wantsBytes || chosen == .drip) ? .garbage : chosen
        state.withLock { _ = $0.faults.insert(fault) }
        if fault.isAfterWork {
            let right = answer(to: text, spoiledBy: fault)
            guard fault.wantsBytes else { return [Self.step(right, status: fault == .status ? "099" : nil)] }
        }
        return fault.steps(seed: seed, number: number, request: text, elsewhere: elsewhere)
    }

    private static func step(_ answer: (status: Int, content: String), status: String? = nil) -> RawServer.Step {
        let head = "HTTP/1.1 \(status ?? "\(answer.status)") X\r\nContent-Type: application/json\r\n"
        return .send(Array("\(head)Content-Length: \(answer.content.utf8.count)\r\n\r\n\(answer.content)".utf8))
    }

    private func answer(to request: String, spoiledBy fault: ProviderFault? = nil) -> (status: Int, content: String) {
        if request.hasPrefix("GET /jwks ") { return (200, keySet(isStale: fault != nil)) }
        if request.hasPrefix("GET /userinfo ") || request.hasPrefix("GET /api ") {
            let user = request.firstMatch(of: /(?i)authorization: bearer token-([^-]+)-/).map { String($0.1) } ?? ""
            return (200, fault == .garbage ? "{" : #"{"sub":"\#(fault == .subject ? "user0x" : user)"}"#)
        }
        if request.hasPrefix("POST /revoke ") {
            revoke(request.firstMatch(of: /token=([^&]+)/).map { String($0.1) } ?? "")
            return (200, "")
        }
        let token = request.firstMatch(of: /refresh_token=([^&]+)/).map { String($0.1) } ?? ""
        let parts = token.split(separator: "-").map(String.init)
        guard parts.count == 3, let number = Int(parts[2]), let issued = rotate(parts[1], number) else {
            state.withLock { $0.reused.append(token) }
            return (400, #"{"error":"invalid_grant","error_description":"spent"}"#)
        }
        let access = "token-\(parts[1])-\(issued)"
        return (
            200,
            """
            {"access_token":"\(access)","token_type":"Bearer","expires_in":\(fault == .lifetime ? "-1e400" : "60"),\
            "refresh_token":"refresh-\(parts[1])-\(issued)","id_token":"\(idToken(of: parts[1], access, spoiledBy: fault))"}
            """
        )
    }

    /// The number of the next tokens; nil for a refresh token that does not count.
    private func rotate(_ user: String, _ number: Int) -> Int? {
        state.withLock { state in
            guard var session = state.sessions[user], !session.isRevoked else { return nil }
            guard number == session.current || number == session.forgiven else {
                state.sessions[user]?.isRevoked = true
                return nil
            }
            session.forgiven = state.isWell ? nil : number
            session.current += 1
            state.rotations += 1
            state.sessions[user] = session
            return session.current
        }
    }

    /// Ends the session of a refresh token. An access token ends by itself.
    private func revoke(_ token: String) {
        let parts = token.split(separator: "-").map(String.init)
        guard parts.count == 3, parts[0] == "refresh" else { return }
        state.withLock { state in
            guard var session = state.sessions[parts[1]] else { return }
            session.isRevoked = true
            state.sessions[parts[1]] = session
        }
    }

    private func idToken(of user: String, _ access: String, spoiledBy fault: ProviderFault?) -> String {
        guard fault != .garbage else { return "eyJh.bGci.OiJub25lIn0" }
        let (origin, key, number) = state.withLock { ($0.origin, $0.keys[$0.keys.count - 1], $0.keys.count - 1) }
        let hash = Base64URL.encode(Array(SHA256.hash(data: Data(access.utf8))).prefix(16))
        let header = #"{"alg":"ES256","kid":"\#(number)"}"#
        let time = Int(now()) - (fault == .expiry ? 100_000 : 0)
        let payload = """
            {"iss":"\(fault == .issuer ? "https://evil.example" : origin)","sub":"\(fault == .subject ? "user0x" : user)",\
            "aud":"\(fault == .audience ? "another" : "app")","iat":\(time),"exp":\(time + 300),"at_hash":"\(hash)"}
            """
        let input = Base64URL.encode(header.utf8) + "." + Base64URL.encode(payload.utf8)
        let signature = (try? key.signature(for: Data(input.utf8)).rawRepresentation) ?? Data()
        return input + "." + Base64URL.encode(signature)
    }

    /// The newest keys; a stale set lacks those of the last rotations.
    private func keySet(isStale: Bool) -> String {
        let all = Array(state.withLock { $0.keys }.enumerated())
        let keys = (isStale ? all.prefix(1) : all.suffix(100)).map { number, key in
            let point = key.publicKey.rawRepresentation
            return """
                {"kty":"EC","crv":"P-256","kid":"\(number)","x":"\(Base64URL.encode(point.prefix(32)))",\
                "y":"\(Base64URL.encode(point.suffix(32)))"}
                """
        }
        return #"{"keys":[\#(keys.joined(separator: ","))]}"#
    }
}
