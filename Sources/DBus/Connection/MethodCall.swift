/// A method call.
package struct MethodCall: Sendable, Hashable {
    /// The peer.
    package var destination: BusName
    package var path: ObjectPath
    package var interface: InterfaceName
    package var member: MemberName
    package var arguments: [Value]

    package init(
        _ member: MemberName, in interface: InterfaceName, of path: ObjectPath, at destination: BusName,
        arguments: [Value] = []
    ) {
        self.destination = destination
        self.path = path
        self.interface = interface
        self.member = member
        self.arguments = arguments
    }

    /// A call to the bus itself.
    static func bus(_ member: MemberName, _ arguments: [Value] = []) -> MethodCall {
        MethodCall(member, in: .bus, of: "/org/freedesktop/DBus", at: .bus, arguments: arguments)
    }

    func message(flags: Message.Flags = []) -> Message {
        Message(
            .call(path: path, interface: interface, member: member), serial: 0, flags: flags,
            destination: destination, body: arguments)
    }
}

extension MethodCall: CustomStringConvertible {
    /// The method without its arguments, which may be secret.
    package var description: String { "\(interface).\(member) of \(destination)" }
}
