import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The standard interfaces of every exported object (D-Bus Specification, “Standard Interfaces”).
enum StandardInterfaces {
    typealias Answer = Result<[Value], RemoteError>

    /// The answer to a call of a standard interface; nil for another interface.
    static func answer(_ call: IncomingCall, _ object: ExportedObject, _ table: ObjectTable) -> Answer? {
        switch call.interface {
        case .some(.properties): properties(call, object)
        case .some(.introspectable):
            taking("", call, "Introspect") { .success([table.introspection(of: call.path).value]) }
        case .some(.objectManager) where object.isManager:
            taking("", call, "GetManagedObjects") { .success([table.managed(by: call.path)]) }
        default: nil
        }
    }

    static func peer(_ call: IncomingCall) -> Answer {
        switch call.member {
        case "Ping": return .success([])
        case "GetMachineId":
            guard let identifier = machineIdentifier else {
                return .failure(RemoteError(.failed, "this machine has no identifier"))
            }
            return .success([identifier.value])
        default: return unknownMethod(call)
        }
    }

    private static func taking(
        _ signature: String, _ call: IncomingCall, _ member: MemberName, _ answer: () -> Answer
    ) -> Answer {
        guard call.member == member else { return unknownMethod(call) }
        guard call.arguments.map(\.type.code).joined() == signature else {
            return .failure(RemoteError(.invalidArguments, "\(member) takes arguments of type “\(signature)”"))
        }
        return answer()
    }

    private static func unknownMethod(_ call: IncomingCall) -> Answer {
        .failure(RemoteError(.unknownMethod, "no method \(call.member)"))
    }

    // MARK: Properties

    private static func properties(_ call: IncomingCall, _ object: ExportedObject) -> Answer {
        let texts = call.arguments.prefix(2).compactMap { String(reading: $0) }
        switch call.member {
        case "GetAll":
            return taking("s", call, "GetAll") { all(of: texts[0], object) }
        case "Get":
            return taking("ss", call, "Get") {
                property(texts[1], of: texts[0], object).map { [.variant($0.value)] }
            }
        case "Set":
            return taking("ssv", call, "Set") {
                property(texts[1], of: texts[0], object).flatMap { property in
                    .failure(RemoteError(.propertyReadOnly, "\(property.name) cannot be set"))
                }
            }
        default: return unknownMethod(call)
        }
    }

    /// An empty name selects all interfaces (“org.freedesktop.DBus.Properties”).
    private static func interfaces(_ name: String, _ object: ExportedObject) -> Result<[ExportedInterface], RemoteError>
    {
        if name.isEmpty { return .success(object.interfaces) }
        let found = object.interfaces.filter { $0.name.text == name }
        return found.isEmpty ? .failure(RemoteError(.unknownInterface, "no such interface")) : .success(found)
    }

    private static func all(of interface: String, _ object: ExportedObject) -> Answer {
        interfaces(interface, object).map { interfaces in
            [interfaces.reduce(into: [:]) { $0.merge($1.values) { first, _ in first } }.value]
        }
    }

    private static func property(
        _ name: String, of interface: String, _ object: ExportedObject
    ) -> Result<ExportedProperty, RemoteError> {
        interfaces(interface, object).flatMap { interfaces in
            guard let property = interfaces.lazy.compactMap({ $0.property(name) }).first else {
                return .failure(RemoteError(.unknownProperty, "no such property"))
            }
            return .success(property)
        }
    }

    /// The machine's identifier, from the paths of the reference implementation; read once.
    private static let machineIdentifier: String? = ["/var/lib/dbus/machine-id", "/etc/machine-id"].lazy
        .compactMap { try? String(contentsOfFile: $0, encoding: .utf8) }
        .map { String($0.prefix { !$0.isNewline }) }
        .first { $0.utf8.count == 32 }
}
