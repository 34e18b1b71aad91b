public import Beacons
public import Circles
import Handshake
public import Radio

/// Who can be recognised, and what the user is recognised by.
///
/// A watch begins with it. All of it is in the vault: no server is asked who is near.
public struct KnownPeople: Sendable {
    /// The user's own number; nil when unknown.
    public let own: UserNumber?
    /// The circles that the user is in, and what the user is in each.
    public let circles: [JoinedCircle]
    public let summaries: [JoinedCircle.Summary]
    /// What the user is recognised by.
    public let scopes: OwnScopes
    /// Recognises friends, members of the circles, and the user's own beacons.
    public let recognition: Recognition
    /// What cannot be read of friends and circles, and where pins are lost.
    public let damaged: [NearbyError]
    private let expectedPeople: ExpectedPeople
    private let log: EncounterLog
    /// The names that friends gave when they were paired with.
    private let friends: [UserNumber: String]
    /// The members of each circle.
    private let members: [CircleScope: [UserNumber: Person]]
    /// Where all of it was read.
    let environment: CircleEnvironment

    /// Reads everything.
    ///
    /// - Parameters:
    ///   - environment: where it is stored.
    ///   - own: the user's own number; unless stated, that of the first circle.
    ///   - ask: says the user's own number when there is no circle.
    /// - Throws: ``NearbyError``, `CancellationError`, and what `ask` throws.
    public init(
        in environment: CircleEnvironment, own: UserNumber? = nil, asking ask: () async throws -> UserNumber? = { nil }
    ) async throws {
        let rolling = RollingKeys(in: environment.vault, community: environment.community)
        let time = Timestamp(secondsSince1970: environment.time.now()) ?? .now()
        let circles = try await JoinedCircle.all(in: environment)
        var summaries: [JoinedCircle.Summary] = []
        for circle in circles { summaries.append(try await circle.summary()) }
        var own = own ?? summaries.first?.number
        if own == nil { own = try await ask() }
        let (friends, damagedFriends) = try await rolling.friends()
        let scopes = try await OwnScopes(in: environment.vault, community: environment.community, at: time)
        var damaged = damagedFriends
        var tables: [(circle: JoinedCircle, table: CircleTable)] = []
        for circle in circles {
            let (table, problem) = try await CircleEnvironment.placing { try await circle.knownTable() }
            if let table { tables.append((circle, table)) }
            if let problem { damaged.append(.circle(problem)) }
        }
        let named = try await rolling.pairedNames()
        // A file of keys does not show who made it. It may be older than what a circle says of the number.
        // What the circle said of a member who has left still counts, and a table that cannot be read may have anyone.
        let paired = Set(named.keys)
        let isDoubtful = { (friend: UserNumber) -> Bool in
            guard !paired.contains(friend) else { return false }
            return tables.count < circles.count || tables.contains { $0.table.hasPin(friend) }
        }
        var recognition = Recognition(friends: friends.filter { paired.contains($0.0) })
        recognition.add(friends.filter { !paired.contains($0.0) && !isDoubtful($0.0) }, trust: .file)
        recognition.add(friends.filter { isDoubtful($0.0) }, trust: .unverified)
        // The user's own beacons, as received by another adapter.
        if let own { recognition.add(scopes.dayKeys(around: time).map { (own, $0) }, trust: .paired) }
        var expected = ExpectedPeople()
        expected.add(friends.filter { !isDoubtful($0.0) }, areFriends: true)
        expected.add(friends.filter { isDoubtful($0.0) }, areFriends: false)
        var members: [CircleScope: [UserNumber: Person]] = [:]
        for (circle, _) in tables {
            guard let scope = circle.scope else { continue }
            for (trust, dayKeys) in try await circle.dayKeys() {
                recognition.add(dayKeys, trust: trust, in: scope)
                expected.add(dayKeys, areFriends: false)
            }
            for member in try await circle.members() {
                let batch = member.batch.isEmpty ? nil : member.batch
                members[scope, default: [:]][member.person] = Person(name: member.name, batch: batch)
            }
        }
        (self.own, self.circles, self.summaries, self.scopes) = (own, circles, summaries, scopes)
        (self.recognition, self.damaged, self.friends, self.members) = (recognition, damaged, named, members)
        self.environment = environment
        expectedPeople = expected
        log = EncounterLog(in: environment.vault, community: environment.community)
    }

    /// Whether the user has paused in a circle.
    public var isPaused: Bool { summaries.contains(where: \.isPaused) }

    /// What is sent by default: a rolling service UUID for each scope.
    ///
    /// Only those of which others have keys are sent.
    ///
    /// Nil while no member or friend can recognise the user: ``JoinedCircle/Summary/isSilent`` says where keys have ended.
    public var broadcasts: Broadcasts? { scopes.sent.isEmpty ? nil : Broadcasts(rolling: scopes.sent) }

    /// What a phone's scan in the background looks for from a moment on.
    ///
    /// Friends come first, then those who were met lately: only encounters that a key has verified count. A log that cannot be read
    /// changes the order only.
    public func expected(at time: Timestamp = .now()) async -> ExpectedServices {
        let histories = (try? await log.contents(at: time.secondsSince1970).people) ?? []
        let meetings = histories.map { history in
            (history.person, history.encounters.filter(\.isVerified).map(\.lastSeen).max())
        }
        let known = meetings.compactMap { person, last in last.map { (person, $0) } }
        return expectedPeople.services(at: time, meetings: Dictionary(known, uniquingKeysWith: max))
    }

    /// A person by number, as the circle says whose keys recognised the person.
    ///
    /// - Parameters:
    ///   - person: the person's number.
    ///   - circle: that circle. Nil for a friend, and for a plain number: then the name counts that was given when pairing,
    ///     which no server changes, and after it that of the first circle that has the number.
    public func introduce(_ person: UserNumber, in circle: CircleScope? = nil) -> Person? {
        if let circle { return members[circle]?[person] }
        let member = circles.lazy.compactMap { $0.scope.flatMap { members[$0]?[person] } }.first
        return friends[person].map { Person(name: $0, batch: member?.batch) } ?? member
    }

    /// A member's photo as an image file, as the circle has it.
    ///
    /// - Parameters:
    ///   - person: the member's number.
    ///   - circle: the one whose keys recognised the person; nil for the first one that has a photo.
    public func photo(of person: UserNumber, in circle: CircleScope? = nil) async -> [UInt8]? {
        for one in circles where circle == nil || one.scope == circle {
            if let photo = try? await one.photo(of: person) { return photo }
        }
        return nil
    }
}
