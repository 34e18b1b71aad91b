/// A member's public identity, signed by itself: SHM1 (circles dossier 3).
///
/// Parsing checks the form; ``check(in:of:at:)`` checks the rest. What is sent is what is signed, so there is one encoding.
public struct MemberRecord: Sendable, Hashable {
    /// The record as sent: 164 bytes, 228 from the second generation on.
    public let bytes: [UInt8]
    public let scope: CircleScope
    /// The member's number; 0 only in a pair.
    public let number: UInt32
    /// How often the identity was replaced, from 1.
    public let generation: UInt32
    /// Seconds since 1970.
    public let issued: UInt64
    /// The public Ed25519 key.
    public let identity: [UInt8]
    /// The public X25519 key.
    public let agreement: [UInt8]

    private static let magic: [UInt8] = Array("SHM1".utf8)
    private static let signedLength = 100
    static let length = 164
    static let rotatedLength = 228

    /// How far ahead of this clock a record may be issued, in seconds.
    static let tolerance: UInt64 = 300

    /// Parses a record.
    ///
    /// - Throws: ``CircleError/malformed(_:)`` for another form.
    public init(_ bytes: [UInt8]) throws(CircleError) {
        var reader = ByteReader(bytes)
        guard bytes.count == Self.length || bytes.count == Self.rotatedLength, reader.expect(Self.magic),
            let scope = reader.bytes(CircleScope.length).flatMap({ CircleScope($0) }),
            let number = reader.number(UInt32.self), let generation = reader.number(UInt32.self),
            let issued = reader.number(UInt64.self), let identity = reader.bytes(32), let agreement = reader.bytes(32),
            generation >= 1, (generation == 1) == (bytes.count == Self.length)
        else { throw .malformed(.member) }
        self.bytes = bytes
        self.scope = scope
        self.number = number
        self.generation = generation
        self.issued = issued
        self.identity = identity
        self.agreement = agreement
    }

    /// Signs a record.
    ///
    /// - Parameters:
    ///   - keys: the identity that it is about.
    ///   - scope: the circle or pair.
    ///   - number: the member's number.
    ///   - time: seconds since 1970.
    ///   - previous: the identity that this one replaces, and its generation; nil for the first.
    public init(
        signedBy keys: MemberKeys, in scope: CircleScope, number: UInt32, at time: UInt64,
        replacing previous: (keys: MemberKeys, generation: UInt32)? = nil
    ) throws {
        let generation = (previous?.generation ?? 0) &+ 1
        var bytes = Self.magic + scope.bytes + number.bytes + generation.bytes + time.bytes
        bytes += keys.identity + keys.agreementKey
        bytes += try keys.signature("SH2 member\0", bytes)
        if let previous { bytes += try previous.keys.signature("SH2 rotate\0", bytes) }
        try self.init(bytes)
    }

    /// Checks everything but the form, in the dossier's order.
    ///
    /// - Parameters:
    ///   - scope: the circle or pair that it was received in.
    ///   - number: the member that it was received for; nil where it may be anyone.
    ///   - now: seconds since 1970.
    public func check(in scope: CircleScope, of number: UInt32?, at now: UInt64) throws(CircleError) {
        guard self.scope == scope else { throw .otherScope }
        guard number == nil || self.number == number else { throw .otherNumber }
        guard issued <= now || issued - now <= Self.tolerance else { throw .issued }
        guard !PublicKeyCheck.isWeak(identity) else { throw .weakKey }
        let signed = Array(bytes[..<Self.signedLength])
        let signature = Array(bytes[Self.signedLength..<Self.length])
        guard PublicKeyCheck.isSigned(signature, "SH2 member\0", signed, by: identity) else { throw .signature }
    }

    /// Whether the identity of an earlier record has signed that this one replaces it.
    public func replaces(_ earlier: MemberRecord) -> Bool {
        guard generation > earlier.generation, bytes.count == Self.rotatedLength else { return false }
        let signed = Array(bytes[..<Self.length])
        let signature = Array(bytes[Self.length...])
        return PublicKeyCheck.isSigned(signature, "SH2 rotate\0", signed, by: earlier.identity)
    }
}
