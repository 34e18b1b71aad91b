public import Beacons

/// Maps a beacon to a person. It does so by a rolling identifier whose key is known, or by a plain number.
///
/// Short identifiers and plain numbers use the fleet's UUID, and a rolling identifier can look like any major and minor (beacons dossier 8.4). Plain
/// numbers are therefore read strictly: SecretHandshake's major 1, or a wide number up to ``maximumPlainNumber``.
/// Otherwise every stranger's rolling identifier would be looked up at the service as another person's number.
public struct Recognition: Sendable {
    /// The largest wide number that is accepted: 2²⁴ − 1. One random identifier in 512 passes as such a number.
    public static let maximumPlainNumber = 0xFF_FFFF

    /// The fleet whose beacons name people.
    public let uuid: ProximityUUID
    private var resolver: RollingResolver<UserNumber>
    private var evidence = RollingEvidence<UserNumber>()

    /// Creates a recognition.
    ///
    /// - Parameters:
    ///   - uuid: the fleet.
    ///   - friends: the friends' day keys. Include the user's own, so that the own beacon is recognised.
    public init(uuid: ProximityUUID = .secretHandshake, friends: [(UserNumber, DayKey)] = []) {
        self.uuid = uuid
        resolver = RollingResolver()
        for (person, key) in friends { resolver.add(key, of: person) }
    }

    /// The person whose beacon this is. Nil when the person is unknown, when the identifier is ambiguous, and at the first
    /// sighting of a four-byte identifier, which can match by chance.
    ///
    /// - Parameters:
    ///   - beacon: what was heard.
    ///   - time: when it was heard; rolling identifiers are valid for their quarter of an hour and three minutes
    ///     before and after it.
    public mutating func person(of beacon: BeaconIdentity, at time: Timestamp) -> UserNumber? {
        recognize(beacon, at: time)?.person
    }

    /// The person whose beacon this is, and whether a key says so: any sender can use a plain number, and four bytes of an
    /// identifier can be guessed.
    mutating func recognize(
        _ beacon: BeaconIdentity, at time: Timestamp
    ) -> (person: UserNumber, isVerified: Bool)? {
        switch beacon {
        case .proximity(uuid, let major, let minor):
            guard let token = ShortRollingToken(major: major, minor: minor) else { return nil }
            switch resolved(at: time, { resolver throws(BeaconsError) in try resolver.resolve(token, at: time) }) {
            case .member(let person, let window):
                return evidence.confirms(person, in: window, by: .fourBytes) ? (person, false) : nil
            case .ambiguous, .stale: return nil
            case .unknown: return plainNumber(major: major, minor: minor).map { ($0, false) }
            }
        case .eddystone(let uid):
            let token = RollingToken(uid)
            return member(at: time) { resolver throws(BeaconsError) in try resolver.resolve(token, at: time) }
        case .rolling(let token):
            return member(at: time) { resolver throws(BeaconsError) in try resolver.resolve(token, at: time) }
        case .rollingService(let uuid):
            return member(at: time) { resolver throws(BeaconsError) in try resolver.resolve(uuid, at: time) }
        case .proximity, .ephemeral: return nil
        }
    }

    private mutating func member(
        at time: Timestamp,
        _ resolve: (RollingResolver<UserNumber>) throws(BeaconsError) -> RollingResolver<UserNumber>.Resolution
    ) -> (person: UserNumber, isVerified: Bool)? {
        if case .member(let person, _) = resolved(at: time, resolve) { (person, true) } else { nil }
    }

    private mutating func resolved(
        at time: Timestamp,
        _ body: (RollingResolver<UserNumber>) throws(BeaconsError) -> RollingResolver<UserNumber>.Resolution
    ) -> RollingResolver<UserNumber>.Resolution {
        do throws(BeaconsError) {
            try resolver.prepare(for: time)
            return try body(resolver)
        } catch {
            // Windows start in 1970: before that, the clock is wrong and recognises no person.
            return .unknown
        }
    }

    private func plainNumber(major: UInt16, minor: UInt16) -> UserNumber? {
        guard major == 1 || major & 0x8000 != 0 else { return nil }
        let number = UserNumber(major: major, minor: minor, scheme: .wide)
        return number.flatMap { $0.value <= Self.maximumPlainNumber ? $0 : nil }
    }
}
