/// Where the parts of a beacon are, written as AltBeacon's library writes it: `m:2-3=beac,i:4-19,i:20-21,i:22-23,p:24-24,d:25-25`
/// (dossier 4).
///
/// Offsets count from the company's number or the service's UUID, and both ends belong to the part.
///
/// | term | meaning |
/// |---|---|
/// | `m:2-3=beac` | these bytes must be there |
/// | `s:0-1=feaa` | service data of this UUID; without it, manufacturer data |
/// | `i:4-19` | an identifier; `l` behind it reverses its bytes, `v` lets it end with the data |
/// | `p:3-3:-41` | the power, and what to add to it for 1 m |
/// | `d:25-25` | further data; `l` as above |
/// | `x` | an extra frame, which belongs to a beacon that another layout names |
public struct BeaconLayout: Sendable, Hashable {
    /// Bytes that must be there.
    var matches: [Match] = []
    /// The service whose data is read, in the order of the air; nil for manufacturer data.
    var service: [UInt8]?
    var identifiers: [Field] = []
    var power: Field?
    /// What is added to the power, in dB.
    var powerCorrection = 0
    var data: [Field] = []
    /// Whether the frame only belongs to a beacon.
    public internal(set) var isExtra = false

    /// Bytes that a frame of this layout has.
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
    /// What a layout finds in an advertisement.
    public struct Reading: Sendable, Hashable {
        /// The company's number or the service's 16-bit UUID; nil for a service with a 128-bit UUID.
        public let number: UInt16?
        /// The identifiers in the layout's order.
        public let identifiers: [[UInt8]]
        /// The signal strength to expect at 1 m, corrected; nil without a power or with an implausible one.
        public let powerAtOneMetre: RSSI?
        /// The further data in the layout's order.
        public let data: [[UInt8]]

        /// The beacon, when the identifiers have the lengths 16, 2 and 2.
        public var identity: BeaconIdentity? {
            guard identifiers.map(\.count) == [16, 2, 2] else { return nil }
            return .proximity(
                uuid: ProximityUUID(
                    high: UInt64(bigEndianBytes: identifiers[0][..<8]),
                    low: UInt64(bigEndianBytes: identifiers[0][8...])),
                major: UInt16(bigEndianBytes: identifiers[1]), minor: UInt16(bigEndianBytes: identifiers[2]))
        }
    }

    /// What the first structure of this layout says; nil when there is none.
    ///
    /// Structures that are shorter than the layout are none of it; bytes behind its last part are ignored.
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
            // The correction is from the layout, so the sum may be anything.
            let (sum, overflows) = Int(Int8(bitPattern: byte)).addingReportingOverflow(powerCorrection)
            reference = overflows ? nil : RSSI(sum)
        }
        return Reading(
            number: (service?.count ?? 2) == 2 ? UInt16(value[0]) | UInt16(value[1]) << 8 : nil,
            identifiers: identifiers, powerAtOneMetre: reference, data: data)
    }
}

extension BeaconLayout.Field {
    /// The part of a structure's value; nil when that is too short.
    fileprivate func bytes(of value: [UInt8]) -> [UInt8]? {
        let end = isVariable ? min(range.upperBound, value.count - 1) : range.upperBound
        guard range.lowerBound <= end, end < value.count else { return nil }
        let bytes = value[range.lowerBound...end]
        return isLittleEndian ? bytes.reversed() : Array(bytes)
    }
}
