/// An interface of an exported object: methods, properties and signals.
package struct ExportedInterface: Sendable {
    package let name: InterfaceName
    package let methods: [ExportedMethod]
    package let properties: [ExportedProperty]
    /// The signals that the object emits; for introspection only.
    package let signals: [ExportedSignal]

    package init(
        _ name: InterfaceName, methods: [ExportedMethod] = [], properties: [ExportedProperty] = [],
        signals: [ExportedSignal] = []
    ) {
        self.name = name
        self.methods = methods
        self.properties = properties
        self.signals = signals
    }

    func method(_ name: MemberName) -> ExportedMethod? {
        methods.first { $0.name == name }
    }

    func property(_ name: String) -> ExportedProperty? {
        properties.first { $0.name.text == name }
    }

    /// The values of the properties by their names.
    var values: [String: Value] {
        Dictionary(properties.map { ($0.name.text, $0.value) }, uniquingKeysWith: { first, _ in first })
    }
}

/// An argument of a method or a signal.
package struct Argument: Sendable, Hashable {
    package let name: MemberName
    package let type: ValueType

    package init(_ name: MemberName, _ type: ValueType) {
        self.name = name
        self.type = type
    }
}

/// A method of an exported object.
package struct ExportedMethod: Sendable {
    package let name: MemberName
    package let takes: [Argument]
    package let returns: [Argument]
    let handler: @Sendable (IncomingCall) async throws -> [Value]

    /// Creates a method.
    ///
    /// Calls to one object run one after another, in order of arrival; calls to different objects run concurrently. A handler
    /// that awaits a peer which calls the same object therefore deadlocks. A handler is cancelled when its object is withdrawn
    /// or the connection ends.
    ///
    /// - Parameters:
    ///   - name: The method's name.
    ///   - takes: The arguments; a call with other types is rejected without calling `handler`.
    ///   - returns: The results; `handler` must return these types.
    ///   - handler: Handles a call. A ``RemoteError`` is sent as it is, any other error as
    ///     `org.freedesktop.DBus.Error.Failed` without its text.
    package init(
        _ name: MemberName, takes: [Argument] = [], returns: [Argument] = [],
        handler: @escaping @Sendable (IncomingCall) async throws -> [Value]
    ) {
        self.name = name
        self.takes = takes
        self.returns = returns
        self.handler = handler
    }
}

/// A property of an exported object, which never changes and cannot be set.
package struct ExportedProperty: Sendable {
    package let name: MemberName
    package let value: Value

    package init(_ name: MemberName, _ value: Value) {
        self.name = name
        self.value = value
    }
}

/// A signal of an exported object.
package struct ExportedSignal: Sendable, Hashable {
    package let name: MemberName
    package let arguments: [Argument]

    package init(_ name: MemberName, _ arguments: [Argument] = []) {
        self.name = name
        self.arguments = arguments
    }
}

/// A peer's call to an exported object.
package struct IncomingCall: Sendable, Hashable {
    package let path: ObjectPath
    /// Nil when the peer omitted it.
    package let interface: InterfaceName?
    package let member: MemberName
    package let arguments: [Value]
    /// The caller, as stated by the bus.
    package let sender: BusName?
}
