#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// One text of a string catalogue in one locale, with its plural forms where it has them.
package struct Translation: Decodable, Sendable {
    private let stringUnit: Unit?
    /// The plural forms; nil for a text that counts nothing.
    package let variations: Variations?

    /// The text; of one that counts, the form of a plural category (CLDR), such as `few`.
    package func form(_ category: String) -> String? {
        stringUnit?.value ?? variations?.plural[category]?.stringUnit.value
    }

    package struct Variations: Decodable, Sendable {
        package let plural: [String: Form]
    }

    package struct Form: Decodable, Sendable {
        fileprivate let stringUnit: Unit
    }

    fileprivate struct Unit: Decodable, Sendable {
        let value: String
    }

    /// The texts of an Xcode string catalogue (`.xcstrings`) by key and locale; empty when it cannot be read.
    package static func catalogue(_ file: Data) -> [String: [String: Translation]] {
        guard let file = try? JSONDecoder().decode(File.self, from: file) else { return [:] }
        return file.strings.mapValues(\.localizations)
    }

    private struct File: Decodable {
        let strings: [String: Entry]
    }

    private struct Entry: Decodable {
        let localizations: [String: Translation]
    }

    /// The plural form that a whole number of at least 0 takes in a locale (Unicode CLDR, cardinal rules for integers).
    ///
    /// - Parameter tag: a tag of the catalogue's 22 locales, or `ar`.
    package static func pluralCategory(of number: Int, in tag: String) -> String {
        let (last, lastTwo) = (number % 10, number % 100)
        let isTeen = (11...14).contains(lastTwo)
        switch tag {
        case "ja", "ko", "zh-Hans", "zh-Hant": return "other"
        case "fr", "fr-CA", "pt-BR": return number <= 1 ? "one" : "other"
        case "cs": return number == 1 ? "one" : (2...4).contains(number) ? "few" : "other"
        case "pl": return number == 1 ? "one" : (2...4).contains(last) && !isTeen ? "few" : "many"
        case "ru":
            return last == 1 && lastTwo != 11 ? "one" : (2...4).contains(last) && !isTeen ? "few" : "many"
        case "ar":
            switch number {
            case 0: return "zero"
            case 1: return "one"
            case 2: return "two"
            default: return (3...10).contains(lastTwo) ? "few" : (11...99).contains(lastTwo) ? "many" : "other"
            }
        default: return number == 1 ? "one" : "other"
        }
    }

    /// Wraps an untrusted text in FIRST STRONG ISOLATE and POP DIRECTIONAL ISOLATE, so that a name in another script does not
    /// reorder the text around it. Removes characters that would end the isolate or change the direction.
    package static func isolated(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        scalars.append("\u{2068}")
        for scalar in text.unicodeScalars
        where !(0x202A...0x202E).contains(scalar.value) && !(0x2066...0x2069).contains(scalar.value) {
            scalars.append(scalar.properties.generalCategory == .control ? " " : scalar)
        }
        scalars.append("\u{2069}")
        return String(scalars)
    }

    /// Replaces `%1$@` and so on in one pass, so that a placeholder inside an argument stays text.
    package static func fill(_ text: String, _ arguments: [String]) -> String {
        var (result, rest) = ("", text[...])
        while let start = rest.firstIndex(of: "%") {
            result += rest[..<start]
            rest = rest[start...]
            let digits = rest.dropFirst().prefix { $0.isASCII && $0.isNumber }
            if let number = Int(digits), arguments.indices.contains(number - 1),
                rest[digits.endIndex...].hasPrefix("$@")
            {
                result += arguments[number - 1]
                rest = rest[digits.endIndex...].dropFirst(2)
            } else {
                result += "%"
                rest = rest.dropFirst()
            }
        }
        return result + rest
    }
}
