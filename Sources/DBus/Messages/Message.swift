/// One message of the D-Bus protocol (D-Bus Specification, “Message Protocol”).
///
/// What a kind of message must have is part of its ``Content-swift.enum``, so that no message lacks it.
public struct Message: Sendable, Hashable {
    /// What the message is for, with the header fields that its kind demands.
    public enum Content: Sendable, Hashable {
        case call(path: ObjectPath, interface: InterfaceName?, member: MemberName)
        case reply(to: UInt32)
        case error(name: ErrorName, replyTo: UInt32)
        case signal(path: ObjectPath, interface: InterfaceName, member: MemberName)
    }

    /// How a message is to be treated; bits that are not known are kept.
    public struct Flags: OptionSet, Sendable, Hashable {
        public let rawValue: UInt8

        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// The sender wants no answer, not even an error.
        public static let noReplyExpected = Flags(rawValue: 1)
        /// The bus must not start a program to own the destination.
        public static let noAutoStart = Flags(rawValue: 2)
        /// The sender can wait while the receiver asks a person.
        public static let allowInteractiveAuthorization = Flags(rawValue: 4)
    }

    /// Its number on the connection that sent it, not zero.
    public var serial: UInt32
    public var flags: Flags
    public var content: Content
    /// Who is to receive it; nil for the bus's broadcast.
    public var destination: BusName?
    /// Who sent it. A bus writes it, so that it is the truth.
    public var sender: BusName?
    /// How many file descriptors belong to it. A ``Connection`` never asks for any.
    public var descriptorCount: UInt32
    /// The arguments.
    public var body: [Value]

    /// The most bytes that one message may have (“Message Format”): 128 MiB.
    public static let maximumLength = 1 << 27

    public init(
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

    /// The answer to this message: its serial number is filled in when it is sent.
    func answer(_ content: Content, body: [Value]) -> Message {
        Message(content, serial: 0, flags: .noReplyExpected, destination: sender, body: body)
    }

    /// The numbers of the kinds in the header (“Message Format”).
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
