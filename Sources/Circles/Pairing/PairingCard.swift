/// What two devices exchange when they pair (circles dossier 5).
///
/// A name, an identity and day keys.
public struct PairingCard: Sendable, Hashable {
    public let name: String
    public let member: MemberRecord
    public let keys: KeyRecord

    /// - Throws: ``CircleError/malformed(_:)`` for a name that is none.
    public init(name: String, member: MemberRecord, keys: KeyRecord) throws(CircleError) {
        guard MemberText.isName(name) else { throw .malformed(.text) }
        self.name = name
        self.member = member
        self.keys = keys
    }

    /// The card as sent, before it is sealed.
    public var bytes: [UInt8] {
        let name = Array(name.utf8)
        return UInt8(truncatingIfNeeded: name.count).bytes + name + UInt16(truncatingIfNeeded: member.bytes.count).bytes
            + member.bytes + UInt16(truncatingIfNeeded: keys.bytes.count).bytes + keys.bytes
    }

    /// Parses a card and checks its records.
    ///
    /// - Parameters:
    ///   - bytes: the opened message.
    ///   - scope: the pair's.
    ///   - now: seconds since 1970.
    init(_ bytes: [UInt8], in scope: CircleScope, at now: UInt64) throws(CircleError) {
        var reader = ByteReader(bytes)
        guard bytes.count <= PairingMessage.maximumCard, let length = reader.number(UInt8.self),
            let name = reader.bytes(Int(length)).flatMap({ String(validating: $0, as: UTF8.self) }),
            let memberLength = reader.number(UInt16.self), let member = reader.bytes(Int(memberLength)),
            let keysLength = reader.number(UInt16.self), let keys = reader.bytes(Int(keysLength)), reader.rest == 0
        else { throw .malformed(.card) }
        try self.init(name: name, member: MemberRecord(member), keys: KeyRecord(keys))
        // A card without keys would replace a friend's keys by none.
        guard self.keys.terms.isPair, !self.keys.isWithdrawal else { throw .malformed(.card) }
        // A wrong clock is reported as such, because the users can correct it.
        let ahead = Int64(clamping: self.member.issued) - Int64(clamping: now)
        guard ahead.magnitude <= MemberRecord.tolerance else { throw .pairing(.clocks(ahead)) }
        try self.member.check(in: scope, of: nil, at: now)
        try self.keys.check(in: scope, by: self.member, at: now, epoch: 0)
    }
}
