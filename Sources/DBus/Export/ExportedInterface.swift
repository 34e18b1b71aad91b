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

    /// The current values of the readable properties.
    var currentProperties: [String: Value] {
        Dictionary(properties.map { ($0.name.text, $0.get()) }, uniquingKeysWith: { first, _ in first })
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
    /// How changes are signalled (D-Bus Specification, annotation
    /// `org.freedesktop.DBus.Property.EmitsChangedSignal`).
    package enum Change: String, Sendable, Hashable {
        /// With the new value.
        case value = "true"
        /// Without the new value.
        case invalidation = "invalidates"
        /// Never: the value is constant.
        case constant = "const"
        /// Never, although the value can change.
        case silent = "false"
    }

    package let name: MemberName
    package let type: ValueType
    package let change: Change
    let get: @Sendable () -> Value
    let set: (@Sendable (Value) throws -> Void)?

    /// Creates a property with a computed value.
    ///
    /// - Parameters:
    ///   - name: The property's name.
    ///   - type: Its type; `set` is never called with another one.
    ///   - change: How ``Connection/announceChange(of:in:at:)`` signals a change.
    ///   - get: The current value. Called on the connection's thread; it must not block.
    ///   - set: Changes the value, under the same rule; nil for a read-only property.
    package init(
        _ name: MemberName, _ type: ValueType, change: Change = .value, get: @escaping @Sendable () -> Value,
        set: (@Sendable (Value) throws -> Void)? = nil
    ) {
        self.name = name
        self.type = type
        self.change = change
        self.get = get
        self.set = set
    }

    package init(_ name: MemberName, _ value: Value) {
        self.init(name, value.type, change: .constant, get: { value })
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
