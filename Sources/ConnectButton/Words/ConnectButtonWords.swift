import Translations

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The button's texts. One catalogue, `Strings.xcstrings`, is embedded in the code and serves both renderings.
enum ConnectButtonWords: String, Sendable, CaseIterable {
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
    case emailInvalid = "email_invalid"
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

    case offline
    case unavailable
    case unreachable
    case tooMany = "too_many"
    case unknownConnection = "unknown_connection"
    case notAllowed = "not_allowed"
    case signInExpired = "sign_in_expired"
    case accountNotCreated = "account_not_created"
    case appNotOpened = "app_not_opened"
    case notDisconnected = "not_disconnected"
    case interrupted
    case cancelled

    /// The words that the web component embeds: it shows them before, or without, an answer of the server.
    static let carried: [ConnectButtonWords] = [
        .loading, .worksWith, .tryAgain, .offline, .unavailable, .tooMany, .unknownConnection,
        .notAllowed, .connectAny, .cancel, .unreachable,
    ]

    /// The text in a locale, with `%1$@` and `%2$@` replaced by the arguments, each between bidirectional isolates.
    func text(in locale: ConnectButtonLocale, _ arguments: String...) -> String {
        Translation.fill(Catalogue.entry(self, locale)?.form(.other) ?? rawValue, arguments.map(Self.isolated))
    }

    /// The text for a whole number, in the number's plural form.
    func text(in locale: ConnectButtonLocale, count: Int) -> String {
        let category = PluralCategory(count, in: locale)
        return Translation.fill(Catalogue.entry(self, locale)?.form(category) ?? rawValue, [String(count)])
    }

    /// Wraps an untrusted text, so that a name in another script does not reorder the text around it.
    static func isolated(_ text: String) -> String { Translation.isolated(text) }
}

extension ConnectButtonFailure.Kind {
    /// The text for the user.
    var words: ConnectButtonWords {
        switch self {
        case .offline: .offline
        case .unavailable: .unavailable
        case .tooMany: .tooMany
        case .unknownConnection: .unknownConnection
        case .notAllowed: .notAllowed
        case .invalidEmail: .emailInvalid
        case .signInExpired: .signInExpired
        case .accountNotCreated: .accountNotCreated
        case .appNotOpened: .appNotOpened
        case .notDisconnected: .notDisconnected
        case .interrupted: .interrupted
        case .cancelled: .cancelled
        }
    }
}

/// The embedded catalogue, decoded once. A test checks that every word exists in every locale.
enum Catalogue {
    static func entry(_ words: ConnectButtonWords, _ locale: ConnectButtonLocale) -> Translation? {
        let entry = texts[words.rawValue]
        return entry?[locale.tag] ?? entry?[ConnectButtonLocale.americanEnglish.tag]
    }

    static let texts = Translation.catalogue(Data(PackageResources.Strings_xcstrings))
}

extension Translation {
    func form(_ category: PluralCategory) -> String? {
        form(category.rawValue) ?? form(PluralCategory.other.rawValue)
    }
}
