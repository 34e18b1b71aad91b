/// A page of the members' day keys: SHT1 (circles dossier 4).
public struct KeyPage: Sendable, Hashable {
    /// One member's keys, or that a member has none any more.
    public enum Entry: Sendable, Hashable {
        case keys(KeyRecord)
        /// Left, paused, hidden, expired and removed look the same.
        case gone(UInt32)
        /// A record of a later version, which is ignored.
        case unknown
    }

    public let epoch: UInt32
    /// The table's revision, which is the same on all pages.
    public let revision: UInt64
    public let hasMore: Bool
    /// Where the next page, or the next fetch, begins.
    public let cursor: String
    public let entries: [Entry]

    private static let magic: [UInt8] = Array("SHT1".utf8)
    /// The maximum length of a cursor in bytes.
    public static let maximumCursor = 64
    /// The maximum number of entries of a page.
    public static let maximumEntries = 1_000

    public init(epoch: UInt32, revision: UInt64, hasMore: Bool, cursor: String, entries: [Entry]) {
        self.epoch = epoch
        self.revision = revision
        self.hasMore = hasMore
        self.cursor = cursor
        self.entries = entries
    }

    /// The page as sent.
    public var bytes: [UInt8] {
        let cursor = Array(cursor.utf8.prefix(Self.maximumCursor))
        var bytes = Self.magic + epoch.bytes + revision.bytes + UInt32(truncatingIfNeeded: entries.count).bytes
        bytes += [hasMore ? 1 : 0, 0, 0, 0] + UInt16(cursor.count).bytes + cursor
        for entry in entries {
            let content: [UInt8]
            switch entry {
            case .keys(let record): content = record.bytes
            case .gone(let number): content = number.bytes
            case .unknown: continue
            }
            bytes += UInt16(truncatingIfNeeded: content.count).bytes + content
        }
        return bytes
    }

    /// Parses a page. Records that cannot be parsed are ``Entry/unknown``.
    ///
    /// - Throws: ``CircleError/malformed(_:)`` for another form.
    public init(_ bytes: [UInt8]) throws(CircleError) {
        var reader = ByteReader(bytes)
        guard reader.expect(Self.magic), let epoch = reader.number(UInt32.self),
            let revision = reader.number(UInt64.self), let count = reader.number(UInt32.self),
            count <= Self.maximumEntries, let more = reader.number(UInt8.self), more <= 1, reader.zeros(3),
            let length = reader.number(UInt16.self), length <= Self.maximumCursor,
            let cursor = reader.bytes(Int(length)), cursor.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw .malformed(.page) }
        var entries: [Entry] = []
        for _ in 0..<count {
            guard let length = reader.number(UInt16.self), let content = reader.bytes(Int(length)) else {
                throw .malformed(.page)
            }
            entries.append(Self.entry(content))
        }
        guard reader.rest == 0 else { throw .malformed(.page) }
        self.init(
            epoch: epoch, revision: revision, hasMore: more == 1, cursor: String(decoding: cursor, as: UTF8.self),
            entries: entries)
    }

    private static func entry(_ content: [UInt8]) -> Entry {
        if content.count == 4 { return .gone(content.reduce(0) { $0 << 8 | UInt32($1) }) }
        return (try? KeyRecord(content)).map { .keys($0) } ?? .unknown
    }
}
