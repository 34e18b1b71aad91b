/// What can be wrong with a message to a Connect Button's server. The component sends none of these; another sender might.
public enum ConnectButtonError: Error, Sendable, Hashable {
    /// More bytes than ``ConnectButtonMessage/limit``.
    case messageTooLong(bytes: Int)
    /// Not JSON, or not an object with `event`, `revision` and `token`.
    case malformedMessage
    /// An unknown event, or `email` without an address.
    case unknownEvent
}

extension ConnectButtonError: CustomStringConvertible {
    /// What happened, whose fault it is and what to do.
    public var description: String {
        switch self {
        case .messageTooLong(let bytes):
            "the page sent \(bytes) bytes, and a message has \(ConnectButtonMessage.limit) at most"
        case .malformedMessage:
            "the page sent something else than a message: an object with event, revision and token is needed"
        case .unknownEvent:
            "the page sent an event that this version does not know; serve the component of this version"
        }
    }
}
