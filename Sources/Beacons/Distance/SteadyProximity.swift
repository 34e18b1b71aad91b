/// A proximity with hysteresis: it changes when the distance passes the limit by 20 % in two successive ticks
/// (dossier 5.3).
///
/// The first known distance, and a change to unknown, apply immediately.
package struct SteadyProximity: Sendable, Hashable {
    /// The proximity.
    package private(set) var value = Proximity.unknown
    /// The change that the last tick asked for.
    private var candidate: Proximity?

    /// By how much a limit must be passed.
    package static let margin = 0.2

    package init() {}

    /// Applies the filtered distance of one tick, in metres; nil when unknown.
    package mutating func update(metres: Double?) {
        let plain = Proximity(metres: metres)
        guard let metres, plain != .unknown, value != .unknown else {
            value = plain
            candidate = nil
            return
        }
        // The nearest range whose outer limit is passed inwards, or the farthest whose inner limit is passed outwards.
        let outwards = Proximity(metres: metres / (1 + Self.margin))
        let inwards = Proximity(metres: metres / (1 - Self.margin))
        let wanted = outwards.rawValue > value.rawValue ? outwards : inwards.rawValue < value.rawValue ? inwards : value
        defer { candidate = value == wanted ? nil : wanted }
        guard let candidate else { return }
        // Two ticks in the same direction have both passed the limits up to the smaller of the two changes.
        let both = [wanted.rawValue, candidate.rawValue]
        if let least = both.min(), least > value.rawValue {
            value = Proximity(rawValue: least) ?? value
        } else if let most = both.max(), most < value.rawValue {
            value = Proximity(rawValue: most) ?? value
        }
    }
}
