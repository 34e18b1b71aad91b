/// An Eddystone frame (dossier 4). Its powers are for 0 m; at 1 m, 41 dB less are expected.
public enum EddystoneFrame: Sendable, Hashable {
    case uid(EddystoneUID, power: Int8)
    case url(EddystoneURL, power: Int8)
    case telemetry(EddystoneTelemetry)
    /// An ephemeral identifier of eight bytes.
    case ephemeral(UInt64, power: Int8)
    /// Telemetry of another version than 0, such as encrypted telemetry.
    case otherTelemetry(version: UInt8)
    /// A reserved type.
    case reserved(type: UInt8)

    /// The loss from 0 m to 1 m, in dB.
    static let lossToOneMetre = 41

    /// The expected signal strength at 1 m; nil for frames without a power.
    public var powerAtOneMetre: RSSI? {
        switch self {
        case .uid(_, let power), .url(_, let power), .ephemeral(_, let power):
            RSSI(Int(power) - Self.lossToOneMetre)
        case .telemetry, .otherTelemetry, .reserved: nil
        }
    }

    /// Reads the bytes after the service UUID; nil when they are malformed.
    init?(_ bytes: Span<UInt8>, _ range: Range<Int>) {
        guard let type = range.isEmpty ? nil : bytes[range.lowerBound], type & 0x0F == 0 else { return nil }
        let body = range.lowerBound + 1..<range.upperBound
        func power() -> Int8 { Int8(bitPattern: bytes[body.lowerBound]) }
        switch type {
        case 0x00:
            // Two reserved bytes, which older senders omit.
            guard body.count == 17 || body.count == 19 else { return nil }
            self = .uid(EddystoneUID(bytes, at: body.lowerBound + 1), power: power())
        case 0x10:
            guard body.count >= 3, let url = EddystoneURL(bytes, body.lowerBound + 1..<body.upperBound) else {
                return nil
            }
            self = .url(url, power: power())
        case 0x20:
            guard let version = body.isEmpty ? nil : bytes[body.lowerBound] else { return nil }
            guard version == 0 else {
                self = .otherTelemetry(version: version)
                return
            }
            guard body.count == 13 else { return nil }
            self = .telemetry(EddystoneTelemetry(bytes, at: body.lowerBound + 1))
        case 0x30:
            guard body.count == 9 else { return nil }
            self = .ephemeral(bytes.bigEndian(at: body.lowerBound + 1), power: power())
        default: self = .reserved(type: type)
        }
    }
}

extension AdvertisingStructure {
    /// An Eddystone frame whose length is known to fit.
    static func eddystone(_ body: [UInt8]) -> [AdvertisingStructure] {
        [
            .service(.eddystone),
            AdvertisingStructure(.serviceData, short: ServiceUUID.eddystone.rawValue.littleEndianBytes + body),
        ]
    }
}
