extension Connection {
    /// Exports an object: from now on peers can call it, even while calls of this connection are pending.
    ///
    /// Every object implements `org.freedesktop.DBus.Properties`, `Introspectable` and `Peer`. A manager also implements
    /// `ObjectManager` for the objects below it and signals when they are added and removed.
    ///
    /// - Parameters:
    ///   - interfaces: The interfaces, besides the standard ones.
    ///   - path: The path of the object.
    ///   - isManager: Whether it implements `ObjectManager`.
    /// - Throws: ``DBusError/invalidExport(path:problem:)`` when the path is taken, a name is duplicated or is that of a standard
    ///   interface, or a type is invalid; ``DBusError/connectionLost(reason:)``
    package func export(
        _ interfaces: [ExportedInterface], at path: ObjectPath, isManager: Bool = false
    ) throws(DBusError) {
        for problem in interfaces.compactMap(\.problem) { throw .invalidExport(path: path, problem: problem) }
        guard Set(interfaces.map(\.name)).count == interfaces.count else {
            throw .invalidExport(path: path, problem: "an interface is duplicated")
        }
        let object = ExportedObject(interfaces, isManager: isManager)
        let managers = try router.changeObjects { table throws(DBusError) in
            try table.add(object, at: path)
            return table.managers(above: path)
        }
        guard !managers.isEmpty else { return }
        let arguments = [path.value, object.interfacesAndProperties.value]
        for manager in managers { try announce("InterfacesAdded", arguments, by: manager) }
    }

    /// Withdraws an object and cancels its running call. A path without an object is no error.
    ///
    /// - Throws: ``DBusError/connectionLost(reason:)``
    package func withdraw(_ path: ObjectPath) throws(DBusError) {
        let (object, managers) = try router.changeObjects { table throws(DBusError) in
            (table.remove(path), table.managers(above: path))
        }
        guard let object else { return }
        object.stop()
        let arguments = [path.value, object.interfaces.map(\.name.text).value]
        for manager in managers { try announce("InterfacesRemoved", arguments, by: manager) }
    }

    private func announce(_ member: MemberName, _ arguments: [Value], by manager: ObjectPath) throws(DBusError) {
        try emit(Signal(path: manager, interface: .objectManager, member: member, arguments: arguments))
    }
}

extension ExportedInterface {
    /// Why it cannot be exported.
    fileprivate var problem: String? {
        if [.properties, .introspectable, .peer, .objectManager].contains(name) {
            return "\(name) is a standard interface"
        }
        if Set(methods.map(\.name)).count < methods.count { return "a method of \(name) is duplicated" }
        if Set(properties.map(\.name)).count < properties.count { return "a property of \(name) is duplicated" }
        let signatures =
            methods.flatMap { [$0.takes, $0.returns] }.map { $0.map(\.type) } + signals.map { $0.arguments.map(\.type) }
            + properties.map { [$0.value.type] }
        for types in signatures {
            do throws(DBusError) {
                _ = try Signature(types)
            } catch {
                return error.description
            }
        }
        return nil
    }
}
