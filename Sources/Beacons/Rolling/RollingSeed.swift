import Crypto

/// The secret of a user's rolling identifiers in one scope: 32 random bytes.
///
/// A scope is a circle, or all friends; each has a seed of its own (dossier 8.4, circles dossier 2).
///
/// It stays on the device and is never shared; ``dayKey(for:)`` is what is shared. It cannot be printed, reflected, compared
/// or encoded by accident.
public struct RollingSeed: Sendable {
    private let key: SymmetricKey

    /// The length in bytes.
    public static let length = 32

    /// Restores a stored seed.
    ///
    /// - Throws: ``BeaconsError/keyLength(found:expected:)`` for anything but 32 bytes.
    public init(revealed bytes: [UInt8]) throws(BeaconsError) {
        guard bytes.count == Self.length else { throw .keyLength(found: bytes.count, expected: Self.length) }
        key = SymmetricKey(data: bytes)
    }

    private init(_ key: SymmetricKey) {
        self.key = key
    }

    /// A new seed from the operating system's random bytes.
    public static func random() -> RollingSeed {
        RollingSeed(SymmetricKey(size: .bits256))
    }

    /// The 32 bytes, for encrypted storage.
    public func reveal() -> [UInt8] {
        key.withUnsafeBytes { Array($0) }
    }

    /// The key of one day, to be given to friends. It resolves this day's identifiers and no others.
    public func dayKey(for day: RollingDay) -> DayKey {
        let info = Array("SH1 day".utf8) + day.number.bigEndianBytes
        return DayKey(day, HKDF<SHA256>.deriveKey(inputKeyMaterial: key, info: info, outputByteCount: DayKey.length))
    }

    /// When the service UUID of a window is sent first (circles dossier 2).
    public func change(to window: RollingWindow) -> Timestamp {
        dayKey(for: window.day).change(to: window)
    }

    /// The identifier of a window.
    public func token(in window: RollingWindow) -> RollingToken {
        dayKey(for: window.day).derive(window)
    }
}

extension RollingSeed: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "(secret seed)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
