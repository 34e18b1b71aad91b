/// An object of a peer: calls its methods, and reads and writes its properties.
package struct RemoteObject: Sendable {
    package let connection: Connection
    /// The owner of the object.
    package let destination: BusName
    package let path: ObjectPath

    /// Calls a method.
    ///
    /// - Throws: As ``Connection/call(_:timeout:)``.
    @discardableResult
    package func call(
        _ member: MemberName, in interface: InterfaceName, _ arguments: [Value] = [],
        timeout: Duration = Connection.standardTimeout
    ) async throws -> [Value] {
        try await connection.call(
            MethodCall(member, in: interface, of: path, at: destination, arguments: arguments), timeout: timeout)
    }

    /// The value of a property (D-Bus Specification, “org.freedesktop.DBus.Properties”).
    ///
    /// - Throws: ``DBusError/unexpectedType(expected:found:)`` and as ``Connection/call(_:timeout:)``.
    package func property<Result: ValueConvertible>(
        _ name: MemberName, of interface: InterfaceName, as type: Result.Type = Result.self
    ) async throws -> Result {
        try await call("Get", in: .properties, [interface.text.value, name.text.value]).read(Value.self).read(type)
    }

    /// Every property of an interface.
    ///
    /// - Throws: As ``Connection/call(_:timeout:)``.
    package func properties(of interface: InterfaceName) async throws -> [String: Value] {
        try await call("GetAll", in: .properties, [interface.text.value]).read([String: Value].self)
    }

    /// Sets a property.
    ///
    /// - Throws: As ``Connection/call(_:timeout:)``.
    package func setProperty(_ name: MemberName, of interface: InterfaceName, to value: Value) async throws {
        try await call("Set", in: .properties, [interface.text.value, name.text.value, .variant(value)])
    }

    /// The objects below this one, with their interfaces and properties (D-Bus Specification,
    /// “org.freedesktop.DBus.ObjectManager”).
    ///
    /// - Throws: As ``Connection/call(_:timeout:)``.
    package func managedObjects() async throws -> [ObjectPath: [String: [String: Value]]] {
        try await call("GetManagedObjects", in: .objectManager)
            .read([ObjectPath: [String: [String: Value]]].self)
    }

    /// The signals of this object, from the return of this function on.
    ///
    /// - Throws: As ``Connection/signals(matching:buffer:)``.
    package func signals(_ member: MemberName? = nil, of interface: InterfaceName) async throws -> Signals {
        try await connection.signals(
            matching: MatchRule(sender: destination, interface: interface, member: member, path: path))
    }
}

extension Connection {
    /// The object of a peer at `path`. Sends nothing; the object may not exist.
    package func object(_ path: ObjectPath, of destination: BusName) -> RemoteObject {
        RemoteObject(connection: self, destination: destination, path: path)
    }
}
