/// Which signals are wanted (D-Bus Specification, “Match Rules”). What is nil is not looked at.
public struct MatchRule: Sendable, Hashable {
    /// Who sends them. For a well-known name only signals of its present owner are taken.
    public var sender: BusName?
    /// The object that sends them.
    public var path: ObjectPath?
    /// The object that sends them, or one above it.
    public var pathNamespace: ObjectPath?
    public var interface: InterfaceName?
    public var member: MemberName?
    /// The first argument, a text.
    public var firstArgument: String?

    public init(
        sender: BusName? = nil, interface: InterfaceName? = nil, member: MemberName? = nil, path: ObjectPath? = nil
    ) {
        self.sender = sender
        self.interface = interface
        self.member = member
        self.path = path
    }

    /// The bus's announcements that a name changes its owner.
    static func ownerChanges(of name: BusName) -> MatchRule {
        var rule = MatchRule(sender: .bus, interface: .bus, member: "NameOwnerChanged", path: "/org/freedesktop/DBus")
        rule.firstArgument = name.text
        return rule
    }

    /// The rule as the bus reads it.
    public var text: String {
        let parts: [(String, String?)] = [
            ("type", "signal"), ("sender", sender?.text), ("interface", interface?.text), ("member", member?.text),
            ("path", path?.text), ("path_namespace", pathNamespace?.text), ("arg0", firstArgument),
        ]
        return parts.compactMap { key, value in value.map { "\(key)=\(Self.quoted($0))" } }.joined(separator: ",")
    }

    /// A value in quotation marks. Inside them a backslash is itself, and an apostrophe must stand outside of them.
    private static func quoted(_ value: String) -> String {
        "'" + value.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }

    /// Whether a signal fits; a well-known sender is left to the owner of its name.
    func matches(_ signal: Signal) -> Bool {
        if let sender, !sender.changesOwner, sender != signal.sender { return false }
        if let path, path != signal.path { return false }
        if let pathNamespace, pathNamespace != signal.path, !pathNamespace.contains(signal.path) { return false }
        if let interface, interface != signal.interface { return false }
        if let member, member != signal.member { return false }
        if let firstArgument, signal.arguments.first != .string(firstArgument) { return false }
        return true
    }
}
