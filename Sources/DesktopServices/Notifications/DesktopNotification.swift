#if Desktop
/// A message that the desktop shows (beacons dossier 10.2).
///
/// Texts are plain: markup in them is shown, never interpreted. Control characters are made visible, and text beyond the
/// limits given here is truncated.
package struct DesktopNotification: Sendable, Hashable {
    /// How urgently the desktop shows it.
    package enum Urgency: UInt8, Sendable, Hashable, CaseIterable {
        case low = 0
        case normal = 1
        case critical = 2
    }

    /// When the notification closes by itself.
    package enum Expiry: Sendable, Hashable {
        /// The server's default.
        case serverDefault
        case never
        /// After this time, rounded to milliseconds, at least one.
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

    /// A button or click that the user can choose.
    package struct Action: Sendable, Hashable {
        /// The key of ``Notifications/Event/actionInvoked(_:key:)``; `default` is a click on the notification.
        package let key: String
        /// The button's label, at most 100 characters.
        package let label: String

        package init(key: String, label: String) {
            self.key = key
            self.label = label
        }
    }

    /// The identifier of a notification that was shown; valid until it is closed.
    package struct ID: Sendable, Hashable {
        package let number: UInt32

        package init(_ number: UInt32) {
            self.number = number
        }
    }

    /// One line of at most 200 characters.
    package var summary: String
    /// Several lines, at most 2000 characters.
    package var body: String
    /// The name of an icon of the desktop's theme, or empty.
    package var icon = ""
    /// The absolute path of a picture on this machine; nil for none.
    package var image: String?
    /// The server receives at most eight, and none if it does not support actions.
    package var actions: [Action] = []
    package var urgency = Urgency.normal
    /// A category of the Desktop Notifications Specification, such as `presence.online`; empty for none.
    package var category = ""
    /// Whether the server drops it after showing it, instead of storing it.
    package var isTransient = false
    package var expiry = Expiry.serverDefault

    package init(_ summary: String, body: String = "") {
        self.summary = summary
        self.body = body
    }
}

extension Double {
    /// The nearest representable integer.
    fileprivate var clampedToInt: Int {
        self < 1e15 ? Int(self) : Int(1e15)
    }
}
#endif
