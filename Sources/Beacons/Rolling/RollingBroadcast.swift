/// Schedules the rotation of rolling identifiers (dossier 8.4 and circles dossier 2).
///
/// Identifier and Bluetooth address must change at the same moment, or one reveals the other. A rotation therefore
/// registers a new advertisement, which gets a fresh address.
///
/// A radio has one or more advertising instances, each of which carries one scope, or several that take turns. In window w,
/// instance i of n carries the scope (w · n + i) mod scopes, so that each has its turn and none is in two instances.
package struct RollingBroadcast: Sendable {
    /// When identifiers change.
    package enum Schedule: Sendable, Hashable {
        /// Up to a minute before or after a window's border, drawn each time: for the forms of the beacons dossier.
        case drawn
        /// At the moment that derives from the window's key, which receivers know: for service UUIDs.
        case derived
    }

    /// One for each scope, never empty.
    private let seeds: [RollingSeed]
    private let instance: Int
    private let instances: Int
    private let schedule: Schedule
    private var current: Term?

    /// How far a rotation may be from the window's start or end, either way: drawn each time, so that two people who stand
    /// together do not rotate together.
    package static let jitter = Duration.seconds(60)

    /// An identifier and how long it is sent.
    package struct Term: Sendable, Hashable {
        package let window: RollingWindow
        /// The 16-byte form.
        package let token: RollingToken
        /// The form that every platform can send.
        package var uuid: RollingUUID { RollingUUID(token) }
        /// The time of the rotation; call ``step(at:using:)`` then.
        package let end: Timestamp
        /// When it began.
        let start: Timestamp

        /// The 4-byte form in an iBeacon; nil in the rare window without one.
        ///
        /// - Parameters:
        ///   - uuid: the fleet.
        ///   - power: dBm at 1 m.
        package func iBeacon(uuid: ProximityUUID, power: Int8 = -59) -> IBeacon? {
            token.short.map { IBeacon(uuid: uuid, major: $0.major, minor: $0.minor, power: power) }
        }
    }

    /// The action to take.
    package enum Step: Sendable, Hashable {
        /// Continue with the current identifier.
        case keep(Term)
        /// Unregister the advertisement and its address, and register this identifier under a fresh one.
        case rotate(Term)
        /// Send nothing until then: the term of one scope is over, and that of the next has not begun.
        case silence(until: Timestamp)
    }

    package init(_ seed: RollingSeed, schedule: Schedule = .drawn) {
        self.init(of: [seed], schedule: schedule)
    }

    /// - Parameters:
    ///   - seeds: one for each scope, at least one.
    ///   - instance: the advertising instance, from 0.
    ///   - instances: how many of them are used, at most as many as seeds.
    ///   - schedule: when identifiers change.
    package init(of seeds: [RollingSeed], instance: Int = 0, of instances: Int = 1, schedule: Schedule = .drawn) {
        precondition(!seeds.isEmpty && (0..<instances).contains(instance) && instances <= seeds.count)
        self.seeds = seeds
        self.instance = instance
        self.instances = instances
        self.schedule = schedule
    }

    /// The seed of the scope whose turn a window is.
    private func seed(in window: RollingWindow) -> RollingSeed {
        seeds[(Int(window.number) * instances + instance) % seeds.count]
    }

    /// The action at a time. Call it at the end of each term; more often does no harm.
    ///
    /// - Parameters:
    ///   - time: the present.
    ///   - generator: draws the moment of the next rotation.
    /// - Throws: ``BeaconsError/time(_:)`` before 1970.
    package mutating func step(
        at time: Timestamp, using generator: inout some RandomNumberGenerator
    ) throws(BeaconsError) -> Step {
        guard schedule == .drawn else { return try derivedStep(at: time) }
        // A clock that was set back by more than the jitter ends the term as well.
        if let current, time < current.end, time >= current.start.advanced(by: .zero - Self.jitter * 2) {
            return .keep(current)
        }
        var window = try RollingWindow(at: time)
        // The rotation can precede the window's end; then the next window's identifier is already current.
        if let current, time >= current.end, window == current.window { window = window.next }
        var end = Self.change(to: window.next, using: &generator)
        if end <= time {
            window = window.next
            end = Self.change(to: window.next, using: &generator)
        }
        let term = Term(window: window, token: seed(in: window).token(in: window), end: end, start: time)
        current = term
        return .rotate(term)
    }

    private mutating func derivedStep(at time: Timestamp) throws(BeaconsError) -> Step {
        var window = try RollingWindow(at: time)
        if time < seed(in: window).change(to: window) { window = window.previous }
        let seed = self.seed(in: window)
        let (own, following) = (seed.change(to: window.next), self.seed(in: window.next).change(to: window.next))
        guard time < own else {
            current = nil
            return .silence(until: following)
        }
        if let current, current.window == window { return .keep(current) }
        let term = Term(
            window: window, token: seed.token(in: window), end: min(own, following), start: seed.change(to: window))
        current = term
        return .rotate(term)
    }

    private static func change(
        to window: RollingWindow, using generator: inout some RandomNumberGenerator
    ) -> Timestamp {
        let most = jitter.wholeMicroseconds
        return window.start.advanced(by: .microseconds(Int64.random(in: -most...most, using: &generator)))
    }
}
