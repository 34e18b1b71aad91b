import ConnectButton
import Foundation

/// What the settings screen changes (F108). It is stored in the user defaults.
struct Settings: Codable, Equatable, Sendable {
    /// IFTTT, or its sandbox.
    var origin = "http://127.0.0.1:8083"
    /// The customer's address, suggested where one is asked for.
    var email = "new@example.test"
    /// Whether each connection gets a new address, so that IFTTT creates an account.
    var usesNewAddress = false
    /// Whether the connection is fetched before its button is shown.
    var isPrefetched = false
    /// Whether the app has its own configuration screen.
    var usesOwnConfiguration = true
    /// The button's locale; nil is the user's.
    var locale: ConnectButtonLocale?
    var style = Style.dynamic
    /// The customer who is logged in.
    var customer: Customer?

    /// The styles that the switch goes through (F110).
    enum Style: String, Codable, CaseIterable, Sendable {
        case light, dark, dynamic

        var next: Style {
            switch self {
            case .light: .dark
            case .dark: .dynamic
            case .dynamic: .light
            }
        }

        var button: ConnectButtonStyle {
            switch self {
            case .light: .light
            case .dark: .dark
            case .dynamic: .dynamic
            }
        }
    }

    /// Customers whom the sandbox knows. An app of your own has a log-in, and its server fetches the token with the service key.
    enum Customer: String, Codable, CaseIterable, Sendable {
        case ada, grace, alan, edsger

        var token: String { "utk_sandbox_\(rawValue)" }
    }

    /// The suggested address: with a tag of its own where each is to be new.
    var suggestedEmail: String {
        guard usesNewAddress, let at = email.firstIndex(of: "@") else { return email }
        return email[..<at] + "+\(Int(Date.now.timeIntervalSince1970))" + email[at...]
    }

    private static let key = "settings"

    static func stored() -> Settings {
        UserDefaults.standard.data(forKey: key).flatMap { try? JSONDecoder().decode(Settings.self, from: $0) }
            ?? Settings()
    }

    func store() {
        UserDefaults.standard.set(try? JSONEncoder().encode(self), forKey: Self.key)
    }
}
