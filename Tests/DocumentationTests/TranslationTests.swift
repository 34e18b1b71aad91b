import Foundation
import Testing

/// The texts of all string catalogues of the sources.
@Suite("The translations")
struct TranslationTests {
    private static let noBreak: Character = "\u{A0}"
    private static let narrowNoBreak: Character = "\u{202F}"

    /// One text in one locale, by its key in a catalogue.
    private struct Text {
        let catalogue: String
        let key: String
        let locale: String
        let value: String

        /// Each sign with the characters before and behind it.
        var signs: [(before: Character?, sign: Character, behind: Character?)] {
            let all = Array(value)
            return all.indices.map { at in
                (at > 0 ? all[at - 1] : nil, all[at], at + 1 < all.count ? all[at + 1] : nil)
            }
        }
    }

    private static func texts() throws -> [Text] {
        let files = try Repository.files(below: ["Sources"], ending: ["xcstrings"])
        #expect(files.count >= 4)
        return try files.flatMap { file in
            let data = try Data(contentsOf: Repository.root.appending(path: file))
            let catalogue = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any], "\(file)")
            let entries = try #require(catalogue["strings"] as? [String: [String: Any]], "\(file)")
            return entries.flatMap { key, entry in
                (entry["localizations"] as? [String: Any] ?? [:]).flatMap { locale, node in
                    values(in: node).map { Text(catalogue: file, key: key, locale: locale, value: $0) }
                }
            }
        }
    }

    /// The texts of a localization, with all of its plural forms.
    private static func values(in node: Any) -> [String] {
        guard let node = node as? [String: Any] else { return [] }
        if let value = node["value"] as? String { return [value] }
        return node.values.flatMap(values)
    }

    /// As the Imprimerie nationale has it for France: narrow before `; ! ?`, wide before `:` and inside guillemets. Quebec's
    /// Office de la langue française has the wide ones alone.
    @Test("F103: French signs are bound to their words by no-break spaces")
    func frenchSpaces() throws {
        let texts = try Self.texts().filter { $0.locale.hasPrefix("fr") }
        #expect(texts.count > 300)
        for text in texts {
            for (before, sign, behind) in text.signs {
                switch sign {
                case ";", "!", "?":
                    let isRight =
                        text.locale == "fr-CA" ? before?.isWhitespace == false : before == Self.narrowNoBreak
                    #expect(isRight, "\(text.locale): \(text.value)")
                case ":", "»": #expect(before == Self.noBreak, "\(text.locale): \(text.value)")
                case "«": #expect(behind == Self.noBreak, "\(text.locale): \(text.value)")
                default: break
                }
            }
        }
    }

    @Test("F103: an ellipsis stands after a no-break space in German and in Scandinavia, and after no space elsewhere")
    func ellipses() throws {
        let texts = try Self.texts().filter { $0.value.contains("…") }
        #expect(texts.count > 150)
        for text in texts {
            for (before, sign, _) in text.signs where sign == "…" {
                if ["da", "de", "nb", "sv"].contains(text.locale) {
                    #expect(before == Self.noBreak, "\(text.locale): \(text.value)")
                } else {
                    #expect(before?.isWhitespace == false, "\(text.locale): \(text.value)")
                }
            }
        }
    }

    @Test("F103: German addresses the user as du, and French as vous")
    func address() throws {
        let texts = try Self.texts()
        for text in texts where text.locale == "de" {
            // At the beginning of a sentence the word may be another one.
            let isFormal = text.value.contains(/[\w,] (?:Sie|Ihnen|Ihre?[mnrs]?)\b/)
            #expect(!isFormal, "\(text.key): \(text.value)")
        }
        for text in texts where text.locale.hasPrefix("fr") {
            let isFamiliar = text.value.contains(/(?i)\b(?:tu|ton|tes|toi)\b/)
            #expect(!isFamiliar, "\(text.key): \(text.value)")
        }
    }

    @Test("American English is spelled as in America")
    func americanSpelling() throws {
        let texts = try Self.texts().filter { $0.locale == "en-US" }
        #expect(texts.count > 150)
        for text in texts {
            let isBritish = text.value.contains(/(?i)ancelled|colour|favourite|centre\b|licence|organis|recognis/)
            #expect(!isBritish, "\(text.key): \(text.value)")
        }
    }

    @Test("the list of accounts has one verb for connecting, and one for disconnecting, in each locale")
    func oneVocabulary() throws {
        let texts = try Self.texts().filter { $0.catalogue.contains("/ConnectedAccountsUI/") }
        let locales = Dictionary(grouping: texts, by: \.locale)
        #expect(locales.count == 22)
        let families = [
            "connect": ["reconnect", "connected", "connected_as", "now_connected", "not_connected"],
            "disconnect": ["confirm_title", "disconnecting", "now_disconnected"],
        ]
        for (locale, texts) in locales {
            let words = Dictionary(uniqueKeysWithValues: texts.map { ($0.key, $0.value.lowercased()) })
            // Where a character is a syllable or a word, a stem is shorter.
            let length = ["ja", "ko", "zh-Hans", "zh-Hant"].contains(locale) ? 2 : 4
            for (verb, others) in families {
                let stem = try #require(words[verb]).prefix(length)
                for key in others {
                    #expect(words[key]?.contains(stem) == true, "\(locale): \(key) has another verb than “\(stem)…”")
                }
            }
        }
    }
}
