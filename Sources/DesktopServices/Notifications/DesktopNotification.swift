#if Desktop
/// A message that the desktop shows (beacons dossier 10.2).
///
/// Texts are plain: whatever stands in them is shown and never acted upon. Control characters are made visible, and what is
/// longer than the limits given here is cut.
public struct DesktopNotification: Sendable, Hashable {
    /// How much a notification may disturb.
    public enum Urgency: UInt8, Sendable, Hashable, CaseIterable {
        case low = 0
        case normal = 1
        case critical = 2
    }

    /// When the notification goes away by itself.
    public enum Expiry: Sendable, Hashable {
        /// When the server thinks fit.
        case serverDefault
        case never
        /// After this time, to the millisecond, at least one.
        case after(Duration)

        var milliseconds: Int32 {
            switch self {
            case .serverDefault: -1
            case .never: 0
            case .after(let duration):
                Int32(clamping: max(duration / .milliseconds(1), 1).rounded().clampedToInt)
            }
        }
    }

    /// Something that the user can choose.
    public struct Action: Sendable, Hashable {
        /// What ``Notifications/Event/actionInvoked(_:key:)`` gives back; `default` is a click on the notification.
        public let key: String
        /// What the user reads, at most 100 characters.
        public let label: String

        public init(key: String, label: String) {
            self.key = key
            self.label = label
        }
    }

    /// Names a notification that was shown, until it is closed.
    public struct ID: Sendable, Hashable {
        public let number: UInt32

        public init(_ number: UInt32) {
            self.number = number
        }
    }

    /// One line, at most 200 characters.
    public var summary: String
    /// Several lines, at most 2000 characters.
    public var body: String
    /// The name of an icon of the desktop's theme, or empty.
    public var icon = ""
    /// The path of a picture on this machine, from the root; nil for none.
    public var image: String?
    /// At most eight are sent, and none to a server that cannot show them.
    public var actions: [Action] = []
    public var urgency = Urgency.normal
    /// A kind of the Desktop Notifications Specification, as in `presence.online`; empty for none.
    public var category = ""
    /// Whether it is not to be kept after it was shown.
    public var isTransient = false
    public var expiry = Expiry.serverDefault

    public init(_ summary: String, body: String = "") {
        self.summary = summary
        self.body = body
    }
}

extension Double {
    /// The nearest integer that there is.
    fileprivate var clampedToInt: Int {
        self < 1e15 ? Int(self) : Int(1e15)
    }
}
#endif
