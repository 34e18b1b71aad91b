#if Desktop && os(Linux)
import Beacons
import DBus

/// BlueZ's objects, updated by its signals. A pure value that interprets signals.
struct BlueZObjects: Sendable {
    private(set) var adapters: [ObjectPath: BlueZAdapter] = [:]
    private(set) var devices = DeviceTable()

    /// The effect of a signal.
    enum Change: Sendable, Hashable {
        case nothing
        case sighting(Advertisement)
        /// An adapter was added, removed or changed.
        case adapters
        /// An unknown device changed; fetch its properties.
        case unknownDevice(ObjectPath)
    }

    /// Applies the reply of `GetManagedObjects`.
    ///
    /// - Returns: The devices in range. Cached devices have no signal strength and are no sightings (dossier 7.2,
    ///   active scan 3).
    mutating func replace(
        with objects: [ObjectPath: [String: [String: Value]]], at time: Timestamp
    ) -> [Advertisement] {
        adapters = [:]
        devices = DeviceTable()
        var sightings: [Advertisement] = []
        for (path, interfaces) in objects.sorted(by: { $0.key < $1.key }) {
            if case .sighting(let sighting) = add(path, interfaces, at: time) { sightings.append(sighting) }
        }
        return sightings
    }

    /// Applies a signal of BlueZ.
    mutating func apply(_ signal: Signal, at time: Timestamp) -> Change {
        switch (signal.interface, signal.member) {
        case (.objectManager, "InterfacesAdded"):
            guard
                let (path, interfaces) = try? signal.arguments.read(
                    ObjectPath.self, [String: [String: Value]].self)
            else { return .nothing }
            return add(path, interfaces, at: time)
        case (.objectManager, "InterfacesRemoved"):
            guard let (path, names) = try? signal.arguments.read(ObjectPath.self, [String].self) else {
                return .nothing
            }
            return remove(path, names)
        case (.properties, "PropertiesChanged"):
            guard
                let (interface, changed, invalidated) = try? signal.arguments.read(
                    String.self, [String: Value].self, [String].self)
            else { return .nothing }
            return change(signal.path, interface, changed, invalidated, at: time)
        default: return .nothing
        }
    }

    /// Applies the properties of a fetched device.
    mutating func add(
        _ path: ObjectPath, _ interfaces: [String: [String: Value]], at time: Timestamp
    ) -> Change {
        if let device = interfaces[InterfaceName.device.text] {
            return devices.add(path, device, at: time).map { .sighting($0) } ?? .nothing
        }
        if adapters[path] != nil {
            adapters[path]?.gain(interfaces)
            return .adapters
        }
        guard interfaces[InterfaceName.adapter.text] != nil else { return .nothing }
        adapters[path] = BlueZAdapter(path: path, interfaces: interfaces)
        return .adapters
    }

    /// Applies a monitor's `DeviceFound`.
    mutating func found(_ path: ObjectPath, at time: Timestamp) -> Change {
        guard devices.knows(path) else { return .unknownDevice(path) }
        return devices.found(path, at: time).map { .sighting($0) } ?? .nothing
    }

    /// Applies a monitor's `DeviceLost`.
    mutating func lost(_ path: ObjectPath) {
        devices.lost(path)
    }

    private mutating func remove(_ path: ObjectPath, _ names: [String]) -> Change {
        if names.contains(InterfaceName.device.text) {
            devices.remove(path)
            return .nothing
        }
        guard adapters[path] != nil else { return .nothing }
        if names.contains(InterfaceName.adapter.text) {
            adapters[path] = nil
            devices.removeAll(below: path)
        } else {
            adapters[path]?.interfaces.subtract(names)
        }
        return .adapters
    }

    private mutating func change(
        _ path: ObjectPath, _ interface: String, _ changed: [String: Value], _ invalidated: [String],
        at time: Timestamp
    ) -> Change {
        if interface == InterfaceName.device.text {
            guard devices.knows(path) else {
                return changed.keys.contains(where: DeviceTable.isHeard) ? .unknownDevice(path) : .nothing
            }
            return devices.change(path, changed, invalidated, at: time).map { .sighting($0) } ?? .nothing
        }
        guard let before = adapters[path] else { return .nothing }
        adapters[path]?.change(interface, changed)
        return adapters[path] == before ? .nothing : .adapters
    }

    /// Replaces the adapters.
    mutating func take(_ adapters: [BlueZAdapter]) {
        for adapter in adapters { self.adapters[adapter.path] = adapter }
    }

    /// The adapter to use: the named one, otherwise the first that is on, otherwise the first.
    ///
    /// - Throws: ``RadioError/noAdapter(named:)``.
    func adapter(named name: String?) throws(RadioError) -> BlueZAdapter {
        let sorted = adapters.values.sorted { $0.path < $1.path }
        if let name {
            guard let adapter = sorted.first(where: { $0.name == name || $0.address == name.uppercased() }) else {
                throw .noAdapter(named: name)
            }
            return adapter
        }
        guard let adapter = sorted.first(where: \.isPowered) ?? sorted.first else { throw .noAdapter(named: nil) }
        return adapter
    }
}
#endif
