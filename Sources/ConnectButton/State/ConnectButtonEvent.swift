/// What a user does to a button. Turning on and off are two events, so that the same one twice does no harm.
public enum ConnectButtonEvent: Sendable, Hashable {
    /// Turn on.
    case turnOn
    /// Turn off.
    case turnOff
    /// Go on with this email address, as typed.
    case email(String)
    /// Go to the service now (W27).
    case proceed
    /// Do the failed thing again.
    case retry
    /// End what is going on.
    case cancel
    /// Yes, disconnect.
    case disconnect
    /// No, stay connected.
    case keep
    /// Take the disconnection back.
    case undo

    /// The event's name on the wire.
    public var name: String {
        switch self {
        case .turnOn: "turn_on"
        case .turnOff: "turn_off"
        case .email: "email"
        case .proceed: "proceed"
        case .retry: "retry"
        case .cancel: "cancel"
        case .disconnect: "disconnect"
        case .keep: "keep"
        case .undo: "undo"
        }
    }

    init?(name: String, email: String?) {
        let plain: [ConnectButtonEvent] = [.turnOn, .turnOff, .proceed, .retry, .cancel, .disconnect, .keep, .undo]
        if name == "email", let email {
            self = .email(email)
        } else if let event = plain.first(where: { $0.name == name }) {
            self = event
        } else {
            return nil
        }
    }
}
