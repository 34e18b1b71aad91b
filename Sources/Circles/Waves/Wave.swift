import Crypto

/// A greeting that two members see only when both of them wave.
///
/// Both have recognised the other (circles dossier 6). They derive the same value for a window in which they met, which no third member can compute. The server compares such
/// values without knowing whom they are about. A match is the claim of both, and no proof of distance.
public struct WaveSecret: Sendable {
    private let secret: SymmetricKey
    private let scope: CircleScope
    /// The day whose keys it derives from.
    public let day: UInt32

    /// How many values a wave has.
    public static let meetings = 8
    /// The length of a sealed greeting.
    public static let boxLength = 128
    /// The maximum length of a greeting's text in bytes.
    public static let maximumText = 80
    private static let plainLength = 100
    private static let windowsOfDay: UInt32 = 96

    /// Agrees on a day's secret with another member.
    ///
    /// - Parameters:
    ///   - own: the own keys.
    ///   - other: the other member's checked record.
    ///   - ownDayKey: the own key of the day, 32 bytes.
    ///   - otherDayKey: the other member's key of the day.
    ///   - day: the day, counted from 1970.
    /// - Throws: ``CircleError/weakKey``.
    public init(
        _ own: MemberKeys, _ other: MemberRecord, ownDayKey: [UInt8], otherDayKey: [UInt8], day: UInt32
    ) throws(CircleError) {
        let shared = try SharedSecretBytes.agree(own.agreement, other.agreement)
        let isLower = own.identity.lexicographicallyPrecedes(other.identity)
        let salt = isLower ? ownDayKey + otherDayKey : otherDayKey + ownDayKey
        secret = SymmetricKey(data: HKDF<SHA256>.extract(inputKeyMaterial: shared, salt: salt))
        scope = other.scope
        self.day = day
    }

    /// The value of a window; nil for a window of another day.
    public func meeting(in window: UInt32) -> [UInt8]? {
        guard window / Self.windowsOfDay == day else { return nil }
        return expand(("SH2 wave meet" as StaticString).label + scope.bytes + window.bytes, 16).withUnsafeBytes {
            Array($0)
        }
    }

    /// Seals a greeting.
    ///
    /// - Parameters:
    ///   - greeting: what the other member reads.
    ///   - identity: the sender's public key.
    /// - Throws: ``CircleError/malformed(_:)`` for a text that is too long or a window of another day.
    public func seal(_ greeting: Greeting, from identity: [UInt8]) throws -> [UInt8] {
        try seal(greeting, from: identity, nonce: ChaChaPoly.Nonce())
    }

    func seal(_ greeting: Greeting, from identity: [UInt8], nonce: ChaChaPoly.Nonce) throws -> [UInt8] {
        let text = Array(greeting.text.utf8)
        guard text.count <= Self.maximumText, MemberText.isPlain(greeting.text),
            greeting.window / Self.windowsOfDay == day
        else { throw CircleError.malformed(.wave) }
        var plain: [UInt8] = [1, 1] + greeting.window.bytes + greeting.time.bytes + UInt8(text.count).bytes + text
        plain += [UInt8](repeating: 0, count: Self.plainLength - plain.count)
        let box = try ChaChaPoly.seal(plain, using: key(of: identity), nonce: nonce, authenticating: associated)
        return Array(box.combined)
    }

    /// Opens a greeting.
    ///
    /// - Parameters:
    ///   - box: the sealed greeting.
    ///   - identity: the sender's public key.
    ///   - now: seconds since 1970.
    /// - Throws: ``CircleError/sealed`` when it is not from this member of this day; ``CircleError/malformed(_:)``;
    ///   ``CircleError/issued`` when it is older than two days, or as far in the future: it waited for an answer for a day, and
    ///   the answer another one.
    public func open(_ box: [UInt8], from identity: [UInt8], at now: UInt64) throws(CircleError) -> Greeting {
        guard box.count == Self.boxLength else { throw .malformed(.wave) }
        let plain: [UInt8]
        do {
            plain = Array(
                try ChaChaPoly.open(
                    try ChaChaPoly.SealedBox(combined: box), using: key(of: identity), authenticating: associated))
        } catch {
            throw .sealed
        }
        var reader = ByteReader(plain)
        guard reader.expect([1, 1]), let window = reader.number(UInt32.self), let time = reader.number(UInt64.self),
            let length = reader.number(UInt8.self), length <= Self.maximumText,
            let text = reader.bytes(Int(length)).flatMap({ String(validating: $0, as: UTF8.self) }),
            reader.zeros(reader.rest), window / Self.windowsOfDay == day, MemberText.isPlain(text)
        else { throw .malformed(.wave) }
        guard max(time, now) - min(time, now) <= 2 * 86_400 else { throw .issued }
        return Greeting(window: window, time: time, text: text)
    }

    private func key(of identity: [UInt8]) -> SymmetricKey {
        expand(("SH2 wave box" as StaticString).label + scope.bytes + day.bytes + identity, 32)
    }

    private var associated: [UInt8] { ("SH2 wave" as StaticString).label + scope.bytes + day.bytes }

    private func expand(_ info: [UInt8], _ count: Int) -> SymmetricKey {
        HKDF<SHA256>.expand(pseudoRandomKey: secret, info: info, outputByteCount: count)
    }
}

extension WaveSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "(secret of a wave on day \(day))" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["day": day]) }
}

/// What a wave says.
public struct Greeting: Sendable, Hashable {
    /// The newest window in which the other member was heard.
    public let window: UInt32
    /// Seconds since 1970.
    public let time: UInt64
    /// At most ``WaveSecret/maximumText`` bytes.
    public let text: String

    public init(window: UInt32, time: UInt64, text: String) {
        self.window = window
        self.time = time
        self.text = text
    }
}
