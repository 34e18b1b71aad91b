/// Resolves rolling identifiers of members whose day keys are known.
///
/// Source: beacons dossier 8.4 and circles dossier 2.
///
/// The identifiers of the current window and its two neighbours are derived once and looked up in tables. A neighbour's is accepted
/// up to three minutes before and after its window, a service UUID two minutes before and after its term, so that a copy sent 25
/// minutes later is not. Memory is bounded by the keys: at most one per member and day, none older than yesterday's.
public struct RollingResolver<Member: Hashable & Sendable>: Sendable {
    private var keys: [RollingDay: [Member: DayKey]] = [:]
    private var tables: [RollingWindow: Table] = [:]

    /// The identifiers of one window.
    private struct Table: Sendable {
        var long: [RollingToken: Match] = [:]
        var short: [ShortRollingToken: Match] = [:]
        var services: [RollingUUID: Match] = [:]
        /// When each member's service UUID is accepted.
        var terms: [Member: ClosedRange<Timestamp>] = [:]

        mutating func reserve(_ count: Int) {
            long.reserveCapacity(count)
            short.reserveCapacity(count)
            services.reserveCapacity(count)
            terms.reserveCapacity(count)
        }

        /// Adds a member by the key of the window's day, and by that of the next window where it is known.
        mutating func add(_ member: Member, _ key: DayKey, next: DayKey?, in window: RollingWindow) {
            let token = key.derive(window)
            long[token] = long[token]?.adding(member) ?? .one(member)
            if let short = token.short { self.short[short] = self.short[short]?.adding(member) ?? .one(member) }
            let uuid = RollingUUID(token)
            services[uuid] = services[uuid]?.adding(member) ?? .one(member)
            let term = key.term(of: window, next: next)
            terms[member] =
                term.lowerBound.advanced(by: .zero - DayKey.tolerance)...term.upperBound.advanced(by: DayKey.tolerance)
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
        /// A member's service UUID outside its term: a copy, or a clock that is wrong. It is no sighting.
        case stale
    }

    public init() {}

    /// Adds a member's key for a day; replaces an earlier one for the same day. Call ``prepare(for:)`` afterwards.
    public mutating func add(_ key: DayKey, of member: Member) {
        let old = keys[key.day, default: [:]].updateValue(key, forKey: member)
        for window in tables.keys {
            if window.day == key.day, old == nil {
                let next = self.key(of: member, in: window.next)
                tables[window]?.add(member, key, next: next, in: window)
            } else if window.day == key.day || window.next.day == key.day {
                // The table contains the old key's identifiers, or the end of a term without it: it is built again.
                tables[window] = nil
            }
        }
    }

    private func key(of member: Member, in window: RollingWindow) -> DayKey? { keys[window.day]?[member] }

    /// Removes a member with all keys. Call ``prepare(for:)`` afterwards.
    public mutating func forget(_ member: Member) {
        for day in keys.keys { keys[day]?[member] = nil }
        tables = [:]
    }

    /// The number of keys.
    package var keyCount: Int { keys.values.reduce(0) { $0 + $1.count } }

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
            table.reserve(members.count)
            for (member, key) in members {
                table.add(member, key, next: self.key(of: member, in: window.next), in: window)
            }
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

    /// Resolves a service UUID.
    ///
    /// - Throws: ``BeaconsError/notPrepared(_:)`` without ``prepare(for:)`` for this window; ``BeaconsError/time(_:)``.
    public func resolve(_ uuid: RollingUUID, at time: Timestamp) throws(BeaconsError) -> Resolution {
        var isKnown = false
        var found: (window: RollingWindow, members: Set<Member>)?
        for window in try RollingWindow(at: time).neighbourhood {
            guard let table = tables[window] else { throw .notPrepared(window) }
            guard let match = table.services[uuid] else { continue }
            isKnown = true
            let members = match.members.filter { table.terms[$0]?.contains(time) ?? false }
            if !members.isEmpty { found = (window, members.union(found?.members ?? [])) }
        }
        guard let found else { return isKnown ? .stale : .unknown }
        if found.members.count == 1, let member = found.members.first { return .member(member, found.window) }
        return .ambiguous(found.members)
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
