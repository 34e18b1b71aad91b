public import Beacons
public import Circles
import Foundation
import Handshake
import OAuth

/// A circle that the user is in (circles dossier 3 and 4).
///
/// Its members recognise each other offline. The tables are fetched whole and at times that nothing nearby has an influence on, so that the server does not learn who met
/// whom. Functions throw ``NearbyError``, or `CancellationError`.
public struct JoinedCircle: Sendable {
    /// What the user is in the circle.
    public struct Summary: Sendable, Hashable {
        public let address: String
        public let circle: String
        public let number: UserNumber
        public let name: String
        public let isPaused: Bool
        /// Until when this device is signed in: seconds since 1970.
        public let expires: Double
        /// Whether the sign-in has ended. To go on, the user joins the circle again.
        public let mustJoinAgain: Bool
        /// When the published keys end: seconds since 1970; nil while none are published.
        public let keysEnd: Double?
        /// Whether no key of the present day is published.
        ///
        /// Members cannot recognise the user then, and nothing is sent for the circle. False while the user pauses.
        public let isSilent: Bool
        /// How many members the table has; nil where it cannot be read.
        public let members: Int?
        /// When the table is fetched next: seconds since 1970.
        public let nextSync: Double
        /// That the table cannot be read, or that its pins were lost lately.
        public let tableProblem: CircleProblem?
        /// Why the last synchronisation failed, and what is wrong with the table.
        ///
        /// Nil when nothing is. It includes ``tableProblem``.
        public let trouble: String?
    }

    /// A member of the circle as its table says.
    public struct Member: Sendable, Hashable {
        public let person: UserNumber
        public let name: String
        public let batch: String
        public let trust: Trust
        /// Whether the member can be recognised today.
        public let isPublishing: Bool
        /// Whether the member receives waves.
        public let takesWaves: Bool
    }

    let records: CircleRecords
    let environment: CircleEnvironment

    /// What tells the circle from others; nil where its record has another name.
    public var scope: CircleScope? { Beacons.Hexadecimal.decode(records.scope.utf8).flatMap { CircleScope($0) } }

    static let secondsOfDay = 86_400.0

    /// How long before its end a sign-in can be renewed, in seconds: five days.
    ///
    /// Joining again renews it.
    public static let renewalTime = 432_000.0

    init(_ records: CircleRecords, _ environment: CircleEnvironment) {
        self.records = records
        self.environment = environment
    }

    /// The circles that the user is in.
    public static func all(in environment: CircleEnvironment) async throws -> [JoinedCircle] {
        try await CircleEnvironment.placing {
            try await CircleRecords.all(in: environment.vault, community: environment.community)
                .map { JoinedCircle($0, environment) }
        }
    }

    /// What the user is in the circle.
    public func summary() async throws -> Summary {
        try await CircleEnvironment.placing {
            let state = try await state()
            let number = try number(state.number)
            let (table, problem) = try await knownTable()
            let moment = now
            let keysEnd = state.publishedUntil > 0 ? (Double(state.publishedUntil) + 1) * Self.secondsOfDay : nil
            let troubles = [problem.map { "\($0)" }, state.trouble].compactMap(\.self)
            return Summary(
                address: state.address, circle: state.circle, number: number, name: state.name,
                isPaused: state.isPaused, expires: Double(state.expires),
                mustJoinAgain: state.mustJoinAgain(at: moment), keysEnd: keysEnd,
                isSilent: !state.isPaused && (keysEnd ?? 0) <= moment,
                members: table?.rows.count, nextSync: state.nextSync, tableProblem: problem,
                trouble: troubles.isEmpty ? nil : troubles.joined(separator: ". "))
        }
    }

    /// The members, sorted by name.
    ///
    /// - Throws: ``CircleProblem/unreadableTable(circle:)`` where they cannot be read.
    public func members() async throws -> [Member] {
        try await CircleEnvironment.placing {
            let hidden = try await state().hidden
            return try await records.table().entries.filter {
                !hidden.contains(UInt32(truncatingIfNeeded: $0.person.value))
            }
            .map { entry in
                Member(
                    person: entry.person, name: entry.row.name, batch: entry.row.batch, trust: entry.trust,
                    isPublishing: entry.keys != nil, takesWaves: entry.keys?.terms.waves ?? false)
            }.sorted { ($0.name, $0.person) < ($1.name, $1.person) }
        }
    }

    /// The day keys of the members, by trust.
    ///
    /// - Throws: ``CircleProblem/unreadableTable(circle:)`` where they cannot be read.
    public func dayKeys() async throws -> [Trust: [(UserNumber, DayKey)]] {
        try await CircleEnvironment.placing {
            let state = try await state()
            return try await records.table().dayKeys(without: state.hidden.union(state.blocked))
        }
    }

    /// A member as the table says; nil for who is none.
    public func introduce(_ person: UserNumber) async throws -> Person? {
        try await CircleEnvironment.placing {
            guard let entry = try await records.readableTable()?.entry(person) else { return nil }
            return Person(name: entry.row.name, batch: entry.row.batch.isEmpty ? nil : entry.row.batch)
        }
    }

    /// A member's photo, if its digest is that of the table.
    public func photo(of person: UserNumber) async throws -> [UInt8]? {
        try await CircleEnvironment.placing { try await records.photo(of: person) }
    }

    // MARK: Helpers

    var now: Double { environment.time.now() }

    /// The table, nil where it cannot be read, and what the user must know of it.
    func knownTable() async throws -> (table: CircleTable?, problem: CircleProblem?) {
        do {
            return (try await records.table(), try await state().loss(at: now))
        } catch let problem as CircleProblem {
            guard case .unreadableTable = problem else { throw problem }
            return (nil, problem)
        }
    }

    func state() async throws -> CircleRecords.State {
        guard let state = try await records.state() else { throw CircleProblem.notJoined }
        return state
    }

    func server(_ state: CircleRecords.State) throws -> CircleServer {
        try CircleServer(state.address, transport: environment.transport, bearer: Secret(state.bearer))
    }

    static func keys(_ state: CircleRecords.State) throws -> MemberKeys {
        guard let keys = MemberKeys(revealed: Array(state.keys)) else {
            throw VaultError.damaged(what: "your identity in a circle", reason: "its keys have another length")
        }
        return keys
    }

    static func day(_ now: Double) throws -> UInt32 {
        guard now >= 0, now < Double(UInt32.max) else { throw CircleProblem.clock(seconds: .max) }
        return UInt32(now / secondsOfDay)
    }

    static func number(_ person: UserNumber) throws -> UInt32 {
        guard let number = UInt32(exactly: person.value) else { throw CircleProblem.notJoined }
        return number
    }

    private func number(_ number: UInt32) throws -> UserNumber {
        guard let number = Int(exactly: number).flatMap({ try? UserNumber($0) }) else {
            throw CircleProblem.malformed("your number")
        }
        return number
    }
}
