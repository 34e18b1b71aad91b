/// A filter for signals (D-Bus Specification, “Match Rules”). Nil matches everything.
package struct MatchRule: Sendable, Hashable {
    /// The sender. For a well-known name, only signals of its present owner match.
    package var sender: BusName?
    /// The object.
    package var path: ObjectPath?
    /// The object or one of its ancestors.
    package var pathNamespace: ObjectPath?
    package var interface: InterfaceName?
    package var member: MemberName?
    /// The first argument, a string.
    package var firstArgument: String?

    package init(
        sender: BusName? = nil, interface: InterfaceName? = nil, member: MemberName? = nil, path: ObjectPath? = nil
    ) {
        self.sender = sender
        self.interface = interface
        self.member = member
        self.path = path
    }

    /// The bus's signals about ownership of a name.
    static func ownerChanges(of name: BusName) -> MatchRule {
        var rule = MatchRule(sender: .bus, interface: .bus, member: "NameOwnerChanged", path: "/org/freedesktop/DBus")
        rule.firstArgument = name.text
        return rule
    }

    /// The rule in the bus's syntax.
    package var text: String {
        let parts: [(String, String?)] = [
            ("type", "signal"), ("sender", sender?.text), ("interface", interface?.text), ("member", member?.text),
            ("path", path?.text), ("path_namespace", pathNamespace?.text), ("arg0", firstArgument),
        ]
        return parts.compactMap { key, value in value.map { "\(key)=\(Self.quoted($0))" } }.joined(separator: ",")
    }

    /// A quoted value. A backslash is literal inside quotes; an apostrophe must be outside.
    private static func quoted(_ value: String) -> String {
        "'" + value.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }

    /// Whether a signal matches; a well-known sender is checked by the owner of its name.
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
