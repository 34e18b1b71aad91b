/// Says which rolling identifier to send, and when to change it (dossier 8.4).
///
/// Identifier and Bluetooth address must change at the same moment, or one gives the other away. So a change is an order to
/// register anew, which gives the sender a fresh address.
public struct RollingBroadcast: Sendable {
    private let seed: RollingSeed
    private var current: Term?

    /// How far from a window's border the change may be, either way: chosen anew each time, so that two people who stand
    /// together do not change together.
    public static let jitter = Duration.seconds(60)

    /// What is sent, and for how long.
    public struct Term: Sendable, Hashable {
        public let window: RollingWindow
        /// The 16-byte form.
        public let token: RollingToken
        /// When to ask again; the identifier changes then.
        public let end: Timestamp
        /// When it began.
        let start: Timestamp

        /// The 4-byte form in an iBeacon; nil in the rare window in which nothing may be sent in this form.
        ///
        /// - Parameters:
        ///   - uuid: the fleet.
        ///   - power: dBm at 1 m.
        public func iBeacon(uuid: ProximityUUID, power: Int8 = -59) -> IBeacon? {
            token.short.map { IBeacon(uuid: uuid, major: $0.major, minor: $0.minor, power: power) }
        }
    }

    /// What to do now.
    public enum Step: Sendable, Hashable {
        /// Nothing: what is sent still holds.
        case keep(Term)
        /// Take down what is sent, together with its address, and put this up under a fresh one.
        case registerAnew(Term)
    }

    public init(_ seed: RollingSeed) {
        self.seed = seed
    }

    /// What to do at a time. Ask at the end of each term; asking more often does no harm.
    ///
    /// - Parameters:
    ///   - time: the present.
    ///   - generator: where the moment of the next change comes from.
    /// - Throws: ``BeaconsError/time(_:)`` before 1970.
    public mutating func step(
        at time: Timestamp, using generator: inout some RandomNumberGenerator
    ) throws(BeaconsError) -> Step {
        // A clock that was set back by more than the change may be early ends a term like one that ran on.
        if let current, time < current.end, time >= current.start.advanced(by: .zero - Self.jitter * 2) {
            return .keep(current)
        }
        var window = try RollingWindow(at: time)
        // The change may come before the border, and the next window's identifier is then up already.
        if let current, time >= current.end, window == current.window { window = window.next }
        var end = Self.change(to: window.next, using: &generator)
        if end <= time {
            window = window.next
            end = Self.change(to: window.next, using: &generator)
        }
        let term = Term(window: window, token: seed.token(in: window), end: end, start: time)
        current = term
        return .registerAnew(term)
    }

    private static func change(
        to window: RollingWindow, using generator: inout some RandomNumberGenerator
    ) -> Timestamp {
        let most = jitter.wholeMicroseconds
        return window.start.advanced(by: .microseconds(Int64.random(in: -most...most, using: &generator)))
    }
}
