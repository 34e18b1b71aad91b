/// One of the 22 locales of this package's user interfaces.
package struct InterfaceLocale: Sendable, Hashable, CaseIterable {
    /// The locale's tag (BCP 47).
    package let tag: String

    package static let americanEnglish = InterfaceLocale(tag: "en-US")
    package static let allCases = [
        "en-US", "en-GB", "cs", "da", "de", "es", "es-419", "fi", "fr", "fr-CA", "it", "ja", "ko", "nb", "nl", "pl",
        "pt-BR", "pt-PT", "ru", "sv", "zh-Hans", "zh-Hant",
    ].map(InterfaceLocale.init(tag:))

    private init(tag: String) { self.tag = tag }

    /// The locale that matches `identifier`, or `nil`.
    ///
    /// Accepts tags and POSIX names, such as `zh-Hant-TW` and `pt_PT.UTF-8@euro`, in any case. Where a language has two
    /// locales, script and region decide as in Unicode's CLDR: `es-MX` gives `es-419`, `pt` gives `pt-BR`, `zh-HK` gives
    /// `zh-Hant`.
    package init?(matching identifier: String) {
        guard let tag = LanguageTag(identifier) else { return nil }
        let name =
            switch tag.language {
            case "en": tag.region.map(Self.americanRegions.contains) ?? true ? "en-US" : "en-GB"
            case "es": tag.region.map(Self.latinAmericanRegions.contains) ?? false ? "es-419" : "es"
            case "fr": tag.region == "ca" ? "fr-CA" : "fr"
            case "pt": tag.region.map { $0 != "br" } ?? false ? "pt-PT" : "pt-BR"
            case "no", "nb", "nn": "nb"
            case "zh", "cmn": tag.isTraditional ? "zh-Hant" : "zh-Hans"
            case "yue": tag.script == "hans" ? "zh-Hans" : "zh-Hant"
            default: tag.language
            }
        self.init(tag: name)
        guard Self.allCases.contains(self) else { return nil }
    }

    /// The best locale for the user's preferences, the best first; American English when none matches.
    package init(preferred preferences: [String]) {
        self = preferences.lazy.compactMap(InterfaceLocale.init(matching:)).first ?? .americanEnglish
    }

    /// Regions with American spelling (CLDR: those that do not descend from `en-001`).
    private static let americanRegions: Set<String> = [
        "us", "as", "gu", "mh", "mp", "ph", "pr", "um", "vi", "840",
    ]

    /// Descendants of `es-419` in CLDR.
    private static let latinAmericanRegions: Set<String> = [
        "419", "ar", "bo", "br", "bz", "cl", "co", "cr", "cu", "do", "ec", "gt", "hn", "mx", "ni", "pa", "pe", "pr",
        "py",
        "sv", "us", "uy", "ve",
    ]
}

/// The subtags that decide: language, script, region, in lower case.
private struct LanguageTag {
    let language: String
    var script: String?
    var region: String?

    /// Parses the part before a POSIX encoding or modifier, in subtags of 1 to 8 letters and digits. Ignores extensions and
    /// private use.
    init?(_ identifier: String) {
        guard identifier.utf8.count <= 128 else { return nil }
        let name = identifier.prefix { $0 != "." && $0 != "@" }
        let subtags = name.split(omittingEmptySubsequences: false) { $0 == "-" || $0 == "_" }.map { $0.lowercased() }
        guard let first = subtags.first, (2...3).contains(first.utf8.count), first.utf8.allSatisfy(Self.isLetter),
            subtags.allSatisfy({ (1...8).contains($0.utf8.count) && $0.utf8.allSatisfy(Self.isLetterOrDigit) })
        else { return nil }
        // `zh-yue`: an extended language replaces the language.
        language = first == "zh" && subtags.dropFirst().first == "yue" ? "yue" : first
        for subtag in subtags.dropFirst() {
            if subtag.utf8.count == 1 { break }
            if subtag.utf8.count == 4, script == nil, region == nil, subtag.utf8.allSatisfy(Self.isLetter) {
                script = subtag
            } else if region == nil, Self.isRegion(subtag) {
                region = subtag
            }
        }
    }

    var isTraditional: Bool {
        if script == "hant" { return true }
        return script != "hans" && ["tw", "hk", "mo"].contains(region)
    }

    private static func isRegion(_ subtag: String) -> Bool {
        subtag.utf8.count == 2 && subtag.utf8.allSatisfy(isLetter)
            || subtag.utf8.count == 3 && subtag.utf8.allSatisfy { isLetterOrDigit($0) && !isLetter($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool { isLetter(byte) || (0x30...0x39).contains(byte) }
}
