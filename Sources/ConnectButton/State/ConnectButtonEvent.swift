/// An action of the user. Turning on and off are two events, so that a repeated one has no effect.
public enum ConnectButtonEvent: Sendable, Hashable {
    /// Turn on.
    case turnOn
    /// Turn off.
    case turnOff
    /// Continue with this email address, as typed.
    case email(String)
    /// Go to the service now (W27).
    case proceed
    /// The browser navigated back from the service's pages to this one. The web component sends it by itself.
    case returned
    /// Open the app's set-up of a pending connection. The app or the page handles it; it is not sent to a server.
    case setUp
    /// Retry what failed.
    case retry
    /// Cancel what is in progress.
    case cancel
    /// Yes, disconnect. For a pending connection, which offers it below, the button asks first.
    case disconnect
    /// No, stay connected.
    case keep
    /// Take the disconnection back.
    case undo

    // Analytics events, sent only with the user's consent (7, F099).

    /// The button became visible. The web component reports it; in an app, the activation does.
    case shown
    /// The footer was tapped.
    case footerTapped
    /// The About page became visible.
    case aboutShown
    /// Something on the About page was tapped.
    case aboutTapped(AboutItem)

    /// The items of the About page that are counted (4.9).
    public enum AboutItem: String, Sendable, Hashable, CaseIterable {
        /// The icon of the service whose app shows the button.
        case primary
        /// The icon of the service that is connected.
        case connecting
        case title
        case legal
        case manage
    }

    /// Whether it is an analytics event, which changes nothing. Without the user's consent it is not sent.
    public var isOnlyCounted: Bool {
        switch self {
        case .shown, .footerTapped, .aboutShown, .aboutTapped: true
        case .turnOn, .turnOff, .email, .proceed, .returned, .setUp, .retry, .cancel, .disconnect, .keep, .undo: false
        }
    }

    /// Whether it begins something on the page that sends it, whatever another page asks.
    package var isBeginning: Bool {
        switch self {
        case .turnOn, .turnOff, .retry: true
        default: false
        }
    }

    /// Whether it cancels work in progress, whatever step that has reached since the user saw it.
    package var isInterruption: Bool {
        switch self {
        case .cancel, .keep, .undo, .returned: true
        default: false
        }
    }

    /// The event's name on the wire.
    public var name: String {
        switch self {
        case .turnOn: "turn_on"
        case .turnOff: "turn_off"
        case .email: "email"
        case .proceed: "proceed"
        case .returned: "returned"
        case .setUp: "set_up"
        case .retry: "retry"
        case .cancel: "cancel"
        case .disconnect: "disconnect"
        case .keep: "keep"
        case .undo: "undo"
        case .shown: "shown"
        case .footerTapped: "footer_tapped"
        case .aboutShown: "about_shown"
        case .aboutTapped: "about_tapped"
        }
    }

    init?(name: String, email: String?, item: String?) {
        let plain: [ConnectButtonEvent] = [
            .turnOn, .turnOff, .proceed, .returned, .retry, .cancel, .disconnect, .keep, .undo, .shown, .footerTapped,
            .aboutShown,
        ]
        if name == "email", let email {
            self = .email(email)
        } else if name == "about_tapped", let item = item.flatMap(AboutItem.init(rawValue:)) {
            self = .aboutTapped(item)
        } else if let event = plain.first(where: { $0.name == name }) {
            self = event
        } else {
            return nil
        }
    }
}
