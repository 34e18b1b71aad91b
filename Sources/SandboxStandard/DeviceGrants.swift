#if Sandbox
import SandboxCore
import Synchronization

/// The device codes of the standard server and what their users decided (RFC 8628).
///
/// A class, because its pages, its endpoints and tests share its state.
final class DeviceGrants: Sendable {
    static let grantType = "urn:ietf:params:oauth:grant-type:device_code"
    /// Seconds for which a code is valid.
    static let lifetime = 600
    /// Seconds between two polls at first.
    static let interval = 5
    /// Letters that form no words and are not taken for one another (RFC 8628 section 6.1).
    private static let letters = Array("BCDFGHJKLMNPQRSTVWXZ")

    enum Decision: Sendable {
        case pending
        case denied
        case approved(SandboxUser, at: Double)
    }

    /// A request of a device, until its tokens are fetched.
    struct Pending: Sendable {
        let client: SandboxClient
        let scope: [String]
        /// The APIs that its tokens are for (RFC 8707).
        let resources: [String]
        let userCode: String
        let expiresAt: Double
        var decision = Decision.pending
        var interval = Double(DeviceGrants.interval)
        /// When the device last asked.
        var askedAt: Double
    }

    let server: AuthorizationServer
    private let pending = Mutex<[String: Pending]>([:])

    init(server: AuthorizationServer) {
        self.server = server
    }

    /// The answer of the device authorization endpoint (RFC 8628 section 3.2).
    func begin(for client: SandboxClient, scope: [String], resources: [String] = []) -> JSON {
        let now = server.clock.now
        let deviceCode = RandomText.base64URL(bytes: 24)
        let userCode = pending.withLock { pending in
            pending = pending.filter { $0.value.expiresAt > now }
            var code = Self.newUserCode()
            while pending.values.contains(where: { $0.userCode == code }) { code = Self.newUserCode() }
            pending[deviceCode] = Pending(
                client: client, scope: scope, resources: resources, userCode: code,
                expiresAt: now + Double(Self.lifetime), askedAt: now)
            return code
        }
        let page = server.origin + "/device"
        return [
            "device_code": .string(deviceCode), "user_code": .string(userCode), "verification_uri": .string(page),
            "verification_uri_complete": .string(page + "?user_code=" + userCode),
            "expires_in": .number(Self.lifetime), "interval": .number(Self.interval),
        ]
    }

    private static func newUserCode() -> String {
        let text = (0..<8).map { _ in letters[Int.random(in: 0..<letters.count)] }
        return String(text[..<4]) + "-" + String(text[4...])
    }

    /// Answers a poll (RFC 8628 section 3.5). A code brings tokens once.
    func redeem(_ deviceCode: String?, by client: SandboxClient) throws(OAuthFailure) -> IssuedTokens {
        guard let deviceCode else { throw .invalidRequest("device_code is missing.") }
        let now = server.clock.now
        let answer = pending.withLock { $0.answer(to: deviceCode, by: client, at: now) }
        return server.issueTokens(for: try answer.get(), by: client)
    }

    /// The request behind what a user typed, in any case of letters and with or without the hyphen (RFC 8628 section 6.1).
    func request(_ typed: String) -> Pending? {
        let now = server.clock.now
        let wanted = Self.plain(typed)
        return pending.withLock { pending in
            pending.values.first { Self.plain($0.userCode) == wanted && $0.expiresAt > now && $0.isUndecided }
        }
    }

    /// Notes the user's decision; false when the code is unknown, expired or decided.
    func decide(_ typed: String, _ decision: Decision) -> Bool {
        let now = server.clock.now
        let wanted = Self.plain(typed)
        return pending.withLock { pending in
            guard
                let key = pending.first(where: {
                    Self.plain($0.value.userCode) == wanted && $0.value.expiresAt > now && $0.value.isUndecided
                })?.key
            else { return false }
            pending[key]?.decision = decision
            return true
        }
    }

    private static func plain(_ code: String) -> [UInt8] {
        code.utf8.prefix(64).compactMap { byte in
            switch byte {
            case 0x41...0x5A: byte
            case 0x61...0x7A: byte - 0x20
            default: nil
            }
        }
    }
}

extension DeviceGrants.Pending {
    var isUndecided: Bool {
        if case .pending = decision { true } else { false }
    }
}

extension [String: DeviceGrants.Pending] {
    /// What the user gave, once; otherwise why there are no tokens.
    fileprivate mutating func answer(
        to deviceCode: String, by client: SandboxClient, at now: Double
    ) -> Result<SandboxGrant, OAuthFailure> {
        guard let request = self[deviceCode], request.client.id == client.id else {
            return .failure(.invalidGrant("The device code is unknown or was issued to another client."))
        }
        guard now < request.expiresAt else {
            return .failure(OAuthFailure(code: "expired_token", detail: "The device code has expired."))
        }
        // Half a second less than the interval still counts: timers are not exact.
        let isTooSoon = now - request.askedAt < request.interval - 0.5
        self[deviceCode]?.askedAt = now
        switch request.decision {
        case .denied:
            return .failure(OAuthFailure(code: "access_denied", detail: "The user did not allow access."))
        case .pending where isTooSoon:
            self[deviceCode]?.interval += 5
            return .failure(OAuthFailure(code: "slow_down", detail: "The device polls too often."))
        case .pending:
            return .failure(
                OAuthFailure(code: "authorization_pending", detail: "The user has not decided yet."))
        case .approved(let user, let time):
            self[deviceCode] = nil
            var grant = SandboxGrant(clientID: client.id, user: user, scope: request.scope, authenticatedAt: time)
            grant.resources = request.resources
            return .success(grant)
        }
    }
}
#endif
