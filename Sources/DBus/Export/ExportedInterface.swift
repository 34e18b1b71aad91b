/// What an exported object can do under one name: methods, properties and signals.
public struct ExportedInterface: Sendable {
    public let name: InterfaceName
    public let methods: [ExportedMethod]
    public let properties: [ExportedProperty]
    /// What the object may announce; for introspection only.
    public let signals: [ExportedSignal]

    public init(
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

    /// The readable properties as they are now.
    var currentProperties: [String: Value] {
        Dictionary(properties.map { ($0.name.text, $0.get()) }, uniquingKeysWith: { first, _ in first })
    }
}

/// An argument of a method or a signal.
public struct Argument: Sendable, Hashable {
    public let name: MemberName
    public let type: ValueType

    public init(_ name: MemberName, _ type: ValueType) {
        self.name = name
        self.type = type
    }
}

/// A method of an exported object.
public struct ExportedMethod: Sendable {
    public let name: MemberName
    public let takes: [Argument]
    public let returns: [Argument]
    let handler: @Sendable (IncomingCall) async throws -> [Value]

    /// A method of this name.
    ///
    /// Calls of one object run one after another, in the order in which they came; those of different objects run beside
    /// each other. A handler that waits for a peer which calls the same object therefore waits for itself. A handler is
    /// cancelled when its object is withdrawn or the connection ends.
    ///
    /// - Parameters:
    ///   - name: The method's name.
    ///   - takes: The arguments; a call with others is refused before `handler` sees it.
    ///   - returns: The results; `handler` must return these types.
    ///   - handler: Does the work. A ``RemoteError`` is answered as it is, any other error as
    ///     `org.freedesktop.DBus.Error.Failed` without its text.
    public init(
        _ name: MemberName, takes: [Argument] = [], returns: [Argument] = [],
        handler: @escaping @Sendable (IncomingCall) async throws -> [Value]
    ) {
        self.name = name
        self.takes = takes
        self.returns = returns
        self.handler = handler
    }
}

/// A property of an exported object.
public struct ExportedProperty: Sendable {
    /// What others are told when the value changes (D-Bus Specification, annotation
    /// `org.freedesktop.DBus.Property.EmitsChangedSignal`).
    public enum Change: String, Sendable, Hashable {
        /// The new value.
        case value = "true"
        /// That there is a new value.
        case invalidation = "invalidates"
        /// Nothing: it never changes.
        case constant = "const"
        /// Nothing.
        case silent = "false"
    }

    public let name: MemberName
    public let type: ValueType
    public let change: Change
    let get: @Sendable () -> Value
    let set: (@Sendable (Value) throws -> Void)?

    /// A property whose value is asked for each time.
    ///
    /// - Parameters:
    ///   - name: The property's name.
    ///   - type: Its type; `set` is never called with another one.
    ///   - change: What ``Connection/announceChange(of:in:at:)`` tells.
    ///   - get: The value now. It is called on the connection's thread and must return at once.
    ///   - set: Changes the value, under the same rule; nil for a property that others cannot change.
    public init(
        _ name: MemberName, _ type: ValueType, change: Change = .value, get: @escaping @Sendable () -> Value,
        set: (@Sendable (Value) throws -> Void)? = nil
    ) {
        self.name = name
        self.type = type
        self.change = change
        self.get = get
        self.set = set
    }

    /// A property that never changes.
    public init(_ name: MemberName, _ value: Value) {
        self.init(name, value.type, change: .constant, get: { value })
    }
}

/// A signal of an exported object.
public struct ExportedSignal: Sendable, Hashable {
    public let name: MemberName
    public let arguments: [Argument]

    public init(_ name: MemberName, _ arguments: [Argument] = []) {
        self.name = name
        self.arguments = arguments
    }
}

/// A call that a peer makes of an exported object.
public struct IncomingCall: Sendable, Hashable {
    public let path: ObjectPath
    /// Nil when the peer left it out.
    public let interface: InterfaceName?
    public let member: MemberName
    public let arguments: [Value]
    /// Who calls, as the bus says.
    public let sender: BusName?
}
