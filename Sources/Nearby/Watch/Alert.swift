public import Beacons

/// What the user is told about a person who is near.
///
/// The texts came over the air or from a service: whoever shows them escapes them for the place where they appear.
public struct Alert: Sendable, Hashable {
    public let person: UserNumber
    /// Who it is; nil when only the number is known so far.
    public let known: Person?
    /// How near the person was when the alert was raised.
    public let proximity: Proximity
    /// Whether it replaces an earlier alert about the same encounter, because more is known now.
    public let isUpdate: Bool

    /// Describes an alert.
    public init(person: UserNumber, known: Person?, proximity: Proximity = .unknown, isUpdate: Bool = false) {
        self.person = person
        self.known = known
        self.proximity = proximity
        self.isUpdate = isUpdate
    }
}

extension Alert {
    /// The name, or the number when that is all there is. Not escaped.
    public var title: String {
        known.map { "\($0.name) is near" } ?? "Somebody with the number \(person) is near"
    }

    /// Batch and nearness, as far as they are known. Not escaped.
    public var body: String? {
        let nearness: String? =
            switch proximity {
            case .unknown: nil
            case .immediate: "right here"
            case .near: "a few steps away"
            case .far: "farther off"
            }
        let facts = [known?.batch, nearness].compactMap(\.self)
        return facts.isEmpty ? nil : facts.joined(separator: ", ")
    }
}

/// Where alerts appear: on a desktop, in a terminal, on a phone.
public protocol Alerts: Sendable {
    /// Shows an alert, or replaces the one about the same person. A place that cannot show it says so by itself; an
    /// encounter does not fail because of it.
    func show(_ alert: Alert) async
}
