import Crypto

/// The key with which a friend recognises the user for one day (dossier 8.4). It is the only secret that is shared.
///
/// Withholding tomorrow's key revokes the permission. A holder of the key can also send these identifiers: a sighting is
/// never proof.
public struct DayKey: Sendable {
    /// The day that it is valid for.
    public let day: RollingDay
    private let key: SymmetricKey

    /// The length in bytes.
    public static let length = 32

    /// Takes a shared key.
    ///
    /// - Throws: ``BeaconsError/keyLength(found:expected:)`` for anything but 32 bytes.
    public init(day: RollingDay, revealed bytes: [UInt8]) throws(BeaconsError) {
        guard bytes.count == Self.length else { throw .keyLength(found: bytes.count, expected: Self.length) }
        self.init(day, SymmetricKey(data: bytes))
    }

    init(_ day: RollingDay, _ key: SymmetricKey) {
        self.day = day
        self.key = key
    }

    /// The 32 bytes, to be sent to a friend over a confidential channel.
    public func reveal() -> [UInt8] {
        key.withUnsafeBytes { Array($0) }
    }

    /// The identifier of a window; nil when the window is not in this day.
    public func token(in window: RollingWindow) -> RollingToken? {
        window.day == day ? derive(window) : nil
    }

    /// The identifier of a window that is known to be in this day.
    func derive(_ window: RollingWindow) -> RollingToken {
        code("SH1 tok", window).withUnsafeBytes { bytes in
            RollingToken(
                high: UInt64(bigEndianBytes: bytes.prefix(8)), low: UInt64(bigEndianBytes: bytes.dropFirst(8).prefix(8))
            )
        }
    }

    /// When the service UUID of a window that is in this day is sent first (circles dossier 2): up to 299 seconds into the
    /// window, so that the changes of two members do not fall together and none has a phase that others could recognise.
    func change(to window: RollingWindow) -> Timestamp {
        let delay =
            code("SH2 off", window).withUnsafeBytes { UInt32(bigEndianBytes: $0.prefix(4)) } % Self.maximumDelays
        return window.start.advanced(by: .seconds(delay))
    }

    /// From when until when the service UUID of a window in this day is sent.
    ///
    /// - Parameters:
    ///   - window: a window of this day.
    ///   - next: the key of the next window's day; without it the latest moment counts.
    package func term(of window: RollingWindow, next: DayKey?) -> ClosedRange<Timestamp> {
        let begin = change(to: window)
        return begin...max(begin, next?.change(to: window.next) ?? Self.latestChange(to: window.next))
    }

    /// How long before and after its term a service UUID is accepted: clocks differ.
    package static let tolerance = Duration.seconds(120)

    /// One more than the longest delay in seconds.
    private static let maximumDelays: UInt32 = 300

    /// When the change is at the latest, for a window whose day's key is unknown.
    static func latestChange(to window: RollingWindow) -> Timestamp {
        window.start.advanced(by: .seconds(maximumDelays - 1))
    }

    private func code(_ label: StaticString, _ window: RollingWindow) -> HMAC<SHA256>.MAC {
        var code = HMAC<SHA256>(key: key)
        code.update(data: Array("\(label)".utf8) + window.number.bigEndianBytes)
        return code.finalize()
    }
}

extension DayKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "(secret key of day \(day.number))" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["day": day.number]) }
}
