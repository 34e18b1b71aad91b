import Testing
import Translations

@testable import ConnectButton

@Suite("The button's words")
struct WordsTests {
    private static let isolates: Set<Unicode.Scalar> = ["\u{2068}", "\u{2069}"]
    private static let named: [ConnectButtonWords] = [
        .connect, .goingTo, .accountCreation, .aboutTitle, .pendingNote, .confirmDisconnect, .legal,
    ]

    /// The keys of all texts.
    private static let keys =
        ConnectButtonWords.allCases.map(\.rawValue) + ConnectButtonFailure.Kind.allCases.map(\.rawValue)

    private static func form(_ words: ConnectButtonWords, _ locale: ConnectButtonLocale) -> String? {
        form(words.rawValue, locale)
    }

    private static func form(_ key: String, _ locale: ConnectButtonLocale) -> String? {
        Catalogue.texts[key]?[locale.tag]?.form("other")
    }

    @Test("every word is there in every locale, and nothing else is", arguments: ConnectButtonLocale.allCases)
    func complete(_ locale: ConnectButtonLocale) {
        for key in Self.keys {
            let text = Self.form(key, locale)
            #expect(text?.isEmpty == false, "\(key)")
            #expect(text == text?.trimming(), "\(key) has stray spaces")
        }
        #expect(Set(Catalogue.texts.keys) == Set(Self.keys))
        #expect(Catalogue.texts.values.allSatisfy { $0.count == ConnectButtonLocale.allCases.count })
    }

    @Test(
        "names have their place in every locale, and no text has a place for nothing",
        arguments: ConnectButtonLocale.allCases)
    func placeholders(_ locale: ConnectButtonLocale) {
        for key in Self.keys where key != ConnectButtonWords.undoSeconds.rawValue {
            let (text, words) = (Self.form(key, locale) ?? "", ConnectButtonWords(rawValue: key))
            #expect(text.contains("%1$@") == words.map(Self.named.contains) ?? false, "\(key)")
            #expect(text.contains("%2$@") == (words == .aboutTitle), "\(key)")
        }
        let title = Self.form(.aboutTitle, locale) ?? ""
        let (first, second) = (title.firstRange(of: "%1$@"), title.firstRange(of: "%2$@"))
        if let first, let second {
            #expect(first.lowerBound < second.lowerBound, "the first is connected with the second")
        }
    }

    @Test("the word mark stands where the dossier wants it", arguments: ConnectButtonLocale.allCases)
    func wordMark(_ locale: ConnectButtonLocale) {
        for words in [ConnectButtonWords.worksWith, .emailSecured, .aboutTitle, .accountCreation] {
            let runs = TextRun.marking(Self.form(words, locale) ?? "")
            #expect(runs.filter { $0.style == .mark }.count == 1, "\(words)")
        }
        // Learn more is an action of its own, so it is not said twice (W22).
        #expect(Self.form(.emailSecured, locale)?.contains(Self.form(.learnMore, locale) ?? "?") == false)
    }

    @Test("a counted text has every form that a number can take", arguments: ConnectButtonLocale.allCases)
    func pluralForms(_ locale: ConnectButtonLocale) {
        let forms = Catalogue.texts["undo_seconds"]?[locale.tag]?.variations?.plural ?? [:]
        for number in 0...200 {
            let category = Translation.pluralCategory(of: number, in: locale.tag)
            #expect(forms[category] != nil, "\(number) is \(category)")
            #expect(ConnectButtonWords.undoSeconds.text(in: locale, count: number).contains(String(number)))
        }
    }

    @Test("labels are short enough for a pill of 329 points", arguments: ConnectButtonLocale.allCases)
    func short(_ locale: ConnectButtonLocale) {
        let labels: [ConnectButtonWords] = [
            .loading, .verifying, .creatingAccount, .connecting, .connected, .disconnecting, .disconnected, .pending,
        ]
        for label in labels { #expect(label.text(in: locale).count <= 26, "\(label)") }
        for answer in [ConnectButtonWords.disconnect, .keep] { #expect(answer.text(in: locale).count <= 14) }
    }

    @Test("F103: a word is said in the button's own locale", arguments: ConnectButtonLocale.allCases)
    func ownLocale(_ locale: ConnectButtonLocale) {
        for words: ConnectButtonWords in [.loading, .verifying, .connected, .disconnected, .learnMore, .tryAgain] {
            #expect(words.text(in: locale) == Self.form(words, locale), "\(words)")
        }
    }

    @Test("a name is isolated and cannot leave its place")
    func isolation() {
        let text = ConnectButtonWords.connect.text(in: .americanEnglish, "עדה\u{202E}\u{2069}\u{2066}x\n%1$@<b>")
        #expect(text == "Connect \u{2068}עדהx %1$@<b>\u{2069}")
        let title = ConnectButtonWords.aboutTitle.text(in: .americanEnglish, "%2$@", "B")
        #expect(title == "IFTTT connects \u{2068}%2$@\u{2069} with \u{2068}B\u{2069}")
    }
}

extension String {
    fileprivate func trimming() -> String {
        var text = self[...]
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
