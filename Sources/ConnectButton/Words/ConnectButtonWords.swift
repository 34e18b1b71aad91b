import HandshakeEmbeddedFiles
import Translations

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A text of the button, by its key in the catalogue.
///
/// One catalogue, `Strings.xcstrings`, is embedded in the code and serves both renderings.
protocol ConnectButtonText: RawRepresentable<String>, Sendable {}

/// The text of a failure, for the user, has the failure's own name.
extension ConnectButtonFailure.Kind: ConnectButtonText {}

/// The button's other texts.
enum ConnectButtonWords: String, ConnectButtonText, CaseIterable {
    case loading
    case connect
    case connectAny = "connect_any"
    case verifying
    case creatingAccount = "creating_account"
    case goingTo = "going_to"
    case connecting
    case connected
    case pending
    case pendingNote = "pending_note"
    case disconnecting
    case disconnected
    case emailPlaceholder = "email_placeholder"
    case emailSecured = "email_secured"
    case worksWith = "works_with"
    case waitingNote = "waiting_note"
    case accountCreation = "account_creation"
    case confirmDisconnect = "confirm_disconnect"
    case undoSeconds = "undo_seconds"

    case learnMore = "learn_more"
    case tryAgain = "try_again"
    case cancel
    case disconnect
    case keep
    case undo
    case `continue`
    case close

    case aboutTitle = "about_title"
    case aboutConnect = "about_connect"
    case aboutControl = "about_control"
    case aboutSecurity = "about_security"
    case aboutManage = "about_manage"
    case manageConnection = "manage_connection"
    case store
    case legal
    case legalLink = "legal_link"

    case unreachable

    /// The words that the web component embeds: it shows them before, or without, an answer of the server.
    static let carried: [any ConnectButtonText] = [
        Self.loading, Self.worksWith, Self.tryAgain, Failure.offline, Failure.unavailable, Failure.tooMany,
        Failure.unknownConnection, Failure.notAllowed, Self.connectAny, Self.cancel, Self.unreachable,
    ]
    private typealias Failure = ConnectButtonFailure.Kind

    /// Wraps an untrusted text, so that a name in another script does not reorder the text around it.
    static func isolated(_ text: String) -> String { Translation.isolated(text) }
}

extension ConnectButtonText {
    /// The text in a locale, with `%1$@` and `%2$@` replaced by the arguments, each between bidirectional isolates.
    func text(in locale: ConnectButtonLocale, _ arguments: String...) -> String {
        Translation.fill(Catalogue.entry(self, locale)?.form("other") ?? rawValue, arguments.map(Translation.isolated))
    }

    /// The text for a whole number, in the number's plural form.
    func text(in locale: ConnectButtonLocale, count: Int) -> String {
        let (entry, category) = (
            Catalogue.entry(self, locale), Translation.pluralCategory(of: count, in: locale.tag)
        )
        return Translation.fill(entry?.form(category) ?? entry?.form("other") ?? rawValue, [String(count)])
    }
}

/// The embedded catalogue, decoded once. A test checks that every word exists in every locale.
enum Catalogue {
    static func entry(_ words: some ConnectButtonText, _ locale: ConnectButtonLocale) -> Translation? {
        let entry = texts[words.rawValue]
        return entry?[locale.tag] ?? entry?[ConnectButtonLocale.americanEnglish.tag]
    }

    static let texts = Translation.catalogue(Data(.connectButtonWords))
}
