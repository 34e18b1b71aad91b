/// The name of an error, such as `org.bluez.Error.NotReady`, with the syntax of an interface name (D-Bus Specification,
/// “Valid Error Names”).
public struct ErrorName: CheckedName {
    public let text: String

    public init(_ text: String) throws(DBusError) {
        if let problem = NameRule.problem(ofDotted: text, mayStartWithDigit: false, mayHaveHyphen: false) {
            throw .invalidName(kind: "error name", text: text, problem: problem)
        }
        self.text = text
    }

    /// The destination has no owner, and the bus cannot start a service for it.
    public static let serviceUnknown: ErrorName = "org.freedesktop.DBus.Error.ServiceUnknown"
    /// The name in question has no owner.
    public static let nameHasNoOwner: ErrorName = "org.freedesktop.DBus.Error.NameHasNoOwner"
    /// The peer disconnected before it replied, or does not reply.
    public static let noReply: ErrorName = "org.freedesktop.DBus.Error.NoReply"
    /// The arguments do not match the method.
    public static let invalidArguments: ErrorName = "org.freedesktop.DBus.Error.InvalidArgs"
    /// No such object.
    public static let unknownObject: ErrorName = "org.freedesktop.DBus.Error.UnknownObject"
    /// No such interface.
    public static let unknownInterface: ErrorName = "org.freedesktop.DBus.Error.UnknownInterface"
    /// No such method.
    public static let unknownMethod: ErrorName = "org.freedesktop.DBus.Error.UnknownMethod"
    /// No such property.
    public static let unknownProperty: ErrorName = "org.freedesktop.DBus.Error.UnknownProperty"
    /// The property is read-only.
    public static let propertyReadOnly: ErrorName = "org.freedesktop.DBus.Error.PropertyReadOnly"
    /// An error without a name of its own.
    public static let failed: ErrorName = "org.freedesktop.DBus.Error.Failed"
    /// The peer does not support this.
    public static let notSupported: ErrorName = "org.freedesktop.DBus.Error.NotSupported"
    /// The peer is overloaded.
    public static let limitsExceeded: ErrorName = "org.freedesktop.DBus.Error.LimitsExceeded"
    /// The bus's policy forbids this.
    public static let accessDenied: ErrorName = "org.freedesktop.DBus.Error.AccessDenied"
}
