public import OAuth

/// The `state` of an attempt (RFC 6749, section 10.12; dossier 10.2, W9). It is 256 random bits that the callback URL
/// carries and the redirect must return.
///
/// A value is used for one attempt and never printed. It is stored with the activation, which must survive the app being
/// killed while the browser is open.
public struct AttemptState: Sendable, Hashable, Codable {
    private let text: String

    /// Creates a random value.
    public init(random: RandomSource = .system) {
        text = Base64URL.encode(random.bytes(32))
    }

    /// The characters in the callback URL: letters, digits, hyphens and underscores.
    func reveal() -> String { text }

    /// Compares in time that depends on the lengths only.
    func matches(_ other: String) -> Bool {
        constantTimeEqual(text.utf8, other.utf8)
    }
}

extension AttemptState: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public static func == (left: AttemptState, right: AttemptState) -> Bool { left.matches(right.text) }

    public var description: String { "(state)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// An IFTTT user token: for one user of one partner service (dossier 0).
///
/// Not `Codable`, so that it cannot be stored outside a vault by accident.
public struct UserToken: Sendable {
    /// The token, for sending or encrypted storage.
    public let secret: Secret

    /// Validates a token.
    ///
    /// - Returns: nil when it is empty, longer than 4096 bytes, or has a character that is invalid in a header field.
    public init?(_ secret: Secret) {
        let bytes = secret.reveal().utf8
        guard (1...4096).contains(bytes.count), bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        self.secret = secret
    }
}

extension UserToken: Equatable {
    public static func == (left: UserToken, right: UserToken) -> Bool { left.secret.matches(right.secret) }
}

extension UserToken: CustomStringConvertible, CustomReflectable {
    public var description: String { "(user token)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
