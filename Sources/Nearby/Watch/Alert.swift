public import Beacons
public import Circles

/// An alert about a person who is near.
///
/// The texts came over the air or from a service: escape them for the place where they appear.
public struct Alert: Sendable, Hashable {
    public let person: UserNumber
    /// The profile; nil when only the number is known.
    public let known: Person?
    /// How near the person was when the alert was raised.
    public let proximity: Proximity
    /// Whether the proximity is a guess.
    ///
    /// The sender states no power then, so a usual one is assumed.
    public let isRough: Bool
    /// How sure it is who it is. Any sender can use a plain number.
    public let trust: Trust
    /// The circle whose keys recognised the person.
    ///
    /// Nil for a friend, and for a plain number, which any device can send.
    public let circle: CircleScope?
    /// Whether another device may relay the person's identifier.
    public let isRelayed: Bool
    /// Whether it replaces an earlier alert about the same encounter. It then has more information.
    public let isUpdate: Bool

    /// Creates an alert.
    public init(
        person: UserNumber, known: Person?, proximity: Proximity = .unknown, isRough: Bool = false,
        trust: Trust = .unverified, circle: CircleScope? = nil, isRelayed: Bool = false, isUpdate: Bool = false
    ) {
        self.person = person
        self.known = known
        self.proximity = proximity
        self.isRough = isRough
        self.trust = trust
        self.circle = circle
        self.isRelayed = isRelayed
        self.isUpdate = isUpdate
    }
}

extension Alert {
    /// The name, or the number when the name is unknown. Not escaped.
    public var title: String {
        known.map { "\($0.name) is near" } ?? "Person \(person) is near"
    }

    /// Batch and proximity, where known, and what makes the person doubtful. Not escaped.
    public var body: String {
        let doubts = [
            trust == .unverified ? "unverified" : trust == .file ? "by keys from a file" : nil,
            isRelayed ? "may be relayed by another device" : nil,
        ]
        return ([known?.batch, proximity.phrase(isRough: isRough)] + doubts).compactMap(\.self).joined(separator: ", ")
    }
}

/// An alert about many people who seem to have arrived together.
///
/// It stands in place of one for each.
public struct CrowdAlert: Sendable, Hashable {
    /// How many people.
    public let count: Int

    public init(count: Int) {
        self.count = count
    }

    public var title: String { "\(count) people seem to have arrived at the same moment" }
    public var body: String { "This may be a fake." }
}

/// A destination for alerts: a desktop, a terminal, a phone.
public protocol Alerts: Sendable {
    /// Shows an alert, or replaces the one about the same person. Implementations report their own failures; an encounter
    /// never fails because of them.
    func show(_ alert: Alert) async

    /// Shows an alert about a crowd.
    func show(_ crowd: CrowdAlert) async

    /// Removes the alerts about people that are still shown.
    ///
    /// The people are forgotten or hidden.
    func withdraw(_ people: Set<UserNumber>) async

    /// Removes every alert that is still shown.
    func withdrawAll() async
}

/// Unless a destination says otherwise, nothing of an alert can be removed: a line in a terminal stays.
extension Alerts {
    public func withdraw(_ people: Set<UserNumber>) async {}
    public func withdrawAll() async {}
}
