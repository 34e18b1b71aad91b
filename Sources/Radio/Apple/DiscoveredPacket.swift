import Beacons

/// Reads what can identify a beacon out of the dictionary in which Core Bluetooth reports a packet.
///
/// It is without Core Bluetooth's types, so that it is tested where there is none.
struct DiscoveredPacket: Sendable {
    /// `CBAdvertisementDataManufacturerDataKey`
    let manufacturerDataKey: String
    /// `CBAdvertisementDataServiceDataKey`
    let serviceDataKey: String
    /// `CBAdvertisementDataServiceUUIDsKey`
    let servicesKey: String
    /// `CBAdvertisementDataLocalNameKey`
    let nameKey: String
    /// `CBAdvertisementDataTxPowerLevelKey`
    let powerKey: String

    /// The packet's data; nil when nothing in it can identify a beacon.
    ///
    /// The overflow area is not read: it says only that one of many identifiers is near. It wakes the app, and names no person
    /// (circles dossier 2). A name and a power are told beside rolling service UUIDs only, for the audit of what one sends.
    ///
    /// - Parameters:
    ///   - dictionary: what Core Bluetooth reports.
    ///   - bytes: the type of values that are bytes.
    ///   - text: a UUID as text: four digits for one of 16 bits.
    func data<Bytes: Collection<UInt8>, Identifier: Hashable>(
        in dictionary: [String: Any], bytes: Bytes.Type, text: (Identifier) -> String
    ) -> AdvertisingData? {
        var manufacturerData: [CompanyID: [UInt8]] = [:]
        if let data = dictionary[manufacturerDataKey] as? Bytes, data.count >= 2 {
            let bytes = Array(data)
            manufacturerData[CompanyID(rawValue: UInt16(bytes[0]) | UInt16(bytes[1]) << 8)] = Array(bytes.dropFirst(2))
        }
        var serviceData: [ServiceUUID: [UInt8]] = [:]
        for (identifier, data) in dictionary[serviceDataKey] as? [Identifier: Bytes] ?? [:] {
            let text = text(identifier)
            guard text.utf8.count == 4, let number = UInt16(text, radix: 16) else { continue }
            serviceData[ServiceUUID(rawValue: number)] = Array(data)
        }
        let listed = dictionary[servicesKey] as? [Identifier] ?? []
        let services = listed.compactMap { RollingUUID(text($0)) }
        guard !manufacturerData.isEmpty || !serviceData.isEmpty || !services.isEmpty else { return nil }
        let isService = !services.isEmpty
        let power = (dictionary[powerKey] as? Int).map { Int8(clamping: $0) }
        return try? AdvertisingData(
            manufacturerData: manufacturerData, serviceData: serviceData, services: services,
            name: isService ? dictionary[nameKey] as? String : nil, power: isService ? power : nil)
    }
}

extension DeviceAddress {
    /// Part of the system's identifier of a transmitter, in place of the address, which Apple's platforms do not report.
    ///
    /// The first two bits are 0, as in an address that its device changes. Other values would tell an audit that the address lasts.
    ///
    /// - Parameter identifier: the last bytes of `CBPeripheral.identifier`.
    init(transmitter identifier: some Collection<UInt8>) {
        let number: UInt64 = identifier.suffix(6).reduce(0) { $0 << 8 | UInt64($1) }
        self.init(truncating: number & 0x3FFF_FFFF_FFFF)
    }
}
