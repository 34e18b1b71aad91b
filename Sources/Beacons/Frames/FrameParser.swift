/// Tells what an advertisement is, without taking memory for it.
///
/// Both ways in, whole advertising data and the parts that a receiver like BlueZ hands over, lead to the same frame
/// (dossier 2.1, 7.2). Nothing throws: bad input is a frame of its own kind.
public struct FrameParser: Sendable, Hashable {
    /// Whether bytes behind an iBeacon or AltBeacon are ignored; otherwise such a frame is malformed (dossier 2.3).
    public var ignoresTail: Bool
    /// The service whose data holds the 16-byte rolling identifiers of a community; nil looks for none (dossier 8.4).
    public var rollingService: ServiceUUID?

    public init(ignoresTail: Bool = false, rollingService: ServiceUUID? = nil) {
        self.ignoresTail = ignoresTail
        self.rollingService = rollingService
    }

    /// What the advertisement is.
    public func frame(of advertisement: Advertisement) -> Frame {
        frame(in: advertisement.data)
    }

    /// What the data holds.
    public func frame(in data: AdvertisingData) -> Frame {
        data.withSpan { frame(in: $0) }
    }

    /// What the advertising data in a buffer holds: the first beacon in it, or else the first that says anything.
    public func frame(in bytes: Span<UInt8>) -> Frame {
        var cursor = StructureCursor()
        var best = Frame.unknown
        while let (type, value) = cursor.next(in: bytes) {
            // Both kinds begin with a 16-bit number, the least significant byte first.
            guard value.count >= 2 else { continue }
            let number = bytes.littleEndian16(at: value.lowerBound)
            let body = value.lowerBound + 2..<value.upperBound
            let frame: Frame
            switch type {
            case StructureType.manufacturerData.rawValue:
                frame = manufacturerFrame(bytes, body, company: CompanyID(rawValue: number))
            case StructureType.serviceData.rawValue:
                frame = serviceFrame(bytes, body, service: ServiceUUID(rawValue: number))
            default: continue
            }
            if frame.rank == 3 { return frame }
            if frame.rank > best.rank { best = frame }
        }
        return best
    }

    /// What a company's data is; `bytes` are those behind the company's number, which BlueZ uses as the key.
    public func frame(inManufacturerData bytes: Span<UInt8>, company: CompanyID) -> Frame {
        manufacturerFrame(bytes, 0..<bytes.count, company: company)
    }

    /// What a service's data is; `bytes` are those behind the service's UUID, which BlueZ uses as the key.
    public func frame(inServiceData bytes: Span<UInt8>, service: ServiceUUID) -> Frame {
        serviceFrame(bytes, 0..<bytes.count, service: service)
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
