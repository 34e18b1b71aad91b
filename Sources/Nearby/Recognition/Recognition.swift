public import Beacons

/// Who a beacon says it is: a rolling identifier of somebody whose day keys one has, or a plain number.
///
/// Both travel under one fleet's UUID. A rolling identifier looks like any major and minor (beacons dossier 8.4), so plain
/// numbers are read strictly: SecretHandshake's major 1, or a wide number below ``mostPlainNumber``. Otherwise every
/// stranger's rolling identifier would be taken for the number of somebody else, and be looked up at the service.
public struct Recognition: Sendable {
    /// The largest wide number that is taken for one: 2²⁴ − 1. Of random identifiers one in 512 passes for such a number.
    public static let mostPlainNumber = 0xFF_FFFF

    /// The fleet whose beacons name people.
    public let uuid: ProximityUUID
    private var resolver: RollingResolver<UserNumber>
    private var evidence = RollingEvidence<UserNumber>()

    /// Prepares to recognise people.
    ///
    /// - Parameters:
    ///   - uuid: the fleet.
    ///   - friends: whose day keys one has. One's own belong in it too, so that one's own beacon is known as such.
    public init(uuid: ProximityUUID = .secretHandshake, friends: [(UserNumber, DayKey)] = []) {
        self.uuid = uuid
        resolver = RollingResolver()
        for (person, key) in friends { resolver.add(key, of: person) }
    }

    /// The person whose beacon it is, as far as it says and may be believed; nil for nobody, for an ambiguous identifier, and
    /// for a first sighting by four bytes, which chance could have made.
    ///
    /// - Parameters:
    ///   - beacon: what was heard.
    ///   - time: when; rolling identifiers hold for a quarter of an hour and its neighbours.
    public mutating func person(of beacon: BeaconIdentity, at time: Timestamp) -> UserNumber? {
        switch beacon {
        case .proximity(uuid, let major, let minor):
            guard let token = ShortRollingToken(major: major, minor: minor) else { return nil }
            switch resolved(at: time, { resolver throws(BeaconsError) in try resolver.resolve(token, at: time) }) {
            case .member(let person, let window):
                return evidence.confirms(person, in: window, by: .fourBytes) ? person : nil
            case .ambiguous: return nil
            case .unknown: return plainNumber(major: major, minor: minor)
            }
        case .eddystone(let uid):
            let resolution = resolved(at: time) { resolver throws(BeaconsError) in
                try resolver.resolve(RollingToken(uid), at: time)
            }
            return if case .member(let person, _) = resolution { person } else { nil }
        case .rolling(let token):
            let resolution = resolved(at: time) { resolver throws(BeaconsError) in
                try resolver.resolve(token, at: time)
            }
            return if case .member(let person, _) = resolution { person } else { nil }
        case .proximity, .ephemeral: return nil
        }
    }

    private mutating func resolved(
        at time: Timestamp,
        _ body: (RollingResolver<UserNumber>) throws(BeaconsError) -> RollingResolver<UserNumber>.Resolution
    ) -> RollingResolver<UserNumber>.Resolution {
        do throws(BeaconsError) {
            try resolver.prepare(for: time)
            return try body(resolver)
        } catch {
            // Before 1970 there are no windows: the clock is wrong, and nobody is recognised by it.
            return .unknown
        }
    }

    private func plainNumber(major: UInt16, minor: UInt16) -> UserNumber? {
        guard major == 1 || major & 0x8000 != 0 else { return nil }
        let number = UserNumber(major: major, minor: minor, scheme: .wide)
        return number.flatMap { $0.value <= Self.mostPlainNumber ? $0 : nil }
    }
}
