import Beacons
import Circles
import Crypto
import Foundation
import Handshake
import OAuth

/// What a member knows of the other members: names, identities and day keys, for use without a network.
///
/// The first identity of a number is pinned. Another one counts only where the pinned one has signed it; otherwise the person is
/// unverified until the two pair. The pin outlasts the row, so that a server cannot replace an identity by a removal.
struct CircleTable: Sendable, Codable, Equatable {
    struct Row: Sendable, Codable, Equatable {
        var name: String
        var batch: String
        var photoPack: String?
        /// The digest of the photo; another photo is dropped.
        var photoDigest: Data?
        /// The pinned identity.
        var identity: Data
        /// An identity that the pinned one has not signed.
        var changedIdentity: Data?
        /// The newest valid keys.
        var keys: Data?
        /// Those before, newest first, while waves about them may arrive: of a meeting before midnight, or before the member
        /// had a new seed. They recognise no member.
        var formerKeys: [Data]?

        static let maximumFormerKeys = 4

        /// Forgets every key.
        mutating func forgetKeys() { (keys, formerKeys) = (nil, nil) }
    }

    /// The pinned identity of who is no member any more.
    struct Departure: Sendable, Codable, Equatable {
        let identity: Data
        /// Seconds since 1970.
        let time: UInt64
    }

    var rows: [UInt32: Row] = [:]
    /// Optional, because tables of earlier versions have none.
    var departures: [UInt32: Departure]?
    var membersCursor: String?
    var keysCursor: String?
    var epoch: UInt32 = 0

    /// The most rows and departures. A full table takes no new member, so that a flood does not displace a pin.
    static let maximumRows = 20_000

    /// A person of the table.
    struct Entry: Sendable {
        let person: UserNumber
        let row: Row

        var isChanged: Bool { row.changedIdentity != nil }
        /// The identity that the keys must be of.
        var identity: MemberRecord? { (try? MemberRecord(Array(row.changedIdentity ?? row.identity))) }
        var keys: KeyRecord? { row.keys.flatMap { try? KeyRecord(Array($0)) } }

        /// The member's keys of a day, newest first: a seed that was renewed has another one.
        func keys(of day: UInt32) -> [[UInt8]] {
            var keys: [[UInt8]] = []
            for bytes in [row.keys].compactMap(\.self) + (row.formerKeys ?? []) {
                let known = (try? KeyRecord(Array(bytes)))?.dayKeys.first { $0.day == day }?.key
                if let known, !keys.contains(known) { keys.append(known) }
            }
            return keys
        }

        var trust: Trust { isChanged ? .unverified : .circle }
    }

    func entry(_ person: UserNumber) -> Entry? {
        UInt32(exactly: person.value).flatMap { rows[$0] }.map { Entry(person: person, row: $0) }
    }

    /// Whether an identity is pinned: of a member, or of one who has left.
    func hasPin(_ person: UserNumber) -> Bool {
        UInt32(exactly: person.value).map { rows[$0] != nil || departures?[$0] != nil } ?? false
    }

    var entries: [Entry] {
        rows.compactMap { number, row in
            (try? UserNumber(Int(number))).map { Entry(person: $0, row: row) }
        }
    }

    // MARK: Taking pages

    /// Takes a row of the server. One that is not valid changes nothing.
    mutating func take(row object: JSONObject, in scope: CircleScope, at now: UInt64) {
        guard let number = object["number"]?.integer.flatMap({ UInt32(exactly: $0) }), number > 0,
            let name = object["name"]?.string, MemberText.isName(name),
            let bytes = object["member"]?.string.flatMap({ Base64URL.decode($0) }),
            let record = try? MemberRecord(bytes), (try? record.check(in: scope, of: number, at: now)) != nil,
            rows[number] != nil || departures?[number] != nil || count < Self.maximumRows
        else { return }
        let batch = object["batch"]?.string ?? ""
        var row = rows[number] ?? Row(name: name, batch: "", identity: departures?[number]?.identity ?? Data(bytes))
        row.name = name
        row.batch = MemberText.isBatch(batch) ? batch : ""
        let photo = object["photo"]?.object
        row.photoPack = photo?["pack"]?.string.flatMap { $0.utf8.count == 2 ? $0 : nil }
        // A table whose server decides how long it is could not be stored, or read, any more.
        let digest = photo?["sha256"]?.string.flatMap { Base64URL.decode($0) }
        row.photoDigest = digest.flatMap { $0.count == SHA256.Digest.byteCount ? Data($0) : nil }
        pin(record, in: &row)
        rows[number] = row
        departures?[number] = nil
    }

    private var count: Int { rows.count + (departures?.count ?? 0) }

    /// Removes the row of who is no member any more. The identity stays pinned.
    mutating func depart(_ number: UInt32, at now: UInt64) {
        guard let row = rows.removeValue(forKey: number) else { return }
        departures = departures ?? [:]
        departures?[number] = Departure(identity: row.identity, time: now)
    }

    /// Removes row and pin.
    ///
    /// - Returns: whether there was one of them.
    @discardableResult
    mutating func forget(_ number: UInt32) -> Bool {
        let departure = departures?.removeValue(forKey: number)
        return rows.removeValue(forKey: number) != nil || departure != nil
    }

    /// Removes the pins of who has been gone for more than 30 days: a server keeps its tombstones as long.
    mutating func expireDepartures(at now: UInt64) {
        departures = departures?.filter { now < $0.value.time || now - $0.value.time <= Self.retention }
    }

    private static let retention: UInt64 = 30 * 86_400

    private func pin(_ record: MemberRecord, in row: inout Row) {
        guard let pinned = try? MemberRecord(Array(row.identity)), pinned.bytes != record.bytes else {
            row.changedIdentity = nil
            return
        }
        if pinned.identity == record.identity, record.generation >= pinned.generation {
            row.changedIdentity = nil
            row.identity = Data(record.bytes)
        } else if record.replaces(pinned) {
            row.changedIdentity = nil
            row.identity = Data(record.bytes)
            row.forgetKeys()
        } else if row.changedIdentity != Data(record.bytes) {
            row.changedIdentity = Data(record.bytes)
            row.forgetKeys()
        }
    }

    /// Takes a page's keys. Those that are not valid are ignored; the known ones stay.
    mutating func take(_ entry: KeyPage.Entry, in scope: CircleScope, at now: UInt64) {
        switch entry {
        case .unknown: break
        case .gone(let number): rows[number]?.forgetKeys()
        case .keys(let record):
            let number = record.terms.number
            guard var row = rows[number], let person = try? UserNumber(Int(number)),
                let identity = Entry(person: person, row: row).identity
            else { return }
            let known = row.keys.flatMap { try? KeyRecord(Array($0)) }
            guard (try? record.check(in: scope, by: identity, at: now, after: known, epoch: epoch)) == true else {
                return
            }
            if record.isWithdrawal {
                row.forgetKeys()
            } else {
                if let known = row.keys {
                    row.formerKeys = Array(([known] + (row.formerKeys ?? [])).prefix(Row.maximumFormerKeys))
                }
                row.keys = Data(record.bytes)
            }
            rows[number] = row
        }
    }

    /// Removes keys of past days, and those that were replaced before yesterday: they are not needed any more.
    mutating func expireKeys(today: UInt32) {
        for (number, row) in rows {
            guard let record = row.keys.flatMap({ try? KeyRecord(Array($0)) }) else { continue }
            if record.terms.firstDay &+ 2 <= today { rows[number]?.formerKeys = nil }
            if record.terms.firstDay &+ UInt32(record.count) < today { rows[number]?.keys = nil }
        }
    }

    /// The day keys of everyone, by trust.
    func dayKeys(without hidden: Set<UInt32>) -> [Trust: [(UserNumber, DayKey)]] {
        var keys: [Trust: [(UserNumber, DayKey)]] = [:]
        for entry in entries where !hidden.contains(UInt32(truncatingIfNeeded: entry.person.value)) {
            for (day, key) in entry.keys?.dayKeys ?? [] {
                guard let key = try? DayKey(day: RollingDay(number: day), revealed: key) else { continue }
                keys[entry.trust, default: []].append((entry.person, key))
            }
        }
        return keys
    }
}
