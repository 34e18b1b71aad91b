public import Beacons
public import Circles

/// Maps a beacon to a person. It does so by a rolling identifier whose key is known, or by a plain number.
///
/// Short identifiers and plain numbers use the fleet's UUID, and a rolling identifier can look like any major and minor (beacons
/// dossier 8.4). Plain numbers are therefore read strictly: SecretHandshake's major 1, or a wide number up to
/// ``maximumPlainNumber``. Otherwise every stranger's rolling identifier would be looked up at the service as another person's
/// number.
public struct Recognition: Sendable {
    /// The largest wide number that is accepted: 2²⁴ − 1. One random identifier in 512 passes as such a number.
    public static let maximumPlainNumber = 0xFF_FFFF

    /// A person whom keys recognise.
    private struct Member: Sendable, Hashable {
        let person: UserNumber
        let trust: Trust
        let circle: CircleScope?
    }

    /// The result of recognising a beacon.
    struct Found: Sendable, Hashable {
        let person: UserNumber
        let trust: Trust
        /// The circle whose keys say so.
        ///
        /// Nil for a friend, for a plain number, and where several circles have the same keys.
        var circle: CircleScope?
        /// Whether four bytes say so, which can match by chance.
        var isByFourBytes = false
        /// False until a four-byte identifier is heard in a second window.
        var isConfirmed = true
    }

    private struct Match {
        let found: Found
        /// Whom four bytes name, and in which window.
        var fourBytes: (Member, RollingWindow)?
    }

    /// The fleet whose beacons name people.
    public let uuid: ProximityUUID
    private var resolver: RollingResolver<Member>
    private var evidence = RollingEvidence<Member>()

    /// Creates a recognition.
    ///
    /// - Parameters:
    ///   - uuid: the fleet.
    ///   - friends: the day keys of people whom the user has exchanged keys with. Include the user's own, so that the own
    ///     beacon is recognised.
    public init(uuid: ProximityUUID = .secretHandshake, friends: [(UserNumber, DayKey)] = []) {
        self.uuid = uuid
        resolver = RollingResolver()
        add(friends, trust: .paired)
    }

    /// Adds the day keys of people.
    ///
    /// - Parameters:
    ///   - keys: the keys.
    ///   - trust: how sure it is whose they are.
    ///   - circle: the circle that says so; nil for none.
    public mutating func add(_ keys: [(UserNumber, DayKey)], trust: Trust, in circle: CircleScope? = nil) {
        for (person, key) in keys { resolver.add(key, of: Member(person: person, trust: trust, circle: circle)) }
    }

    /// The person whose beacon this is. Nil when the person is unknown, when the identifier is ambiguous, and at the first
    /// sighting of a four-byte identifier, which can match by chance.
    ///
    /// - Parameters:
    ///   - beacon: what was heard.
    ///   - time: when it was heard; rolling identifiers are valid for their quarter of an hour and a few minutes before and
    ///     after it.
    public mutating func person(of beacon: BeaconIdentity, at time: Timestamp) -> UserNumber? {
        recognize(beacon, at: time).flatMap { $0.isConfirmed ? $0.person : nil }
    }

    /// The person whose beacon this is, and how sure that is: any sender can use a plain number, and four bytes of an identifier
    /// can be guessed.
    mutating func recognize(_ beacon: BeaconIdentity, at time: Timestamp) -> Found? {
        guard let match = match(beacon, at: time) else { return nil }
        var found = match.found
        if let (member, window) = match.fourBytes {
            found.isConfirmed = evidence.confirms(member, in: window, by: .fourBytes)
        }
        return found
    }

    /// How sure it is whose beacon this is; nil when it is no person's. Remembers nothing.
    mutating func trust(of beacon: BeaconIdentity, at time: Timestamp) -> Trust? {
        match(beacon, at: time)?.found.trust
    }

    private mutating func match(_ beacon: BeaconIdentity, at time: Timestamp) -> Match? {
        switch beacon {
        case .proximity(uuid, let major, let minor):
            guard let token = ShortRollingToken(major: major, minor: minor) else { return nil }
            let resolution = resolved(at: time) { resolver throws(BeaconsError) in
                try resolver.resolve(token, at: time)
            }
            switch resolution {
            case .member(let member, let window):
                return Match(
                    found: Found(person: member.person, trust: .unverified, isByFourBytes: true),
                    fourBytes: (member, window))
            case .ambiguous, .stale: return nil
            case .unknown:
                return plainNumber(major: major, minor: minor).map {
                    Match(found: Found(person: $0, trust: .unverified))
                }
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
        _ resolve: (RollingResolver<Member>) throws(BeaconsError) -> RollingResolver<Member>.Resolution
    ) -> Match? {
        switch resolved(at: time, resolve) {
        case .member(let member, _):
            return Match(found: Found(person: member.person, trust: member.trust, circle: member.circle))
        case .ambiguous(let members):
            // One person can be paired and in a circle with the same keys. Another member of the circle can publish copies of
            // them: those that were exchanged in person count.
            let trust = members.map(\.trust).max() ?? .unverified
            let trusted = members.filter { $0.trust == trust }
            let circles = Set(trusted.map(\.circle))
            guard Set(trusted.map(\.person)).count == 1, let member = trusted.first else { return nil }
            let circle = circles.count == 1 ? member.circle : nil
            return Match(found: Found(person: member.person, trust: trust, circle: circle))
        case .unknown, .stale: return nil
        }
    }

    private mutating func resolved(
        at time: Timestamp,
        _ body: (RollingResolver<Member>) throws(BeaconsError) -> RollingResolver<Member>.Resolution
    ) -> RollingResolver<Member>.Resolution {
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
