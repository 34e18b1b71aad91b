/// Resolves rolling identifiers of members whose day keys are known (dossier 8.4).
///
/// The identifiers of the current window and its two neighbours are derived once and looked up in tables. A neighbour's is accepted
/// up to three minutes before and after its window, so that a copy sent later is not. Memory is bounded by the keys: at most one per
/// member and day, none older than yesterday's.
public struct RollingResolver<Member: Hashable & Sendable>: Sendable {
    private var keys: [RollingDay: [Member: DayKey]] = [:]
    private var tables: [RollingWindow: Table] = [:]

    /// The identifiers of one window.
    private struct Table: Sendable {
        var long: [RollingToken: Match] = [:]
        var short: [ShortRollingToken: Match] = [:]

        mutating func add(_ token: RollingToken, of member: Member) {
            long[token] = long[token]?.adding(member) ?? .one(member)
            if let key = token.short { short[key] = short[key]?.adding(member) ?? .one(member) }
        }
    }

    /// The members with an identifier: rarely more than one.
    private enum Match: Sendable {
        case one(Member)
        case several(Set<Member>)

        func adding(_ member: Member) -> Match {
            switch self {
            case .one(let other): other == member ? self : .several([other, member])
            case .several(let others): .several(others.union([member]))
            }
        }

        var members: Set<Member> {
            switch self {
            case .one(let member): [member]
            case .several(let members): members
            }
        }
    }

    /// The result of resolving an identifier.
    public enum Resolution: Sendable, Hashable {
        /// No member's.
        case unknown
        /// One member's. With four bytes this is strong evidence, not proof: count
        /// a member after two windows.
        case member(Member, RollingWindow)
        /// Several members match. Only another window or the 16-byte form can distinguish them.
        case ambiguous(Set<Member>)
    }

    public init() {}

    /// Adds a member's key for a day; replaces an earlier one for the same day. Call ``prepare(for:)`` afterwards.
    public mutating func add(_ key: DayKey, of member: Member) {
        let old = keys[key.day, default: [:]].updateValue(key, forKey: member)
        for window in tables.keys where window.day == key.day {
            if old == nil {
                tables[window]?.add(key.derive(window), of: member)
            } else {
                // The table contains the old key's identifiers, so it is built again.
                tables[window] = nil
            }
        }
    }

    /// Removes a member with all keys. Call ``prepare(for:)`` afterwards.
    public mutating func forget(_ member: Member) {
        for day in keys.keys { keys[day]?[member] = nil }
        tables = [:]
    }

    /// The number of keys.
    public var keyCount: Int { keys.values.reduce(0) { $0 + $1.count } }

    /// Builds the tables for a time. It drops old tables and the keys of days before yesterday.
    ///
    /// Does nothing when they exist; call it at the start of a window, or before each look-up. A new window takes about a
    /// microsecond per member.
    ///
    /// - Throws: ``BeaconsError/time(_:)`` before 1970.
    public mutating func prepare(for time: Timestamp) throws(BeaconsError) {
        let present = try RollingWindow(at: time)
        let wanted = present.neighbourhood
        for window in tables.keys where !wanted.contains(window) { tables[window] = nil }
        for day in keys.keys where day.number &+ 1 < present.day.number { keys[day] = nil }
        for window in wanted where tables[window] == nil {
            let members = keys[window.day] ?? [:]
            var table = Table()
            table.long.reserveCapacity(members.count)
            table.short.reserveCapacity(members.count)
            for (member, key) in members { table.add(key.derive(window), of: member) }
            tables[window] = table
        }
    }

    /// Resolves a 16-byte identifier.
    ///
    /// - Throws: ``BeaconsError/notPrepared(_:)`` without ``prepare(for:)`` for this window; ``BeaconsError/time(_:)``.
    public func resolve(_ token: RollingToken, at time: Timestamp) throws(BeaconsError) -> Resolution {
        try resolve(at: time) { $0.long[token] }
    }

    /// Resolves a 4-byte identifier.
    ///
    /// - Throws: ``BeaconsError/notPrepared(_:)`` without ``prepare(for:)`` for this window; ``BeaconsError/time(_:)``.
    package func resolve(_ token: ShortRollingToken, at time: Timestamp) throws(BeaconsError) -> Resolution {
        try resolve(at: time) { $0.short[token] }
    }

    private func resolve(at time: Timestamp, _ match: (Table) -> Match?) throws(BeaconsError) -> Resolution {
        let present = try RollingWindow(at: time)
        var found: [(RollingWindow, Match)] = []
        for window in present.neighbourhood {
            guard let table = tables[window] else { throw .notPrepared(window) }
            if window.isAccepted(at: time), let match = match(table) { found.append((window, match)) }
        }
        guard let first = found.first else { return .unknown }
        let members = found.reduce(into: Set<Member>()) { $0.formUnion($1.1.members) }
        if members.count == 1, let member = members.first { return .member(member, first.0) }
        return .ambiguous(members)
    }
}
