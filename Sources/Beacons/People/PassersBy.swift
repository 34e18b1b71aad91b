/// Whom a frame names: members of one fleet, but oneself and nobody (BE-12).
///
/// A rolling identifier in an iBeacon looks like a number too, and would name a stranger. So look it up by ``RollingResolver`` first, or
/// let those who roll use another fleet's UUID.
public struct PassersBy: Sendable, Hashable {
    /// The fleet whose beacons name people.
    public let uuid: ProximityUUID
    /// How their numbers are read.
    public let scheme: UserNumber.Scheme
    /// Who is not counted: oneself.
    public let ignored: UserNumber?

    public init(uuid: ProximityUUID = .secretHandshake, scheme: UserNumber.Scheme = .wide, ignoring own: UserNumber?) {
        self.uuid = uuid
        self.scheme = scheme
        ignored = own
    }

    /// The person that a frame names; nil for another fleet, for the number 0 and for oneself.
    public func person(in frame: Frame) -> UserNumber? {
        guard case .proximity(uuid, let major, let minor) = frame.identity,
            let person = UserNumber(major: major, minor: minor, scheme: scheme), person != ignored
        else { return nil }
        return person
    }
}
