import Foundation
import OAuth
import Sequencing
import Testing
import Translations

@testable import FileSelector

@Suite("The selector's texts and look")
struct FileSelectorWordsTests {
    private static func forms(_ words: FileSelectorWords, _ locale: FileSelectorLocale) -> [String: String] {
        guard let text = FileSelectorWords.catalogue[words.rawValue]?[locale.tag] else { return [:] }
        guard let plural = text.variations?.plural else { return text.form("other").map { ["other": $0] } ?? [:] }
        return Dictionary(uniqueKeysWithValues: plural.keys.map { ($0, text.form($0) ?? "") })
    }

    @Test("every text is there in every locale, and what is filled in has its place", arguments: FileSelectorLocale.all)
    func texts(_ locale: FileSelectorLocale) {
        #expect(Set(FileSelectorWords.catalogue.keys) == Set(FileSelectorWords.allCases.map(\.rawValue)))
        for words in FileSelectorWords.allCases {
            let forms = Self.forms(words, locale)
            #expect(forms["other"] != nil, "\(words)")
            let english = Self.forms(words, .american)
            #expect((forms.count == 1) || english.count > 1, "\(words)")
            for (form, text) in forms {
                #expect(!text.isEmpty && text.trimmingCharacters(in: .whitespaces) == text, "\(words)")
                for place in ["%1$@", "%2$@"] where form == "other" || text.contains(place) {
                    #expect(text.contains(place) == english["other"]?.contains(place), "\(words) \(form)")
                }
                let rest = text.replacing("%1$@", with: "").replacing("%2$@", with: "")
                #expect(!rest.contains("%"), "\(words)")
            }
        }
    }

    @Test("every segment has a title", arguments: FileSelectorState.Segment.allCases)
    func segments(_ segment: FileSelectorState.Segment) {
        #expect(segment.words.rawValue == segment.rawValue)
    }

    @Test("each locale has the plural forms that its numbers need", arguments: FileSelectorLocale.all)
    func plurals(_ locale: FileSelectorLocale) {
        for words in [FileSelectorWords.files, .matching, .matchesElsewhere, .skipped] {
            let needed = Set((0...1000).map { Translation.pluralCategory(of: $0, in: locale.tag) })
            #expect(needed.subtracting(Self.forms(words, locale).keys).isEmpty, "\(words)")
        }
    }

    @Test(
        "a number of files in several languages",
        arguments: [
            ("en-US", 1, "1 file"), ("en-US", 0, "0 files"), ("ru", 22, "22 файла"), ("ru", 11, "11 файлов"),
            ("pl", 12, "12 plików"), ("cs", 3, "3 soubory"), ("fr", 0, "0 fichier"), ("zh-Hans", 5, "5 个文件"),
            ("ar", 2, "ملفان"), ("ar", 11, "11 ملفًا"), ("ar", 100, "100 ملف"),
        ])
    func counts(_ tag: String, _ count: Int, _ text: String) throws {
        let locale = try #require(FileSelectorLocale(matching: tag))
        #expect(FileSelectorWords.files.text(in: locale, count: count) == text)
    }

    @Test(
        "a user's language finds its texts",
        arguments: [
            ("zh-CN", "zh-Hans"), ("zh-TW", "zh-Hant"), ("ar", "ar"), ("ar-EG", "ar"), ("ar_SA.UTF-8", "ar"),
            ("de-AT", "de"), ("arz", nil), ("he", nil),
        ] as [(String, String?)])
    func matching(_ tag: String, _ found: String?) {
        #expect(FileSelectorLocale(matching: tag)?.tag == found)
    }

    /// The texts that each language has in common with English, beside “ID” of all but Arabic and Finnish.
    private static let shared: [String: Set<String>] = [
        "da": ["field_person", "field_type"], "de": ["details", "field_person", "order_name"],
        "fr": ["field_description", "field_population", "field_type"],
        "fr-CA": ["field_description", "field_population", "field_type"], "nb": ["field_person", "field_type"],
        "nl": ["details", "field_subtype", "field_type"], "sv": ["field_person"],
    ]

    @Test("every text is translated, but for words that a language shares with English")
    func translated() {
        for locale in FileSelectorLocale.all where !locale.tag.hasPrefix("en") {
            let same = FileSelectorWords.allCases.filter { Self.forms($0, locale) == Self.forms($0, .american) }
            let identifiers: Set = ["ar", "fi"].contains(locale.tag) ? [] : ["field_id", "identifier"]
            #expect(Set(same.map(\.rawValue)) == identifiers.union(Self.shared[locale.tag] ?? []), "\(locale.tag)")
        }
    }

    @Test("a name cannot turn the text around it")
    func isolation() {
        let text = FileSelectorWords.rememberedGone.text(in: .american, "\u{202E}evil\u{2069}%1$@")
        #expect(text == "Your last choice, \u{2068}evil%1$@\u{2069}, is no longer in the list.")
    }

    @Test("the script begins with the texts and the look that SwiftUI draws")
    func script() throws {
        let text = String(decoding: FileSelectorScript.javaScript, as: UTF8.self)
        let lines = text.split(separator: "\n", maxSplits: 1)
        let words = try JSONValue(parsing: Array(lines[0].dropFirst("const WORDS = ".count).utf8)).object
        #expect(words?.count == 23 && words?["zh-Hans"]?.object?["title"]?.string == "选择文件")
        #expect(words?["pl"]?.object?["files"]?.object?["many"]?.string == "%1$@ plików")
        #expect(lines[1].hasPrefix("const LOOK = {"))
        let sheet = String(decoding: FileSelectorScript.registration, as: UTF8.self)
        #expect(sheet.contains("register_title") && !sheet.contains("intro_question"))
    }

    @Test("the look has a colour for light and dark in every role")
    func look() {
        let look = FileSelectorLook.standard
        #expect(look.colors.count == 10 && look.colors.values.allSatisfy { $0.count == 2 })
        #expect(look.color("accent", dark: false) != look.color("accent", dark: true))
        #expect(look.color("accent", dark: false) == FileSelectorColor("#0b635c"))
        for text in ["", "#12345", "#12345g", "1234567", "#1234567"] { #expect(FileSelectorColor(text) == nil) }
    }

    @Test("D17: the details of a file have labels, words for what the service codes, and what is not stated")
    func details() throws {
        let file = try GeneticFile(
            JSONValue(
                parsing: Array(
                    #"{"Id":"1","Name":"a.vcf","FileCategory":"Community","FriendlyDesc1":"Ada","Sex":"Female","DateAdded":"2016-03-11T09:30:00","Zeta":[1],"alpha":null}"#
                        .utf8)))
        let lines = file.englishDetails.map { "\($0.label): \($0.value)" }
        #expect(
            lines.filter { !$0.hasPrefix("Added") } == [
                "File name: a.vcf", "Person: Ada", "Description: Not stated", "Type: Not stated", "Subtype: Not stated",
                "File extension: Not stated", "Category: Sample", "Population: Not stated", "Sex: Female", "ID: 1",
                "alpha: Not stated", "Zeta: [1]",
            ])
        let added = try #require(lines.first { $0.hasPrefix("Added") })
        #expect(added.contains("March 11, 2016") && added.contains("9:30"))
    }

    @Test(
        "a date is shown as people write it, and an unknown notation as it came",
        arguments: [
            ("2018-05-01", "May 1, 2018"), ("last week", "last week"), ("2018-99-99", "2018-99-99"), ("", ""),
        ])
    func dates(_ text: String, _ shown: String) {
        #expect(FileDate(text).text(in: .american, style: .long) == shown)
    }
}
