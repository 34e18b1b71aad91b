/// What can go wrong between a program and a bus; each case says whose fault it is.
///
/// Functions of this module throw this type, or `CancellationError` when the calling task was cancelled.
public enum DBusError: Error, Sendable, Hashable {
    /// A text is not a name of its kind.
    case invalidName(kind: String, text: String, problem: String)

    /// A text is not a signature.
    case invalidSignature(text: String, problem: String)

    /// Bytes are not what the D-Bus Specification prescribes. `offset` counts from the start of the message.
    case malformed(offset: Int, problem: String)

    /// A message, an array or a queue is larger than `limit` bytes.
    case tooLarge(what: String, limit: Int)

    /// A value that is to be sent cannot be: it has mixed types, no type or too many levels.
    case unsendable(problem: String)

    /// A value has another type than the caller asked for.
    case unexpectedType(expected: String, found: String)

    /// Something that this module does not do: file descriptors, an address of another transport.
    case unsupported(feature: String)

    /// The address of a bus cannot be understood.
    case invalidAddress(text: String, problem: String)

    /// No bus answers at the address.
    case unreachable(address: String, reason: String)

    /// The bus did not let us in.
    case authentication(reason: String)

    /// Another bus than the expected one answers at the address.
    case wrongBus(expected: String, found: String)

    /// The connection ended.
    case connectionLost(reason: String)

    /// No answer came in time. What was asked for may still happen.
    case timeout(of: String)

    /// The peer answered with an error.
    case remote(RemoteError)

    /// More signals came than the reader took; the sequence ended after those that fit into `limit`.
    case signalOverflow(limit: Int)

    /// What was to be exported clashes with what is there.
    case invalidExport(path: ObjectPath, problem: String)
}

extension DBusError: CustomStringConvertible {
    /// What happened, whose fault it is and what to do.
    public var description: String {
        switch self {
        case .invalidName(let kind, let text, let problem):
            "“\(text.visible(limit: 100))” is not a valid \(kind): \(problem)"
        case .invalidSignature(let text, let problem):
            "“\(text.visible(limit: 100))” is not a valid signature: \(problem)"
        case .malformed(let offset, let problem):
            "the peer sent a malformed D-Bus message: \(problem), at byte \(offset)"
        case .tooLarge(let what, let limit): "\(what) is larger than \(limit) bytes"
        case .unsendable(let problem): "the message cannot be sent: \(problem)"
        case .unexpectedType(let expected, let found):
            "a value of type \(expected) was expected but \(found) came"
        case .unsupported(let feature): "\(feature) is not supported here"
        case .invalidAddress(let text, let problem):
            "the bus address “\(text.visible(limit: 200))” cannot be understood: \(problem)"
        case .unreachable(let address, let reason):
            "no bus answers at \(address.visible(limit: 200)): \(reason); is dbus-daemon running?"
        case .authentication(let reason): "the bus did not let us in: \(reason.visible(limit: 200))"
        case .wrongBus(let expected, let found):
            "another bus answers: its identifier should be \(expected) but is \(found)"
        case .connectionLost(let reason): "the connection to the bus ended: \(reason)"
        case .timeout(let what): "\(what) was not answered in time; what was asked for may still happen"
        case .remote(let error): error.description
        case .signalOverflow(let limit):
            "more than \(limit) signals waited to be read; read faster, or give the sequence a larger buffer"
        case .invalidExport(let path, let problem): "\(path) cannot be exported: \(problem)"
        }
    }
}

extension DBusError {
    /// Whether connecting once more may help.
    public var isPassing: Bool {
        switch self {
        case .connectionLost, .unreachable, .timeout: true
        default: false
        }
    }
}
