/// The name of an interface, such as `org.bluez.Adapter1` (D-Bus Specification, “Valid Interface Names”).
package struct InterfaceName: CheckedName {
    package let text: String

    package init(_ text: String) throws(DBusError) {
        if let problem = NameRule.problem(ofDotted: text, mayStartWithDigit: false, mayHaveHyphen: false) {
            throw .invalidName(kind: "interface name", text: text, problem: problem)
        }
        self.text = text
    }

    static let bus: InterfaceName = "org.freedesktop.DBus"
    static let properties: InterfaceName = "org.freedesktop.DBus.Properties"
    static let introspectable: InterfaceName = "org.freedesktop.DBus.Introspectable"
    static let peer: InterfaceName = "org.freedesktop.DBus.Peer"
    static let objectManager: InterfaceName = "org.freedesktop.DBus.ObjectManager"
}
