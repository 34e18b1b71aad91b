import Foundation
import Handshake
import OAuth
import Testing
import Translations

@testable import ConnectedAccountsUI

@Suite("The list of accounts")
struct ConnectedAccountTests {
    private static func form(_ words: ConnectedAccountsWords, _ locale: InterfaceLocale) -> String {
        ConnectedAccountsWords.catalogue[words.rawValue]?[locale.tag]?.form("other") ?? ""
    }

    @Test("every text is there in every locale, and names have their place", arguments: InterfaceLocale.allCases)
    func texts(_ locale: InterfaceLocale) {
        for words in ConnectedAccountsWords.allCases {
            let text = Self.form(words, locale)
            #expect(!text.isEmpty && text.trimmingCharacters(in: .whitespaces) == text, "\(words)")
            let places = text.components(separatedBy: "%1$@").count - 1
            #expect((places > 0) == (Self.form(words, .americanEnglish).contains("%1$@")), "\(words)")
            #expect(!text.replacingOccurrences(of: "%1$@", with: "").contains("%"), "\(words)")
        }
        #expect(Set(ConnectedAccountsWords.catalogue.keys) == Set(ConnectedAccountsWords.allCases.map(\.rawValue)))
    }

    @Test("no two locales of different languages have the same sentences")
    func translated() {
        let english = Self.form(.confirmText, .americanEnglish)
        for locale in InterfaceLocale.allCases where !locale.tag.hasPrefix("en") {
            #expect(Self.form(.confirmText, locale) != english, "\(locale.tag)")
        }
    }

    @Test("every state has a text, and something that the user can do")
    func states() {
        for state in ConnectedAccount.State.allCases {
            #expect(!state.actions.isEmpty && !(state.isConnected && state.needsAttention))
            #expect(state.actions.contains(.disconnect) == (state != .absent))
        }
    }

    @Test(
        "a name from outside is one line of at most a hundred characters",
        arguments: [
            ("Ada", "Ada"), (" a\u{0}\n\tb ", "a b"), ("", nil), (" \u{7}", nil), ("a\u{2028}b\u{2029}c", "a b c"),
            ("\u{202E}evil\u{202A} \u{2066}x\u{2069}", "evil x"), ("\u{2067}", nil),
            (String(repeating: "x", count: 100_000), String(repeating: "x", count: 100)),
            ("e" + String(repeating: "\u{301}", count: 100_000), "e" + String(repeating: "\u{301}", count: 999)),
        ] as [(String, String?)])
    func names(given: String, shown: String?) throws {
        let account = ConnectedAccount(.recurseCenter, status: nil).named(given)
        #expect(account.userName == shown)
        let described = ConnectedAccount(
            service: "standard", displayName: given, state: .signedIn, userName: given, isNameAvailable: false,
            lastUse: nil)
        #expect(described.displayName == shown ?? "standard" && described.userName == shown)
    }

    @Test("a name that would turn the text around is kept to itself")
    func isolation() {
        let text = ConnectedAccountsWords.connectedAs.text(in: .americanEnglish, "\u{202E}evil\u{2069}%1$@")
        #expect(text == "Connected as \u{2068}evil%1$@\u{2069}")
    }

    @Test("the script begins with the texts and states that SwiftUI draws")
    func script() throws {
        let text = String(decoding: ConnectedAccountsScript.javaScript, as: UTF8.self)
        let lines = text.split(separator: "\n", maxSplits: 2)
        let words = try JSONValue(parsing: Array(lines[0].dropFirst("const WORDS = ".count).utf8)).object
        let states = try JSONValue(parsing: Array(lines[1].dropFirst("const STATES = ".count).utf8)).object
        #expect(words?.count == 22 && words?["de"]?.object?["keep"]?.string == "Behalten")
        #expect(states?.count == ConnectedAccount.State.allCases.count)
        #expect(
            states?["sign_in_required"]?.object?["actions"] == .array([.string("reconnect"), .string("disconnect")]))
    }
}
