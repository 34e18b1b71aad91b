/// One message of the D-Bus protocol (D-Bus Specification, “Message Protocol”).
///
/// ``Content-swift.enum`` has the mandatory header fields of each kind, so no message lacks them.
package struct Message: Sendable, Hashable {
    /// The kind of a message, with its mandatory header fields.
    package enum Content: Sendable, Hashable {
        case call(path: ObjectPath, interface: InterfaceName?, member: MemberName)
        case reply(to: UInt32)
        case error(name: ErrorName, replyTo: UInt32)
        case signal(path: ObjectPath, interface: InterfaceName, member: MemberName)
    }

    /// The flags of a message; unknown bits are preserved.
    package struct Flags: OptionSet, Sendable, Hashable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// The sender wants no reply, not even an error.
        package static let noReplyExpected = Flags(rawValue: 1)
    }

    /// The serial number on the sender's connection, not zero.
    package var serial: UInt32
    package var flags: Flags
    package var content: Content
    /// The recipient; nil for a broadcast.
    package var destination: BusName?
    /// The sender. The bus sets it, so it can be trusted.
    package var sender: BusName?
    /// The number of attached file descriptors. A ``Connection`` never negotiates any.
    package var descriptorCount: UInt32
    /// The arguments.
    package var body: [Value]

    /// The maximum length of a message in bytes (“Message Format”): 128 MiB.
    package static let maximumLength = 1 << 27

    package init(
        _ content: Content, serial: UInt32, flags: Flags = [], destination: BusName? = nil, body: [Value] = []
    ) {
        self.content = content
        self.serial = serial
        self.flags = flags
        self.destination = destination
        self.body = body
        sender = nil
        descriptorCount = 0
    }

    /// The reply to this message; the serial number is set when it is sent.
    func answer(_ content: Content, body: [Value]) -> Message {
        Message(content, serial: 0, flags: .noReplyExpected, destination: sender, body: body)
    }

    /// The message types in the header (“Message Format”).
    enum Kind: UInt8 {
        case call = 1
        case reply = 2
        case error = 3
        case signal = 4
    }

    /// The codes of the header fields (“Header Fields”).
    enum Field: UInt8 {
        case path = 1
        case interface = 2
        case member = 3
        case errorName = 4
        case replySerial = 5
        case destination = 6
        case sender = 7
        case signature = 8
        case descriptorCount = 9
    }
}
