/// The name of an error, as in `org.bluez.Error.NotReady`; it has the form of an interface name (D-Bus Specification,
/// “Valid Error Names”).
public struct ErrorName: CheckedText {
    public let text: String

    public init(_ text: String) throws(DBusError) {
        if let problem = NameRule.problem(ofDotted: text, mayStartWithDigit: false, mayHaveHyphen: false) {
            throw .invalidName(kind: "error name", text: text, problem: problem)
        }
        self.text = text
    }

    /// Nobody owns the name that was called, and the bus cannot start anybody who would.
    public static let serviceUnknown: ErrorName = "org.freedesktop.DBus.Error.ServiceUnknown"
    /// Nobody owns the name that was asked about.
    public static let nameHasNoOwner: ErrorName = "org.freedesktop.DBus.Error.NameHasNoOwner"
    /// The peer left before it answered, or does not answer.
    public static let noReply: ErrorName = "org.freedesktop.DBus.Error.NoReply"
    /// The arguments are not those of the method.
    public static let invalidArguments: ErrorName = "org.freedesktop.DBus.Error.InvalidArgs"
    /// There is no such object.
    public static let unknownObject: ErrorName = "org.freedesktop.DBus.Error.UnknownObject"
    /// The object has no such interface.
    public static let unknownInterface: ErrorName = "org.freedesktop.DBus.Error.UnknownInterface"
    /// The interface has no such method.
    public static let unknownMethod: ErrorName = "org.freedesktop.DBus.Error.UnknownMethod"
    /// The interface has no such property.
    public static let unknownProperty: ErrorName = "org.freedesktop.DBus.Error.UnknownProperty"
    /// The property cannot be set.
    public static let propertyReadOnly: ErrorName = "org.freedesktop.DBus.Error.PropertyReadOnly"
    /// Something went wrong that has no name of its own.
    public static let failed: ErrorName = "org.freedesktop.DBus.Error.Failed"
    /// The peer cannot do this.
    public static let notSupported: ErrorName = "org.freedesktop.DBus.Error.NotSupported"
    /// The peer has too much to do already.
    public static let limitsExceeded: ErrorName = "org.freedesktop.DBus.Error.LimitsExceeded"
    /// The bus's policy forbids this.
    public static let accessDenied: ErrorName = "org.freedesktop.DBus.Error.AccessDenied"
}
