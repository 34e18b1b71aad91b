/// The positions of a beacon's parts (dossier 4). The notation is that of AltBeacon's library:
/// `m:2-3=beac,i:4-19,i:20-21,i:22-23,p:24-24,d:25-25`.
///
/// Offsets count from the company ID or the service UUID; ranges are inclusive.
///
/// | term | meaning |
/// |---|---|
/// | `m:2-3=beac` | these bytes must match |
/// | `s:0-1=feaa` | service data of this UUID; without it, manufacturer data |
/// | `i:4-19` | an identifier; with `l` its bytes are reversed, with `v` it may end with the data |
/// | `p:3-3:-41` | the power, and the correction to 1 m |
/// | `d:25-25` | further data; `l` as above |
/// | `x` | an extra frame of a beacon that another layout identifies |
public struct BeaconLayout: Sendable, Hashable {
    /// Bytes that must match.
    var matches: [Match] = []
    /// The service whose data is read, in the byte order of the air; nil for manufacturer data.
    var service: [UInt8]?
    var identifiers: [Field] = []
    var power: Field?
    /// The correction of the power, in dB.
    var powerCorrection = 0
    var data: [Field] = []
    /// Whether the frame belongs to a beacon of another layout.
    public internal(set) var isExtra = false

    /// The bytes that a frame of this layout must have.
    struct Match: Sendable, Hashable {
        let range: ClosedRange<Int>
        let bytes: [UInt8]
    }

    /// A part of the frame.
    struct Field: Sendable, Hashable {
        let range: ClosedRange<Int>
        var isLittleEndian = false
        var isVariable = false
    }

    /// iBeacon.
    public static let iBeacon = proximity(code: [0x02, 0x15])
    /// AltBeacon.
    public static let altBeacon = {
        var layout = proximity(code: [0xBE, 0xAC])
        layout.data = [Field(range: 25...25)]
        return layout
    }()
    /// Eddystone's UID.
    public static let eddystoneUID = eddystone(0x00, identifiers: [Field(range: 4...13), Field(range: 14...19)])
    /// Eddystone's URL.
    public static let eddystoneURL = eddystone(0x10, identifiers: [Field(range: 4...21, isVariable: true)])

    private static func proximity(code: [UInt8]) -> BeaconLayout {
        BeaconLayout(
            matches: [Match(range: 2...3, bytes: code)],
            identifiers: [Field(range: 4...19), Field(range: 20...21), Field(range: 22...23)],
            power: Field(range: 24...24))
    }

    private static func eddystone(_ type: UInt8, identifiers: [Field]) -> BeaconLayout {
        BeaconLayout(
            matches: [Match(range: 2...2, bytes: [type])], service: [0xAA, 0xFE], identifiers: identifiers,
            power: Field(range: 3...3), powerCorrection: -41)
    }
}

extension BeaconLayout {
    /// The values of a layout's parts in an advertisement.
    public struct Reading: Sendable, Hashable {
        /// The company ID or 16-bit service UUID; nil for a 128-bit service UUID.
        public let number: UInt16?
        /// The identifiers in the layout's order.
        public let identifiers: [[UInt8]]
        /// The expected signal strength at 1 m, corrected. Nil without a power or with an implausible one.
        public let powerAtOneMetre: RSSI?
        /// The further data in the layout's order.
        public let data: [[UInt8]]

        /// The beacon's identity, if the identifiers have the lengths 16, 2 and 2.
        public var identity: BeaconIdentity? {
            guard identifiers.map(\.count) == [16, 2, 2] else { return nil }
            return .proximity(
                uuid: ProximityUUID(
                    high: UInt64(bigEndianBytes: identifiers[0][..<8]),
                    low: UInt64(bigEndianBytes: identifiers[0][8...])),
                major: UInt16(bigEndianBytes: identifiers[1]), minor: UInt16(bigEndianBytes: identifiers[2]))
        }
    }

    /// Reads the first structure of this layout; nil when there is none.
    ///
    /// Structures shorter than the layout do not match; bytes after its last part are ignored.
    public func reading(of data: AdvertisingData) -> Reading? {
        for structure in data.structures {
            if structure.type == structureType, let reading = reading(ofValue: structure.value) { return reading }
        }
        return nil
    }

    private var structureType: StructureType {
        switch service?.count {
        case nil: .manufacturerData
        case 2: .serviceData
        default: .serviceData128
        }
    }

    private func reading(ofValue value: [UInt8]) -> Reading? {
        guard value.count >= 2, service.map(value.starts(with:)) ?? true,
            matches.allSatisfy({ $0.range.upperBound < value.count && value[$0.range].elementsEqual($0.bytes) })
        else { return nil }
        var identifiers: [[UInt8]] = []
        for field in self.identifiers {
            guard let bytes = field.bytes(of: value) else { return nil }
            identifiers.append(bytes)
        }
        var data: [[UInt8]] = []
        for field in self.data {
            guard let bytes = field.bytes(of: value) else { return nil }
            data.append(bytes)
        }
        var reference: RSSI?
        if let power {
            guard let byte = power.bytes(of: value)?.first else { return nil }
            // The correction comes from the layout, so the sum can be out of range.
            let (sum, overflows) = Int(Int8(bitPattern: byte)).addingReportingOverflow(powerCorrection)
            reference = overflows ? nil : RSSI(sum)
        }
        return Reading(
            number: (service?.count ?? 2) == 2 ? UInt16(value[0]) | UInt16(value[1]) << 8 : nil,
            identifiers: identifiers, powerAtOneMetre: reference, data: data)
    }
}

extension BeaconLayout.Field {
    /// The part of a structure's value; nil when the value is too short.
    fileprivate func bytes(of value: [UInt8]) -> [UInt8]? {
        let end = isVariable ? min(range.upperBound, value.count - 1) : range.upperBound
        guard range.lowerBound <= end, end < value.count else { return nil }
        let bytes = value[range.lowerBound...end]
        return isLittleEndian ? bytes.reversed() : Array(bytes)
    }
}
