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
}
