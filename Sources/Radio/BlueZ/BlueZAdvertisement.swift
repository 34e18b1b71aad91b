#if Desktop && os(Linux)
import Beacons
import DBus

/// Advertising data as the properties of a BlueZ advertisement (dossier 7.2, advertising 1).
///
/// Flags are omitted: BlueZ rejects them for the type `broadcast`, and receivers must not require them (dossier 2.2).
struct BlueZAdvertisement: Sendable, Hashable {
    private(set) var manufacturerData: [CompanyID: [UInt8]] = [:]
    private(set) var serviceData: [ServiceUUID: [UInt8]] = [:]
    private(set) var services: [ServiceUUID] = []
    /// A service UUID of 128 bits, which is sent alone.
    private(set) var rollingService: RollingUUID?

    /// The advertising interval in milliseconds: Apple's interval for beacons (dossier 2.5). The kernel's default is
    /// 1.28 s.
    static let interval: UInt32 = 100

    /// - Throws: ``RadioError/unsendable(problem:)`` for structures without a property in BlueZ.
    init(_ data: AdvertisingData) throws(RadioError) {
        guard data.damage == nil else {
            throw .unsendable(problem: "a structure runs past the end of the advertising data")
        }
        for structure in data.structures { try take(structure) }
        let hasData = !manufacturerData.isEmpty || !serviceData.isEmpty
        guard hasData || rollingService != nil else {
            throw .unsendable(problem: "it has neither manufacturer data nor service data nor a rolling service UUID")
        }
        // Anything beside it would tell two identifiers to be of one sender.
        guard rollingService == nil || !hasData && services.isEmpty else {
            throw .unsendable(problem: "a rolling service UUID is sent alone")
        }
    }

    private mutating func take(_ structure: AdvertisingStructure) throws(RadioError) {
        switch structure.type {
        case .flags: break
        case .completeServices, .incompleteServices:
            guard structure.value.count.isMultiple(of: 2) else {
                throw .unsendable(problem: "the list of services has an odd length")
            }
            for index in stride(from: 0, to: structure.value.count, by: 2) {
                services.append(ServiceUUID(rawValue: Self.number(structure.value, at: index)))
            }
        case .completeServices128, .incompleteServices128:
            let uuids = (try? AdvertisingData([structure])).map { FrameParser().rollingServices(in: $0) } ?? []
            guard structure.value.count == 16, let uuid = uuids.first, rollingService == nil else {
                throw .unsendable(problem: "its service UUID of 128 bits is not one rolling identifier")
            }
            rollingService = uuid
        case .manufacturerData:
            guard structure.value.count >= 2 else { throw .unsendable(problem: "manufacturer data has no company") }
            let company = CompanyID(rawValue: Self.number(structure.value, at: 0))
            guard manufacturerData.updateValue(Array(structure.value.dropFirst(2)), forKey: company) == nil else {
                throw .unsendable(problem: "the data of a company is duplicated")
            }
        case .serviceData:
            guard structure.value.count >= 2 else { throw .unsendable(problem: "service data has no service") }
            let service = ServiceUUID(rawValue: Self.number(structure.value, at: 0))
            guard serviceData.updateValue(Array(structure.value.dropFirst(2)), forKey: service) == nil else {
                throw .unsendable(problem: "the data of a service is duplicated")
            }
        default:
            throw .unsendable(problem: "BlueZ has no property for a structure of type \(structure.type.rawValue)")
        }
    }

    private static func number(_ bytes: [UInt8], at index: Int) -> UInt16 {
        UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8
    }

    /// The properties to export.
    ///
    /// - Parameter withInterval: Whether to include the interval; up to 5.66, BlueZ supports it only with its experimental
    ///   flag.
    func properties(withInterval: Bool) -> [ExportedProperty] {
        var properties = [ExportedProperty("Type", "broadcast")]
        if !manufacturerData.isEmpty {
            let entries = Dictionary(
                uniqueKeysWithValues: manufacturerData.map { ($0.key.rawValue, Value.bytes($0.value)) })
            properties.append(ExportedProperty("ManufacturerData", entries.value))
        }
        if !serviceData.isEmpty {
            let entries = Dictionary(
                uniqueKeysWithValues: serviceData.map { ($0.key.bluetoothUUID, Value.bytes($0.value)) })
            properties.append(ExportedProperty("ServiceData", entries.value))
        }
        let uuids = services.map(\.bluetoothUUID) + [rollingService?.description].compactMap(\.self)
        if !uuids.isEmpty { properties.append(ExportedProperty("ServiceUUIDs", .strings(uuids))) }
        if withInterval {
            properties.append(ExportedProperty("MinInterval", .uint32(Self.interval)))
            properties.append(ExportedProperty("MaxInterval", .uint32(Self.interval)))
        }
        return properties
    }
}
#endif
