/// The errors of this module.
///
/// Functions of this module throw this type, or `CancellationError` when the calling task was cancelled.
package enum DBusError: Error, Sendable, Hashable {
    /// A text is not a name of its kind.
    case invalidName(kind: String, text: String, problem: String)

    /// A text is not a valid signature.
    case invalidSignature(text: String, problem: String)

    /// Bytes violate the D-Bus Specification. `offset` counts from the start of the message.
    case malformed(offset: Int, problem: String)

    /// A message, an array or a queue is larger than `limit` bytes.
    case tooLarge(what: String, limit: Int)

    /// A value cannot be encoded: it has mixed types, no type or too many levels.
    case unsendable(problem: String)

    /// A value has another type than expected.
    case unexpectedType(expected: String, found: String)

    /// An unsupported feature: file descriptors, an address of another transport.
    case unsupported(feature: String)

    /// The address of a bus cannot be parsed.
    case invalidAddress(text: String, problem: String)

    /// No bus answers at the address.
    case unreachable(address: String, reason: String)

    /// The bus rejected the client.
    case authentication(reason: String)

    /// Another bus than expected answers at the address.
    case wrongBus(expected: String, found: String)

    /// The connection ended.
    case connectionLost(reason: String)

    /// The timeout has passed. The method may still take effect.
    case timeout(of: String)

    /// The peer answered with an error.
    case remote(RemoteError)

    /// Signals arrived faster than they were read; the sequence ended after the first `limit`.
    case signalOverflow(limit: Int)

    /// An export conflicts with an existing object, or is invalid.
    case invalidExport(path: ObjectPath, problem: String)
}

extension DBusError: CustomStringConvertible {
    /// What happened and what to do, as a clause: each caller puts it into a sentence of its own.
    package var description: String {
        switch self {
        case .invalidName(let kind, let text, let problem):
            "“\(text.visible(limit: 100))” is not a valid \(kind): \(problem)"
        case .invalidSignature(let text, let problem):
            "“\(text.visible(limit: 100))” is not a valid signature: \(problem)"
        case .malformed(_, let problem):
            "the peer sent a malformed D-Bus message: \(problem)"
        case .tooLarge(let what, let limit): "\(what) is larger than \(limit) bytes"
        case .unsendable(let problem): "the message cannot be sent: \(problem)"
        case .unexpectedType(let expected, let found):
            "a value of type \(expected) was expected, not \(found)"
        case .unsupported(let feature): "\(feature) is not supported here"
        case .invalidAddress(let text, let problem):
            "the bus address “\(text.visible(limit: 200))” is invalid: \(problem)"
        case .unreachable(let address, let reason):
            "no bus answers at \(address.visible(limit: 200)): \(reason). Check that dbus-daemon is running"
        case .authentication(let reason): "the bus rejected this client: \(reason.visible(limit: 200))"
        case .wrongBus(let expected, let found):
            "another bus answers: expected identifier \(expected), found \(found)"
        case .connectionLost(let reason): "the connection to the bus ended: \(reason)"
        case .timeout(let what): "\(what) timed out; it may still take effect"
        case .remote(let error): error.description
        case .signalOverflow(let limit):
            "more than \(limit) signals are unread. Read faster, or use a larger buffer"
        case .invalidExport(let path, let problem): "\(path) cannot be exported: \(problem)"
        }
    }
}

extension DBusError {
    /// Whether reconnecting may help.
    package var isTransient: Bool {
        switch self {
        case .connectionLost, .unreachable, .timeout: true
        default: false
        }
    }
}
