import Foundation
import Testing
import Translations

@testable import ConnectButton

@Suite("The button's locales")
struct LocaleTests {
    @Test("identifiers of either spelling find their locale", arguments: try Vectors.read().locales)
    func matching(_ pair: [String?]) {
        #expect(ConnectButtonLocale(matching: pair[0] ?? "")?.tag == pair[1])
    }

    @Test("the locales are those of the other interfaces, and each of the 22 finds itself")
    func identity() {
        #expect(ConnectButtonLocale.allCases.map(\.tag) == InterfaceLocale.allCases.map(\.tag))
        #expect(ConnectButtonLocale.allCases.count == 22)
        for locale in ConnectButtonLocale.allCases { #expect(ConnectButtonLocale(matching: locale.tag) == locale) }
    }

    @Test("a very long identifier matches no locale")
    func long() {
        #expect(ConnectButtonLocale(matching: "de" + String(repeating: "-abcdefgh", count: 100_000)) == nil)
    }

    @Test("the first preference that fits wins, and American English when none does")
    func preferences() {
        #expect(ConnectButtonLocale(preferred: ["tlh", "pt_AO", "de"]) == .europeanPortuguese)
        #expect(ConnectButtonLocale(preferred: ["tlh", ""]) == .americanEnglish)
        #expect(ConnectButtonLocale(preferred: []) == .americanEnglish)
    }

    @Test("F105: what the user prefers and the button does not speak is told, and nothing after what it speaks")
    func passedOver() {
        var told: [String] = []
        #expect(ConnectButtonLocale(preferred: ["tlh", "hu-HU", "de-AT", "eo"]) { told.append($0) } == .german)
        #expect(told == ["tlh", "hu-HU"])
        told = []
        #expect(ConnectButtonLocale(preferred: ["eo", "tlh"]) { told.append($0) } == .americanEnglish)
        #expect(told == ["eo", "tlh"])
    }

    @Test("F103, F104: the user's locale is the first of the device's languages that the button speaks")
    func user() {
        #expect(ConnectButtonLocale.user(languages: ["tlh", "fr-CA", "de"], current: "ja_JP") == .canadianFrench)
        #expect(ConnectButtonLocale.user(languages: ["tlh"], current: "ja_JP") == .americanEnglish)
        #expect(ConnectButtonLocale.user(languages: [], current: "ja_JP") == .japanese)
    }

    @Test(
        "an Accept-Language header is read by its qualities",
        arguments: [
            ("de", ConnectButtonLocale.german), ("tlh, fr-CA;q=0.9, en;q=0.8", .canadianFrench),
            ("en;q=0.5, ja;q=0.7", .japanese), ("es-MX,es;q=0.9", .latinAmericanSpanish), ("de;q=0, nl", .dutch),
            ("fi;q=0.8,sv;q=0.8", .finnish), ("*", .americanEnglish), ("", .americanEnglish),
            (";;;,,,q=", .americanEnglish),
            ("de;q=banana, it", .italian), ("pl ; q=0.3 , cs ; q=0.4", .czech),
        ])
    func acceptLanguage(_ header: String, _ expected: ConnectButtonLocale) {
        #expect(ConnectButtonLocale(acceptLanguage: header) == expected)
    }

    @Test("a button's own locale takes precedence over the browser's, unless it is unknown")
    func override() {
        #expect(ConnectButtonLocale(acceptLanguage: "de", override: "ko_KR") == .korean)
        #expect(ConnectButtonLocale(acceptLanguage: "de", override: "<b>") == .german)
        #expect(ConnectButtonLocale(acceptLanguage: nil) == .americanEnglish)
    }

    @Test(
        "whole numbers take the forms of CLDR",
        arguments: [
            (ConnectButtonLocale.americanEnglish, [1: "one", 0: "other", 2: "other", 21: "other"]),
            (.french, [0: "one", 1: "one", 2: "other"]), (.brazilianPortuguese, [0: "one", 1: "one", 2: "other"]),
            (.europeanPortuguese, [0: "other", 1: "one"]),
            (.czech, [1: "one", 2: "few", 4: "few", 5: "other", 22: "other"]),
            (.polish, [1: "one", 2: "few", 5: "many", 12: "many", 22: "few", 21: "many", 0: "many"]),
            (.russian, [1: "one", 2: "few", 5: "many", 11: "many", 12: "many", 21: "one", 22: "few", 111: "many"]),
            (.japanese, [0: "other", 1: "other"]),
        ])
    func plurals(_ locale: ConnectButtonLocale, _ forms: [Int: String]) {
        for (number, form) in forms {
            #expect(Translation.pluralCategory(of: number, in: locale.tag) == form, "\(number)")
        }
    }
}
