/// The name of a connection on a bus: a unique name such as `:1.42`, or a well-known one such as `org.bluez` (D-Bus Specification,
/// “Valid Bus Names”).
package struct BusName: CheckedName {
    package let text: String

    /// The bus itself.
    package static let bus: BusName = "org.freedesktop.DBus"

    package init(_ text: String) throws(DBusError) {
        let isUnique = text.utf8.first == UInt8(ascii: ":")
        let problem = NameRule.problem(
            ofDotted: isUnique ? text.dropFirst() : text[...], mayStartWithDigit: isUnique, mayHaveHyphen: true)
        if let problem = text.utf8.count > NameRule.maximumLength ? "it is longer than 255 bytes" : problem {
            throw .invalidName(kind: "bus name", text: text, problem: problem)
        }
        self.text = text
    }

    /// Whether the bus assigned this name to one connection, for the life of that connection.
    package var isUnique: Bool {
        text.utf8.first == UInt8(ascii: ":")
    }

    /// Whether the owner of this name can change. The bus's own name has a fixed owner.
    var changesOwner: Bool {
        !isUnique && self != .bus
    }
}
