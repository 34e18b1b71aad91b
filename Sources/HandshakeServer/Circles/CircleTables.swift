#if Server
import Circles
import Crypto
import HTTPTypes
import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Where a fetch of a table goes on: opaque to members (circles dossier 4).
struct CircleCursor: Sendable, Hashable {
    /// The table that it belongs to.
    let instance: String
    /// What the recipient has, up to this revision.
    let since: UInt64
    /// The revision of this fetch: the same on all its pages.
    let upper: UInt64
    /// Where the page ended: revision and number.
    let position: (revision: UInt64, number: UInt32)?

    init(instance: String, since: UInt64, upper: UInt64, position: (revision: UInt64, number: UInt32)? = nil) {
        self.instance = instance
        self.since = since
        self.upper = upper
        self.position = position
    }

    /// At most 64 characters.
    var text: String {
        func short(_ number: some BinaryInteger) -> String { String(number, radix: 36) }
        let end = position.map { "." + short($0.revision) + "." + short($0.number) } ?? ""
        return "\(instance).\(short(since)).\(short(upper))\(end)"
    }

    init?(_ text: String) {
        let parts = text.utf8.count <= KeyPage.maximumCursor ? text.split(separator: ".") : []
        guard parts.count == 3 || parts.count == 5, let since = UInt64(parts[1], radix: 36),
            let upper = UInt64(parts[2], radix: 36)
        else { return nil }
        var position: (UInt64, UInt32)?
        if parts.count == 5 {
            guard let revision = UInt64(parts[3], radix: 36), let number = UInt32(parts[4], radix: 36) else {
                return nil
            }
            position = (revision, number)
        }
        self.init(instance: String(parts[0]), since: since, upper: upper, position: position)
    }

    static func == (left: CircleCursor, right: CircleCursor) -> Bool { left.text == right.text }

    func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

/// A page of rows.
struct CirclePage<Row: Sendable>: Sendable {
    let epoch: UInt32
    let revision: UInt64
    let cursor: String
    let hasMore: Bool
    let rows: [Row]
}

extension MemberCircle {
    /// A member's row as a recipient sees it.
    enum MemberEntry: Sendable {
        case row(CircleMember)
        case gone(UInt32)
    }

    /// What changed in the rows since a cursor.
    ///
    /// It waits for a change that is being stored, which has raised the revision already.
    ///
    /// - Throws: 410 for a cursor of another table, or older than the tombstones.
    func memberPage(
        for recipient: UInt32, since cursor: String?, limit: Int
    ) async throws -> CirclePage<MemberEntry> {
        try await inTurn { circle in try circle.rows(for: recipient, since: cursor, limit: limit) }
    }

    /// What changed in the day keys since a cursor, as ``memberPage(for:since:limit:)``.
    func keyPage(
        for recipient: UInt32, since cursor: String?, limit: Int
    ) async throws -> CirclePage<KeyPage.Entry> {
        try await inTurn { circle in try circle.keys(for: recipient, since: cursor, limit: limit) }
    }

    private func rows(
        for recipient: UInt32, since cursor: String?, limit: Int
    ) throws(RequestRefusal) -> CirclePage<MemberEntry> {
        try page(for: recipient, since: cursor, limit: limit, revision: \.rowRevision, isShown: \.hasRow) { member in
            .row(member)
        } gone: {
            .gone($0)
        }
    }

    private func keys(
        for recipient: UInt32, since cursor: String?, limit: Int
    ) throws(RequestRefusal) -> CirclePage<KeyPage.Entry> {
        try page(for: recipient, since: cursor, limit: limit, revision: \.keysRevision, isShown: \.hasKeys) { member in
            member.keys.map { .keys($0) } ?? .gone(member.number)
        } gone: {
            .gone($0)
        }
    }

    /// A tag that is another one when the recipient would get something else.
    func tableTag(for recipient: UInt32, _ what: String) -> String {
        let content = "\(state.instance) \(state.revision) \(state.epoch) \(recipient) \(what)"
        return "\"\(Base64URL.encode(SHA256.hash(data: Array(content.utf8)).prefix(12)))\""
    }

    private func page<Row: Sendable>(
        for recipient: UInt32, since text: String?, limit: Int, revision: (CircleMember) -> UInt64,
        isShown: (CircleMember) -> Bool, row: (CircleMember) -> Row, gone: (UInt32) -> Row
    ) throws(RequestRefusal) -> CirclePage<Row> {
        let cursor = try cursor(text)
        // Leaving, pausing, hiding, expiry and removal look the same: a tombstone at a revision.
        func changed(_ member: CircleMember) -> UInt64 {
            max(revision(member), pairs[Pair(recipient, member.number)] ?? 0)
        }
        let isFirst = cursor.since == 0
        var entries = members.values.filter { member in
            let change = changed(member)
            guard member.number != recipient, !member.isForgotten, change > cursor.since, change <= cursor.upper
            else { return false }
            if let position = cursor.position, (change, member.number) <= (position.revision, position.number) {
                return false
            }
            // Who has nothing yet needs no tombstones.
            return !isFirst || !areHidden(member.number, recipient) && isShown(member)
        }.map { (change: changed($0), member: $0) }
        entries.sort { ($0.change, $0.member.number) < ($1.change, $1.member.number) }
        let page = entries.prefix(limit)
        let hasMore = entries.count > limit
        let rows = page.map { entry in
            !areHidden(entry.member.number, recipient) && isShown(entry.member)
                ? row(entry.member) : gone(entry.member.number)
        }
        let next =
            hasMore
            ? CircleCursor(
                instance: state.instance, since: cursor.since, upper: cursor.upper,
                position: page.last.map { ($0.change, $0.member.number) })
            : CircleCursor(instance: state.instance, since: cursor.upper, upper: cursor.upper)
        return CirclePage(
            epoch: state.epoch, revision: cursor.upper, cursor: next.text, hasMore: hasMore, rows: rows)
    }

    /// Whether one of two members hides from the other.
    func areHidden(_ one: UInt32, _ other: UInt32) -> Bool {
        members[one]?.hidden.contains(other) == true || members[other]?.hidden.contains(one) == true
    }

    /// The cursor of a request. One that has no position begins a fetch of the present revision.
    private func cursor(_ text: String?) throws(RequestRefusal) -> CircleCursor {
        guard let text, !text.isEmpty else {
            return CircleCursor(instance: state.instance, since: 0, upper: state.revision)
        }
        guard let cursor = CircleCursor(text), cursor.instance == state.instance, cursor.since <= cursor.upper,
            cursor.upper <= state.revision, cursor.since == 0 || cursor.since >= state.forgottenRevision
        else {
            throw RequestRefusal(.gone, "cursor_gone", "The cursor is too old: fetch the whole table")
        }
        guard cursor.position == nil else { return cursor }
        return CircleCursor(instance: state.instance, since: cursor.upper, upper: state.revision)
    }

    /// The photos of a pack that a recipient may see.
    func photos(_ index: UInt8, for recipient: UInt32) -> PhotoPack {
        var photos: [UInt32: [UInt8]] = [:]
        for member in members.values
        where member.hasRow && member.showsPhoto && member.number != recipient
            && PhotoPack.index(of: member.number) == index && !areHidden(member.number, recipient)
        {
            photos[member.number] = member.photo
        }
        return PhotoPack(photos)
    }
}
#endif
