#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The texts that people read, in their languages. One catalogue, `Strings.xcstrings`, is embedded in the code, because
/// Foundation's localisation does not work on Linux.
enum Words: String, Sendable, CaseIterable {
    case signInPrompt = "sign_in_prompt"
    case signInServer = "sign_in_server"
    case devicePrompt = "device_prompt"
    case deviceWarning = "device_warning"
    case pageReceivedTitle = "page_received_title"
    case pageReceivedText = "page_received_text"
    case pageRefusedTitle = "page_refused_title"
    case pageRefusedText = "page_refused_text"
    case pageIgnoredTitle = "page_ignored_title"
    case pageIgnoredText = "page_ignored_text"
    case pageConnectTitle = "page_connect_title"
    case pageConnectText = "page_connect_text"
    case pageConnectButton = "page_connect_button"
    case pageLogInTitle = "page_log_in_title"
    case pageLogInText = "page_log_in_text"
    case pageOtherUserTitle = "page_other_user_title"
    case pageOtherUserText = "page_other_user_text"
    case pageForeignTitle = "page_foreign_title"
    case pageForeignText = "page_foreign_text"
    case pageLaterTitle = "page_later_title"
    case pageLaterText = "page_later_text"
    case signOutPrompt = "sign_out_prompt"
    case pageSignedOutTitle = "page_signed_out_title"
    case pageSignedOutText = "page_signed_out_text"
    case pageSignedOutThereText = "page_signed_out_there_text"

    /// The text in a language, with `%1$@`, `%2$@` … replaced by the arguments.
    func text(in language: Language, _ arguments: String...) -> String {
        var text = Catalogue.texts[rawValue]?[language.tag] ?? Catalogue.texts[rawValue]?["en"] ?? rawValue
        for (index, argument) in arguments.enumerated() {
            text = text.split(separator: "%\(index + 1)$@", omittingEmptySubsequences: false).joined(
                separator: argument)
        }
        return text
    }
}

/// A language that the catalogue has.
public struct Language: Sendable, Hashable {
    /// The language's tag (BCP 47), as in `pt-BR`.
    public let tag: String

    /// The best match for what the user prefers, English when nothing fits.
    ///
    /// - Parameter preferences: tags or POSIX locale names, the best first: `de-AT`, `pt_BR.UTF-8`, `C`.
    public init(preferred preferences: [String]) {
        for preference in preferences {
            let words =
                preference.split { $0 == "." || $0 == "@" }.first?
                .split { $0 == "-" || $0 == "_" }.map { $0.lowercased() } ?? []
            guard let language = words.first else { continue }
            let exact = Catalogue.languages.first { $0.lowercased() == words.joined(separator: "-") }
            if let match = exact
                ?? Catalogue.languages.first(where: { $0.lowercased().split(separator: "-").first == language[...] })
            {
                tag = match
                return
            }
        }
        tag = "en"
    }

    /// The user's language. It is the system's preference on Apple's platforms, elsewhere `LC_ALL`, `LC_MESSAGES` and
    /// `LANG`.
    public static let user = Language(preferred: preferences)

    private static var preferences: [String] {
        #if canImport(Darwin)
        Locale.preferredLanguages
        #else
        ["LC_ALL", "LC_MESSAGES", "LANG"].compactMap { ProcessInfo.processInfo.environment[$0] }
        #endif
    }
}

private enum Catalogue {
    static let texts: [String: [String: String]] = {
        guard let file = try? JSONDecoder().decode(File.self, from: Data(PackageResources.Strings_xcstrings)) else {
            return [:]
        }
        return file.strings.mapValues { $0.localizations.mapValues(\.stringUnit.value) }
    }()

    static let languages: [String] = Set(texts.values.flatMap(\.keys)).sorted()

    private struct File: Decodable {
        let strings: [String: Entry]
    }

    private struct Entry: Decodable {
        let localizations: [String: Localization]
    }

    private struct Localization: Decodable {
        let stringUnit: Unit
    }

    private struct Unit: Decodable {
        let value: String
    }
}
