/// A frame of Eddystone (dossier 4). Its powers are for 0 m; at 1 m 41 dB less are expected.
public enum EddystoneFrame: Sendable, Hashable {
    case uid(EddystoneUID, power: Int8)
    case url(EddystoneURL, power: Int8)
    case telemetry(EddystoneTelemetry)
    /// An ephemeral identifier of eight bytes.
    case ephemeral(UInt64, power: Int8)
    /// Telemetry of another version than 0, such as encrypted telemetry.
    case otherTelemetry(version: UInt8)
    /// A type without a meaning so far.
    case reserved(type: UInt8)

    /// What the signal loses from 0 m to 1 m, in dB.
    static let lossToOneMetre = 41

    /// The signal strength to expect at 1 m; nil for frames without a power.
    public var powerAtOneMetre: RSSI? {
        switch self {
        case .uid(_, let power), .url(_, let power), .ephemeral(_, let power):
            RSSI(Int(power) - Self.lossToOneMetre)
        case .telemetry, .otherTelemetry, .reserved: nil
        }
    }

    /// Reads the bytes behind the service's UUID; nil when they break the rules of their type.
    init?(_ bytes: Span<UInt8>, _ range: Range<Int>) {
        guard let type = range.isEmpty ? nil : bytes[range.lowerBound], type & 0x0F == 0 else { return nil }
        let body = range.lowerBound + 1..<range.upperBound
        func power() -> Int8 { Int8(bitPattern: bytes[body.lowerBound]) }
        switch type {
        case 0x00:
            // Two reserved bytes, which older senders leave out.
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

/// The two parts of an Eddystone UID.
public struct EddystoneUID: Sendable, Hashable, Codable {
    /// Ten bytes that tell a fleet.
    public let namespace: Namespace
    /// Six bytes that tell a beacon of it, in the lowest 48 bits.
    public let instance: UInt64

    /// Takes the lowest 48 bits of `instance`.
    public init(namespace: Namespace, truncatingInstance instance: UInt64) {
        self.namespace = namespace
        self.instance = instance & 0xFFFF_FFFF_FFFF
    }

    /// Ten bytes that tell a fleet.
    public struct Namespace: Sendable, Hashable, Codable {
        /// The first eight bytes.
        public let high: UInt64
        /// The last two.
        public let low: UInt16

        public init(high: UInt64, low: UInt16) {
            self.high = high
            self.low = low
        }

        /// A UUID without its bytes 5 to 10, counted from 1 (dossier 4).
        public init(shortening uuid: ProximityUUID) {
            high = uuid.high & 0xFFFF_FFFF_0000_0000 | (uuid.low >> 16) & 0xFFFF_FFFF
            low = UInt16(truncatingIfNeeded: uuid.low)
        }

        /// The ten bytes.
        public var bytes: [UInt8] { high.bigEndianBytes + low.bigEndianBytes }
    }

    /// Reads 16 bytes.
    init(_ bytes: Span<UInt8>, at offset: Int) {
        namespace = Namespace(high: bytes.bigEndian(at: offset), low: bytes.bigEndian(at: offset + 8))
        instance = bytes.bigEndian(at: offset + 10, count: 6)
    }

    /// The structures that are sent: the list with the service, and the service's data with two reserved bytes.
    ///
    /// - Parameter power: dBm at 0 m.
    public func structures(power: Int8) -> [AdvertisingStructure] {
        let body = [0x00, UInt8(bitPattern: power)] + namespace.bytes + instance.bigEndianBytes.dropFirst(2) + [0, 0]
        return AdvertisingStructure.eddystone(body)
    }
}

/// What an Eddystone beacon tells of itself.
public struct EddystoneTelemetry: Sendable, Hashable {
    /// Millivolts; nil without a battery.
    public let battery: UInt16?
    /// Degrees Celsius; nil when it is not measured.
    public let temperature: Double?
    /// Advertisements sent since it was switched on.
    public let advertisements: UInt32
    /// Tenths of a second since it was switched on.
    public let uptime: UInt32

    /// Reads 12 bytes.
    init(_ bytes: Span<UInt8>, at offset: Int) {
        let volts: UInt16 = bytes.bigEndian(at: offset)
        battery = volts == 0 ? nil : volts
        let degrees = Int16(bitPattern: bytes.bigEndian(at: offset + 2))
        temperature = degrees == .min ? nil : Double(degrees) / 256
        advertisements = bytes.bigEndian(at: offset + 4)
        uptime = bytes.bigEndian(at: offset + 8)
    }
}

extension AdvertisingStructure {
    /// A frame of Eddystone, whose length is known to fit.
    static func eddystone(_ body: [UInt8]) -> [AdvertisingStructure] {
        [
            .service(.eddystone),
            AdvertisingStructure(.serviceData, short: ServiceUUID.eddystone.rawValue.littleEndianBytes + body),
        ]
    }
}
