import HandshakeEmbeddedFiles
import Translations

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The list's texts. One catalogue, `Strings.xcstrings`, is embedded in the code and serves both renderings.
enum ConnectedAccountsWords: String, Sendable, CaseIterable {
    case list
    case loading
    case notConnected = "not_connected"
    case connected
    case connectedAs = "connected_as"
    case signInAgain = "sign_in_again"
    case unfinished
    case lastUsed = "last_used"

    case connect
    case reconnect
    case disconnect
    case keep
    case cancel
    case tryAgain = "try_again"
    case logIn = "log_in"

    case confirmTitle = "confirm_title"
    case confirmText = "confirm_text"
    case opening
    case disconnecting
    case slow

    case nowConnected = "now_connected"
    case nowDisconnected = "now_disconnected"
    case notRevocable = "not_revocable"
    case mayFinish = "may_finish"
    case cancelled
    case stopped
    case connectFailed = "connect_failed"
    case disconnectFailed = "disconnect_failed"
    case offline
    case unavailable
    case tooMany = "too_many"
    case loggedOut = "logged_out"

    /// The text in a locale, with `%1$@` replaced by the arguments, each between bidirectional isolates.
    func text(in locale: InterfaceLocale, _ arguments: String...) -> String {
        let entry = Self.catalogue[rawValue]
        let text = entry?[locale.tag]?.form("other") ?? entry?["en-US"]?.form("other") ?? rawValue
        return Translation.fill(text, arguments.map(Translation.isolated))
    }

    static let catalogue = Translation.catalogue(Data(.connectedAccountsWords))
}

extension ConnectedAccount.Action {
    /// The label of the button.
    var words: ConnectedAccountsWords {
        switch self {
        case .connect: .connect
        case .reconnect: .reconnect
        case .disconnect: .disconnect
        }
    }
}
