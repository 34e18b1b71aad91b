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
    /// The browser went back from the service's pages to this one. The web component sends it by itself.
    case returned
    /// Open the app's set-up of a pending connection. The app or the page does it; no server is told.
    case setUp
    /// Retry what failed.
    case retry
    /// End what is going on.
    case cancel
    /// Yes, disconnect.
    case disconnect
    /// No, stay connected.
    case keep
    /// Take the disconnection back.
    case undo

    // Only counted, if the user agreed (7, F099).

    /// The button is there to be seen. The web component says it; in an app the activation knows by itself.
    case shown
    /// The footer was tapped.
    case footerTapped
    /// The About page is there to be seen.
    case aboutShown
    /// Something on the About page was tapped.
    case aboutTapped(AboutItem)

    /// What can be tapped on the About page and is counted (4.9).
    public enum AboutItem: String, Sendable, Hashable, CaseIterable {
        /// The icon of the service whose app shows the button.
        case primary
        /// The icon of the service that is connected.
        case connecting
        case title
        case legal
        case manage
    }

    /// Whether it changes nothing and is told for the sake of counting alone. Without the user's consent nobody is told.
    public var isOnlyCounted: Bool {
        switch self {
        case .shown, .footerTapped, .aboutShown, .aboutTapped: true
        case .turnOn, .turnOff, .email, .proceed, .returned, .setUp, .retry, .cancel, .disconnect, .keep, .undo: false
        }
    }

    /// Whether it ends what is under way, whatever step that has reached since the user saw it.
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
