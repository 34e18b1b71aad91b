/// A member's day keys, signed by the identity: SHK1 (circles dossier 3). Without keys it withdraws all before it.
///
/// Parsing checks the form; ``check(in:by:at:after:epoch:)`` checks the rest.
public struct KeyRecord: Sendable, Hashable {
    /// What the record says beside its keys.
    public struct Terms: Sendable, Hashable {
        public let scope: CircleScope
        /// The member's number; 0 only in a pair.
        public let number: UInt32
        /// The generation of the identity that signs.
        public let generation: UInt32
        /// Rises with each record, from 1.
        public let sequence: UInt32
        /// The circle's epoch; 0 in a pair.
        public let epoch: UInt32
        /// The day of the first key, counted from 1970.
        public let firstDay: UInt32
        /// Seconds since 1970.
        public let issued: UInt64
        /// Whether the member receives waves.
        public let waves: Bool
        /// Whether it is of a pair and not of a circle.
        public let isPair: Bool

        public init(
            scope: CircleScope, number: UInt32, generation: UInt32, sequence: UInt32, epoch: UInt32, firstDay: UInt32,
            issued: UInt64, waves: Bool = true, isPair: Bool = false
        ) {
            self.scope = scope
            self.number = number
            self.generation = generation
            self.sequence = sequence
            self.epoch = epoch
            self.firstDay = firstDay
            self.issued = issued
            self.waves = waves
            self.isPair = isPair
        }
    }

    /// The record as sent: 116 bytes and 32 for each key.
    public let bytes: [UInt8]
    public let terms: Terms
    /// The keys of consecutive days. Secret.
    private let keyBytes: [UInt8]

    /// How many keys there are; none in a withdrawal.
    public var count: Int { keyBytes.count / Self.keyLength }
    public var isWithdrawal: Bool { keyBytes.isEmpty }

    private static let magic: [UInt8] = Array("SHK1".utf8)
    private static let keyLength = 32
    private static let signatureLength = 64
    private static let wavesBit: UInt8 = 1
    private static let pairBit: UInt8 = 2
    private static let secondsOfDay: UInt64 = 86_400
    /// How many keys a record of a circle has at most.
    ///
    /// The last one may be as many days ahead.
    public static let maximumDays = 4
    public static let daysAhead: UInt32 = 3
    /// The same in a pair.
    public static let maximumPairDays = 31
    /// For how many days a record of a circle is accepted after it was issued.
    static let lifetime: UInt64 = 4

    /// Parses a record.
    ///
    /// - Throws: ``CircleError/malformed(_:)`` for another form.
    public init(_ bytes: [UInt8]) throws(CircleError) {
        var reader = ByteReader(bytes)
        guard reader.expect(Self.magic), let scope = reader.bytes(CircleScope.length).flatMap({ CircleScope($0) }),
            let number = reader.number(UInt32.self), let generation = reader.number(UInt32.self),
            let sequence = reader.number(UInt32.self), let epoch = reader.number(UInt32.self),
            let firstDay = reader.number(UInt32.self), let issued = reader.number(UInt64.self),
            let flags = reader.number(UInt8.self), let count = reader.number(UInt8.self), reader.zeros(2),
            flags & ~(Self.wavesBit | Self.pairBit) == 0,
            let keys = reader.bytes(Int(count) * Self.keyLength), reader.rest == Self.signatureLength
        else { throw .malformed(.keys) }
        let isPair = flags & Self.pairBit != 0
        guard Int(count) <= (isPair ? Self.maximumPairDays : Self.maximumDays), generation >= 1, sequence >= 1,
            !isPair || epoch == 0, isPair || number != 0
        else { throw .malformed(.keys) }
        terms = Terms(
            scope: scope, number: number, generation: generation, sequence: sequence, epoch: epoch, firstDay: firstDay,
            issued: issued, waves: flags & Self.wavesBit != 0, isPair: isPair)
        keyBytes = keys
        self.bytes = bytes
    }

    /// Signs a record.
    ///
    /// - Parameters:
    ///   - keys: the identity.
    ///   - terms: what the record says.
    ///   - dayKeys: 32 bytes for each day from `terms.firstDay` on; none withdraws.
    public init(signedBy keys: MemberKeys, _ terms: Terms, dayKeys: [[UInt8]]) throws {
        guard dayKeys.allSatisfy({ $0.count == Self.keyLength }), let count = UInt8(exactly: dayKeys.count) else {
            throw CircleError.malformed(.keys)
        }
        var bytes = Self.magic + terms.scope.bytes + terms.number.bytes + terms.generation.bytes + terms.sequence.bytes
        bytes += terms.epoch.bytes + terms.firstDay.bytes + terms.issued.bytes
        bytes += [(terms.waves ? Self.wavesBit : 0) | (terms.isPair ? Self.pairBit : 0), count, 0, 0]
        bytes += dayKeys.flatMap(\.self)
        bytes += try keys.signature("SH2 keys\0", bytes)
        try self.init(bytes)
    }

    /// The keys with their days, counted from 1970.
    public var dayKeys: [(day: UInt32, key: [UInt8])] {
        (0..<count).map { index in
            let start = index * Self.keyLength
            return (terms.firstDay &+ UInt32(index), Array(keyBytes[start..<(start + Self.keyLength)]))
        }
    }

    /// Checks everything but the form, in the dossier's order.
    ///
    /// - Parameters:
    ///   - scope: the circle or pair that it was received in.
    ///   - member: the member's checked identity.
    ///   - now: seconds since 1970.
    ///   - known: the member's record before; nil when there is none.
    ///   - epoch: the circle's.
    /// - Returns: whether it is new; false for the bytes that are known.
    @discardableResult
    public func check(
        in scope: CircleScope, by member: MemberRecord, at now: UInt64, after known: KeyRecord? = nil, epoch: UInt32
    ) throws(CircleError) -> Bool {
        guard terms.scope == scope else { throw .otherScope }
        guard terms.number == member.number else { throw .otherNumber }
        try checkTimes(at: now)
        guard terms.generation == member.generation else { throw .otherGeneration }
        if let known, known.terms.generation == terms.generation {
            if known.bytes == bytes { return false }
            guard terms.sequence > known.terms.sequence else { throw .oldSequence }
        }
        guard terms.isPair || UInt64(terms.epoch) + 1 >= UInt64(epoch) else { throw .oldEpoch }
        guard !PublicKeyCheck.isWeak(member.identity) else { throw .weakKey }
        let signed = Array(bytes.dropLast(Self.signatureLength))
        let signature = Array(bytes.suffix(Self.signatureLength))
        guard PublicKeyCheck.isSigned(signature, "SH2 keys\0", signed, by: member.identity) else { throw .signature }
        guard Set(dayKeys.map(\.key)).count == count else { throw .equalKeys }
        return true
    }

    private func checkTimes(at now: UInt64) throws(CircleError) {
        let (tolerance, issued) = (MemberRecord.tolerance, terms.issued)
        // Beyond any calendar, where the sums below would overflow.
        guard now < UInt64(UInt32.max) * Self.secondsOfDay, issued <= now + tolerance else { throw .issued }
        let lifetime = (terms.isPair ? UInt64(Self.maximumPairDays) : Self.lifetime) * Self.secondsOfDay
        guard issued + lifetime >= now else { throw .issued }
        guard !isWithdrawal else { return }
        let oldest = (now > tolerance ? now - tolerance : 0) / Self.secondsOfDay
        let newest = (now + tolerance) / Self.secondsOfDay
        let last = UInt64(terms.firstDay) + UInt64(count) - 1
        let ahead = UInt64(terms.isPair ? UInt32(Self.maximumPairDays) : Self.daysAhead)
        guard UInt64(terms.firstDay) + 1 >= oldest, last <= newest + ahead else { throw .day }
    }
}

extension KeyRecord: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "(secret keys of \(count) days of member \(terms.number))" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["terms": terms, "count": count]) }
}
