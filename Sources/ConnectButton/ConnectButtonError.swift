/// The errors of decoding a message to a Connect Button's server. The component sends none of these messages; an attacker might.
public enum ConnectButtonError: Error, Sendable, Hashable {
    /// More bytes than ``ConnectButtonMessage/limit``.
    case messageTooLong(bytes: Int)
    /// Not JSON, or not an object with `event`, `revision` and `token`.
    case malformedMessage
    /// An unknown event, or `email` without an address.
    case unknownEvent
}

extension ConnectButtonError: CustomStringConvertible {
    /// What happened and what to do.
    public var description: String {
        switch self {
        case .messageTooLong(let bytes):
            "The page sent \(bytes) bytes, more than the maximum of \(ConnectButtonMessage.limit)."
        case .malformedMessage:
            "The page did not send a message: it must be an object with event, revision and token."
        case .unknownEvent:
            "The page sent an event that this version does not know. Serve the component of this version."
        }
    }
}
