/// Parses advertisements without allocating memory.
///
/// Nothing throws: malformed input has a frame case of its own (dossier 2.1).
public struct FrameParser: Sendable, Hashable {
    /// Whether extra bytes after an iBeacon or AltBeacon are ignored (dossier 2.3). Otherwise such a frame is
    /// malformed.
    public var ignoresTail: Bool
    /// The service whose data carries a community's rolling identifiers (dossier 8.4). They have 16 bytes. Nil for
    /// none.
    public var rollingService: ServiceUUID?

    public init(ignoresTail: Bool = false, rollingService: ServiceUUID? = nil) {
        self.ignoresTail = ignoresTail
        self.rollingService = rollingService
    }

    /// Parses an advertisement.
    public func frame(of advertisement: Advertisement) -> Frame {
        frame(in: advertisement.data)
    }

    /// Parses advertising data.
    public func frame(in data: AdvertisingData) -> Frame {
        data.withSpan { frame(in: $0) }
    }

    /// Parses advertising data in a buffer. The result is the first beacon, otherwise the first known frame.
    public func frame(in bytes: Span<UInt8>) -> Frame {
        var cursor = StructureCursor()
        var best = Frame.unknown
        while let (type, value) = cursor.next(in: bytes) {
            // Both kinds begin with a 16-bit number, least significant byte first.
            guard value.count >= 2 else { continue }
            let number = bytes.littleEndian16(at: value.lowerBound)
            let body = value.lowerBound + 2..<value.upperBound
            let frame: Frame
            switch type {
            case StructureType.manufacturerData.rawValue:
                frame = manufacturerFrame(bytes, body, company: CompanyID(rawValue: number))
            case StructureType.serviceData.rawValue:
                frame = serviceFrame(bytes, body, service: ServiceUUID(rawValue: number))
            case StructureType.incompleteServices128.rawValue, StructureType.completeServices128.rawValue:
                guard let uuid = Self.rollingService(bytes, value) else { continue }
                frame = .rollingService(uuid)
            default: continue
            }
            if frame.rank == Frame.beaconRank { return frame }
            if frame.rank > best.rank { best = frame }
        }
        return best
    }

    /// How many service UUIDs of one advertisement are read; a sender of rolling identifiers has one or two.
    static let maximumServices = 8

    /// The first eight service UUIDs that can be rolling identifiers.
    public func rollingServices(in data: AdvertisingData) -> [RollingUUID] {
        data.withSpan { bytes in
            var found: [RollingUUID] = []
            var cursor = StructureCursor()
            while let (type, value) = cursor.next(in: bytes) {
                guard
                    type == StructureType.incompleteServices128.rawValue
                        || type == StructureType.completeServices128.rawValue
                else { continue }
                for offset in Self.services(in: value) {
                    guard found.count < Self.maximumServices else { return found }
                    if let uuid = RollingUUID(sent: bytes, at: offset) { found.append(uuid) }
                }
            }
            return found
        }
    }

    /// The first service UUID of a list that can be a rolling identifier.
    private static func rollingService(_ bytes: Span<UInt8>, _ range: Range<Int>) -> RollingUUID? {
        for offset in services(in: range) {
            if let uuid = RollingUUID(sent: bytes, at: offset) { return uuid }
        }
        return nil
    }

    /// Where the UUIDs of a list begin; a rest at its end is ignored.
    private static func services(in range: Range<Int>) -> StrideTo<Int> {
        let whole = range.count / RollingUUID.length * RollingUUID.length
        return stride(from: range.lowerBound, to: range.lowerBound + whole, by: RollingUUID.length)
    }

    private func manufacturerFrame(_ bytes: Span<UInt8>, _ range: Range<Int>, company: CompanyID) -> Frame {
        guard range.count >= 2 else {
            return company == .apple && range.count == 1
                ? .otherApple(messageType: bytes[range.lowerBound]) : .unknown
        }
        let code: UInt16 = bytes.bigEndian(at: range.lowerBound)
        if code == AltBeacon.code {
            guard fits(range, AltBeacon.length) else { return .malformed(.altBeacon) }
            return .altBeacon(AltBeacon(bytes, at: range.lowerBound, company: company))
        }
        guard company == .apple else { return .unknown }
        guard code == IBeacon.code else { return .otherApple(messageType: bytes[range.lowerBound]) }
        guard fits(range, IBeacon.length) else { return .malformed(.iBeacon) }
        return .iBeacon(IBeacon(bytes, at: range.lowerBound))
    }

    private func serviceFrame(_ bytes: Span<UInt8>, _ range: Range<Int>, service: ServiceUUID) -> Frame {
        switch service {
        case .eddystone:
            return EddystoneFrame(bytes, range).map { .eddystone($0) } ?? .malformed(.eddystone)
        case .exposureNotification:
            guard range.count == ExposureNotification.length else { return .malformed(.exposureNotification) }
            return .exposureNotification(ExposureNotification(bytes, at: range.lowerBound))
        case rollingService:
            guard range.count == RollingToken.length else { return .malformed(.rolling) }
            return .rolling(RollingToken(bytes, at: range.lowerBound))
        default: return .unknown
        }
    }

    private func fits(_ range: Range<Int>, _ length: Int) -> Bool {
        range.count == length || (ignoresTail && range.count > length)
    }
}
