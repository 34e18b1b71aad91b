import Translations

/// The language of the selector's texts: one of this package's 22 locales, or Arabic.
struct FileSelectorLocale: Sendable, Hashable {
    /// The tag (BCP 47).
    let tag: String

    static let american = FileSelectorLocale(tag: InterfaceLocale.americanEnglish.tag)
    static let arabic = FileSelectorLocale(tag: "ar")
    /// All of them.
    static let all = InterfaceLocale.allCases.map { FileSelectorLocale(tag: $0.tag) } + [arabic]

    /// The locale that matches a tag, or nil.
    init?(matching identifier: String) {
        if let locale = InterfaceLocale(matching: identifier) {
            tag = locale.tag
        } else if ["ar", "ar-", "ar_"].contains(String(identifier.prefix(3).lowercased())) {
            self = .arabic
        } else {
            return nil
        }
    }

    /// The best locale for the user's preferences, the best first; American English when none matches.
    init(preferred preferences: [String]) {
        self = preferences.lazy.compactMap(FileSelectorLocale.init(matching:)).first ?? .american
    }

    private init(tag: String) {
        self.tag = tag
    }

    /// Whether the texts are written from right to left.
    var isRightToLeft: Bool { self == .arabic }

    /// The plural form of a whole number of at least 0 (Unicode CLDR, cardinal rules for integers).
    func pluralCategory(of number: Int) -> String {
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
}
