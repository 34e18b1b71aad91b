/// The objects that one connection exports.
struct ObjectTable: Sendable {
    private(set) var objects: [ObjectPath: ExportedObject] = [:]

    mutating func add(_ object: ExportedObject, at path: ObjectPath) throws(DBusError) {
        guard objects[path] == nil else {
            throw .invalidExport(path: path, problem: "an object is already exported at this path")
        }
        objects[path] = object
    }

    mutating func remove(_ path: ObjectPath) -> ExportedObject? {
        objects.removeValue(forKey: path)
    }

    func stopAll() {
        for object in objects.values { object.stop() }
    }

    /// The managers above a path.
    func managers(above path: ObjectPath) -> [ObjectPath] {
        objects.filter { $0.value.isManager && $0.key.contains(path) }.map(\.key)
    }

    /// The next path elements below `path`, sorted.
    func children(of path: ObjectPath) -> [String] {
        let depth = path.elements.count
        return Set(objects.keys.filter { path.contains($0) }.map { String($0.elements[depth]) }).sorted()
    }

    /// Answers a call, immediately or through the queue of its object.
    func serve(_ call: IncomingCall, _ answers: Answers) {
        // `Peer` belongs to the connection, whatever the path (“org.freedesktop.DBus.Peer”).
        if call.interface == .peer { return answers.send(StandardInterfaces.peer(call)) }
        guard let object = objects[call.path] else {
            // Paths above an object can be introspected.
            if call.interface == .introspectable, call.member == "Introspect", call.arguments.isEmpty,
                call.path == .root || !children(of: call.path).isEmpty
            {
                return answers.send(.success([introspection(of: call.path).value]))
            }
            return answers.send(.failure(RemoteError(.unknownObject, "no object \(call.path)")))
        }
        if let answer = StandardInterfaces.answer(call, object, self) { return answers.send(answer) }
        switch method(of: call, object) {
        case .success(let method): object.run(method, call, answers)
        case .failure(let error): answers.send(.failure(error))
        }
    }

    /// The called method. Without an interface, the first one with the member counts (“Message Types”).
    private func method(of call: IncomingCall, _ object: ExportedObject) -> Result<ExportedMethod, RemoteError> {
        let method: ExportedMethod?
        if let name = call.interface {
            guard let interface = object.interface(name) else {
                return .failure(RemoteError(.unknownInterface, "\(call.path) has no interface \(name)"))
            }
            method = interface.method(call.member)
        } else {
            method = object.interfaces.lazy.compactMap { $0.method(call.member) }.first
        }
        guard let method else {
            return .failure(RemoteError(.unknownMethod, "\(call.path) has no method \(call.member)"))
        }
        guard call.arguments.map(\.type) == method.takes.map(\.type) else {
            let expected = method.takes.map(\.type.code).joined()
            return .failure(RemoteError(.invalidArguments, "\(call.member) takes arguments of type “\(expected)”"))
        }
        return .success(method)
    }

    /// The objects below a manager, with their interfaces and properties.
    func managed(by path: ObjectPath) -> Value {
        objects.filter { path.contains($0.key) }.mapValues(\.interfacesAndProperties).value
    }
}

extension ExportedObject {
    /// Each interface with its properties, as `ObjectManager` reports them.
    var interfacesAndProperties: [String: [String: Value]] {
        Dictionary(interfaces.map { ($0.name.text, $0.values) }, uniquingKeysWith: { first, _ in first })
    }
}
