import HandshakeEmbeddedFiles
import OAuth
import Translations

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The web components `<file-selector>` and `<registration-sheet>`.
///
/// They are modules without dependencies. The texts and the look stand before each component's own code: the same that SwiftUI draws.
public enum FileSelectorScript {
    /// The bytes of `<file-selector>`; serve them as `text/javascript`.
    public static let javaScript = module(.fileSelectorScript) {
        !$0.isOfRegistration && !$0.isOfCopying
    }

    /// The bytes of `<registration-sheet>`; serve them as `text/javascript`.
    public static let registration = module(.registrationSheetScript) {
        $0.isOfRegistration || [.cancel, .close].contains($0)
    }

    private static func module(_ code: EmbeddedFile, _ isUsed: (FileSelectorWords) -> Bool) -> Data {
        let used = FileSelectorWords.allCases.filter(isUsed)
        let words = object(FileSelectorLocale.all.map { ($0.tag, Self.words(used, in: $0)) })
        let look = String(decoding: Data(.fileSelectorLook), as: UTF8.self)
        return Data("const WORDS = \(words.json)\nconst LOOK = \(look)\n".utf8) + Data(.fileSelectorSharedScript)
            + Data(code)
    }

    private static func words(_ used: [FileSelectorWords], in locale: FileSelectorLocale) -> JSONValue {
        object(
            used.map { words in
                let text = FileSelectorWords.catalogue[words.rawValue]?[locale.tag]
                guard let forms = text?.variations?.plural else {
                    return (words.rawValue, .string(text?.form("other") ?? words.rawValue))
                }
                return (words.rawValue, object(forms.keys.sorted().map { ($0, .string(text?.form($0) ?? "")) }))
            })
    }

    private static func object(_ members: [(String, JSONValue)]) -> JSONValue {
        .object(JSONObject(members.map { (key: $0, value: $1) }))
    }
}

extension FileSelectorWords {
    fileprivate var isOfRegistration: Bool { rawValue.hasPrefix("register_") }
    /// Whether the sheet that copies a file says it, which SwiftUI alone draws.
    fileprivate var isOfCopying: Bool { rawValue.hasPrefix("copy_") }
}
