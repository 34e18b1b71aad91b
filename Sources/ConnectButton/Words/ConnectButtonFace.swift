/// The texts and actions of a state in one locale. Both renderings draw these texts and none of their own.
public struct ConnectButtonFace: Sendable, Hashable, Codable {
    /// The text on the pill.
    public let label: String
    /// The name of the switch for assistive technology. It begins with ``label`` (WCAG 2.2, 2.5.3).
    public let name: String
    /// The text that fades in while the knob is dragged.
    public let toggled: String
    /// What changed, for a live region; empty when there is nothing to announce.
    public let announcement: String
    /// The text under the pill.
    public let footer: [TextRun]
    /// The style of the footer.
    public let tone: Tone
    /// The actions under the pill, in order.
    public let actions: [Action]
    /// The choices on the pill, in order. Only ``ConnectButtonState/Step/confirmDisconnect`` has any.
    public let choices: [Action]
    /// The email field's name and hint.
    public let emailField: String
    /// The name of the button that confirms the address.
    public let emailConfirm: String
    /// The About page, once the connection is known.
    public let about: About?

    /// The style of the footer.
    public enum Tone: String, Sendable, Hashable, Codable {
        /// A sentence.
        case plain
        /// *Works with*, in capitals. The footer opens the About page.
        case lead
        /// An error.
        case error
    }

    /// An action of the user.
    public struct Action: Sendable, Hashable, Codable {
        /// What it does.
        public enum Kind: String, Sendable, Hashable, Codable {
            case retry
            case cancel
            case undo
            case disconnect
            case keep
            /// Opens the About page.
            case about
        }

        /// What it does.
        public let kind: Kind
        /// The action's title.
        public let title: String
    }

    /// The texts of the About page (IFTTT dossier 4.9).
    public struct About: Sendable, Hashable, Codable {
        public let title: [TextRun]
        /// Unlock, control, protect, unplug.
        public let benefits: [String]
        public let manage: String
        public let store: String
        public let legal: [TextRun]
        public let close: String
    }

    /// Creates the texts of `state` in `locale`.
    ///
    /// - Parameters:
    ///   - state: The state.
    ///   - locale: The button's locale.
    public init(_ state: ConnectButtonState, in locale: ConnectButtonLocale) {
        let writer = FaceWriter(state: state, locale: locale)
        label = writer.label
        name = writer.name
        toggled = writer.toggled
        footer = writer.footer
        tone = writer.tone
        actions = writer.actions
        choices = state.step == .confirmDisconnect ? [writer.action(.disconnect), writer.action(.keep)] : []
        announcement = writer.announcement
        emailField = writer.say(.emailPlaceholder)
        emailConfirm = writer.say(.continue)
        about = writer.about
    }
}

extension ConnectButtonFace.Action.Kind {
    /// The action's event, or `nil` for an action that is not sent to a server.
    public var event: ConnectButtonEvent? {
        switch self {
        case .retry: .retry
        case .cancel: .cancel
        case .undo: .undo
        case .disconnect: .disconnect
        case .keep: .keep
        case .about: nil
        }
    }
}
