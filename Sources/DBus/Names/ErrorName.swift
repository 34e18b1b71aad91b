/// The name of an error, such as `org.bluez.Error.NotReady`, with the syntax of an interface name (D-Bus Specification,
/// “Valid Error Names”).
package struct ErrorName: CheckedName {
    package let text: String

    package init(_ text: String) throws(DBusError) {
        if let problem = NameRule.problem(ofDotted: text, mayStartWithDigit: false, mayHaveHyphen: false) {
            throw .invalidName(kind: "error name", text: text, problem: problem)
        }
        self.text = text
    }

    /// The destination has no owner, and the bus cannot start a service for it.
    package static let serviceUnknown: ErrorName = "org.freedesktop.DBus.Error.ServiceUnknown"
    /// The name in question has no owner.
    package static let nameHasNoOwner: ErrorName = "org.freedesktop.DBus.Error.NameHasNoOwner"
    /// The peer disconnected before it replied, or does not reply.
    package static let noReply: ErrorName = "org.freedesktop.DBus.Error.NoReply"
    /// The arguments do not match the method.
    package static let invalidArguments: ErrorName = "org.freedesktop.DBus.Error.InvalidArgs"
    /// No such object.
    package static let unknownObject: ErrorName = "org.freedesktop.DBus.Error.UnknownObject"
    /// No such interface.
    package static let unknownInterface: ErrorName = "org.freedesktop.DBus.Error.UnknownInterface"
    /// No such method.
    package static let unknownMethod: ErrorName = "org.freedesktop.DBus.Error.UnknownMethod"
    /// No such property.
    package static let unknownProperty: ErrorName = "org.freedesktop.DBus.Error.UnknownProperty"
    /// The property is read-only.
    package static let propertyReadOnly: ErrorName = "org.freedesktop.DBus.Error.PropertyReadOnly"
    /// An error without a name of its own.
    package static let failed: ErrorName = "org.freedesktop.DBus.Error.Failed"
    /// The peer does not support this.
    package static let notSupported: ErrorName = "org.freedesktop.DBus.Error.NotSupported"
    /// The peer is overloaded.
    package static let limitsExceeded: ErrorName = "org.freedesktop.DBus.Error.LimitsExceeded"
    /// The bus's policy forbids this.
    package static let accessDenied: ErrorName = "org.freedesktop.DBus.Error.AccessDenied"
}
