/// A proximity that does not flap: to change bucket, the distance must pass the border by 20 % on two ticks in a row
/// (dossier 5.3).
///
/// The first known distance and one that becomes unknown count at once.
public struct SteadyProximity: Sendable, Hashable {
    /// The bucket.
    public private(set) var value = Proximity.unknown
    /// Where the last tick wanted to go.
    private var candidate: Proximity?

    /// By how much a border must be passed.
    public static let margin = 0.2

    public init() {}

    /// Takes the filtered distance of one tick, in metres; nil when it is unknown.
    public mutating func update(metres: Double?) {
        let plain = Proximity(metres: metres)
        guard let metres, plain != .unknown, value != .unknown else {
            value = plain
            candidate = nil
            return
        }
        // The nearest bucket whose outer border is passed inwards, or the farthest whose inner one is passed outwards.
        let outwards = Proximity(metres: metres / (1 + Self.margin))
        let inwards = Proximity(metres: metres / (1 - Self.margin))
        let wanted = outwards.rawValue > value.rawValue ? outwards : inwards.rawValue < value.rawValue ? inwards : value
        defer { candidate = value == wanted ? nil : wanted }
        guard let candidate else { return }
        // Two ticks that leave in the same direction have both passed the borders up to the less far of the two.
        let both = [wanted.rawValue, candidate.rawValue]
        if let least = both.min(), least > value.rawValue {
            value = Proximity(rawValue: least) ?? value
        } else if let most = both.max(), most < value.rawValue {
            value = Proximity(rawValue: most) ?? value
        }
    }
}
