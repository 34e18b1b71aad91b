#if Desktop && os(Linux)
import DBus

/// An adapter as BlueZ reports it.
struct BlueZAdapter: Sendable, Hashable {
    let path: ObjectPath
    var address: String?
    var isPowered: Bool
    /// The names of its interfaces: the monitor's only when bluetoothd runs with its experimental flag (dossier 7.2).
    var interfaces: Set<String>
    /// The number of free advertising instances; nil when BlueZ does not report it.
    var freeInstances: UInt8?
    /// How many advertisements are sent, by all processes together.
    var activeInstances: UInt8 = 0
    /// Whether each advertisement has an address of its own. Other controllers have one for all, and BlueZ reports no secondary
    /// channels of them.
    var hasSeparateAddresses: Bool
    /// The supported monitor types.
    var monitorTypes: [String]

    /// `hci0`.
    var name: String { path.elements.last.map(String.init) ?? path.text }

    init(path: ObjectPath, interfaces: [String: [String: Value]]) {
        self.path = path
        let adapter = interfaces[InterfaceName.adapter.text] ?? [:]
        address = adapter["Address"].flatMap { String(reading: $0) }
        isPowered = adapter["Powered"].flatMap { Bool(reading: $0) } ?? false
        self.interfaces = Set(interfaces.keys)
        freeInstances = interfaces[InterfaceName.advertisingManager.text]?["SupportedInstances"]
            .flatMap { UInt8(reading: $0) }
        activeInstances =
            interfaces[InterfaceName.advertisingManager.text]?["ActiveInstances"]
            .flatMap { UInt8(reading: $0) } ?? 0
        let channels = interfaces[InterfaceName.advertisingManager.text]?["SupportedSecondaryChannels"]
        hasSeparateAddresses = channels.flatMap { [String](reading: $0) }?.isEmpty == false
        monitorTypes =
            interfaces[InterfaceName.monitorManager.text]?["SupportedMonitorTypes"]
            .flatMap { [String](reading: $0) } ?? []
    }

    mutating func change(_ interface: String, _ changed: [String: Value]) {
        if let powered = changed["Powered"].flatMap({ Bool(reading: $0) }), interface == InterfaceName.adapter.text {
            isPowered = powered
        }
        if let free = changed["SupportedInstances"].flatMap({ UInt8(reading: $0) }) { freeInstances = free }
        if let active = changed["ActiveInstances"].flatMap({ UInt8(reading: $0) }) { activeInstances = active }
    }

    mutating func gain(_ interfaces: [String: [String: Value]]) {
        let later = BlueZAdapter(path: path, interfaces: interfaces)
        self.interfaces.formUnion(later.interfaces)
        if interfaces[InterfaceName.adapter.text] != nil {
            isPowered = later.isPowered
            address = later.address
        }
        freeInstances = later.freeInstances ?? freeInstances
        if interfaces[InterfaceName.advertisingManager.text] != nil {
            activeInstances = later.activeInstances
            hasSeparateAddresses = later.hasSeparateAddresses
        }
        if !later.monitorTypes.isEmpty { monitorTypes = later.monitorTypes }
    }

    func has(_ interface: InterfaceName) -> Bool {
        interfaces.contains(interface.text)
    }
}
#endif
