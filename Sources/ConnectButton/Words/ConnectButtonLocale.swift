import Handshake
import Translations

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// One of the button's 22 locales (IFTTT dossier 8). It belongs to a button, not to the process, and is passed to IFTTT's
/// pages so that they use the same one (F104, W22).
public enum ConnectButtonLocale: String, Sendable, Hashable, Codable, CaseIterable {
    case americanEnglish = "en-US"
    case britishEnglish = "en-GB"
    case czech = "cs"
    case danish = "da"
    case german = "de"
    case spanish = "es"
    case latinAmericanSpanish = "es-419"
    case finnish = "fi"
    case french = "fr"
    case canadianFrench = "fr-CA"
    case italian = "it"
    case japanese = "ja"
    case korean = "ko"
    case norwegian = "nb"
    case dutch = "nl"
    case polish = "pl"
    case brazilianPortuguese = "pt-BR"
    case europeanPortuguese = "pt-PT"
    case russian = "ru"
    case swedish = "sv"
    case simplifiedChinese = "zh-Hans"
    case traditionalChinese = "zh-Hant"

    /// The locale's tag (BCP 47).
    public var tag: String { rawValue }

    /// The locale that matches `identifier`, or `nil`.
    ///
    /// Accepts tags and POSIX names, such as `zh-Hant-TW` and `pt_PT.UTF-8@euro`, in any case. Where a language has two locales,
    /// script and region decide as in Unicode's CLDR: `es-MX` gives `es-419`, `pt` gives `pt-BR`, `zh-HK` gives `zh-Hant`.
    ///
    /// - Parameter identifier: A tag or a POSIX locale name, from anywhere.
    public init?(matching identifier: String) {
        guard let match = InterfaceLocale(matching: identifier) else { return nil }
        self.init(rawValue: match.tag)
    }

    /// The best locale for the user's preferences, American English when none matches.
    ///
    /// - Parameters:
    ///   - preferences: Tags or POSIX locale names, the best first. Put a button's own locale before the user's.
    ///   - passedOver: Receives each preference without a locale, up to the first match. For logs
    ///     (dossier 6.12).
    public init(preferred preferences: [String], passedOver: (String) -> Void = { _ in }) {
        for preference in preferences {
            if let locale = ConnectButtonLocale(matching: preference) {
                self = locale
                return
            }
            passedOver(preference)
        }
        self = .americanEnglish
    }

    /// The locale of this device's user (dossier 0). It is the first of the preferred languages that matches. On a
    /// server it is the process's own, not a visitor's.
    ///
    /// Give its ``tag`` to the activation's configuration and the value itself to the view, so that the button and IFTTT's
    /// pages speak the same.
    public static var user: ConnectButtonLocale {
        user(languages: Locale.preferredLanguages, current: Locale.current.identifier)
    }

    /// The locale of a user with these preferred languages; with none of them, that of the current locale.
    static func user(languages: [String], current: String) -> ConnectButtonLocale {
        ConnectButtonLocale(preferred: languages.isEmpty ? [current] : languages)
    }

    /// The best locale for an `Accept-Language` header (RFC 9110, 12.5.4). It is American English when none matches.
    ///
    /// - Parameters:
    ///   - header: The header's value, or `nil`. At most its first 32 ranges are read.
    ///   - override: The button's own locale, which takes precedence.
    public init(acceptLanguage header: String?, override: String? = nil) {
        self.init(preferred: [override].compactMap(\.self) + AcceptLanguage.preferences(in: header))
    }
}
