import Foundation
import OAuth
import Sequencing
import Testing

@testable import FileSelector

/// A case of `Fixtures/file-selector-cases.json`, which the web component is held to as well.
struct SelectorCase: Sendable, CustomTestStringConvertible {
    private let members: JSONObject

    init(_ value: JSONValue) throws {
        members = try #require(value.object)
    }

    var testDescription: String { members["name"]?.string ?? "" }
    var answer: JSONValue { members["answer"] ?? .null }
    var isError: Bool { members["error"] == .bool(true) }
    var unreadable: Int64? { members["unreadable"]?.integer }
    /// The language of its searches, if that is not English.
    var language: String? { members["language"]?.string }

    /// Identifiers by segment, by order, or what is shown of a file by its identifier.
    func lists(_ name: String) -> [String: [String]] {
        Dictionary(
            uniqueKeysWithValues: (members[name]?.object ?? [:]).map {
                ($0.key, ($0.value.array ?? []).compactMap(\.string))
            })
    }

    static let all = SharedTable.rows("cases", SelectorCase.init)
}

@Suite("The file selector and the web component say the same")
struct SharedCasesTests {
    @Test("the table of cases is there")
    func table() {
        #expect(SelectorCase.all.count >= 15)
        for kind in ["names", "orders", "searches", "pictures", "dates", "facts", "details"] {
            #expect(SelectorCase.all.contains { !$0.lists(kind).isEmpty }, "\(kind)")
        }
        #expect(SelectorVisit.all.count >= 5)
    }

    @Test(
        "W29, 9.5: an answer is read or refused, entry by entry, and every file stands in its segments",
        arguments: SelectorCase.all)
    func segments(_ shared: SelectorCase) throws {
        guard !shared.isError else {
            #expect {
                try FileList(shared.answer)
            } throws: {
                ($0 as? SequencingError)?.code == "malformed_answer"
            }
            return
        }
        let list = try FileList(shared.answer)
        #expect(Int64(list.unreadable.count) == shared.unreadable)
        var selector = FileSelectorState(skipsIntro: true)
        selector.show(list, at: 0)
        var seen: [String: [String]] = [:]
        for tab in FileSelectorState.Tab.allCases where selector.isEnabled(tab) {
            selector.open(tab)
            for segment in selector.availableSegments {
                selector.open(segment)
                seen[segment.rawValue] = selector.rows.map(\.id.string)
            }
        }
        #expect(seen == shared.lists("segments"))
        let hasNotice = selector.notices.contains(.unreadableEntries(count: list.unreadable.count))
        #expect(hasNotice == !list.unreadable.isEmpty)
    }

    @Test("D09, D16: a file has one name in its row and one when it is chosen", arguments: SelectorCase.all)
    func names(_ shared: SelectorCase) throws {
        for (id, names) in shared.lists("names") {
            let file = try #require(try FileList(shared.answer).files.first { $0.id.string == id })
            var selector = FileSelectorState(skipsIntro: true)
            selector.show([file], at: 0)
            #expect([selector.rows.first?.title, file.displayName] == names)
        }
    }

    @Test("D20: files are put in the same order", arguments: SelectorCase.all)
    func orders(_ shared: SelectorCase) throws {
        for (word, ids) in shared.lists("orders") {
            var selector = FileSelectorState(skipsIntro: true)
            selector.show(try FileList(shared.answer), at: 0)
            selector.order = try #require(FileSelectorState.Order(rawValue: word))
            #expect(selector.rows.map(\.id.string) == ids, "\(word)")
        }
    }

    @Test("W37, D20: a search finds the same files", arguments: SelectorCase.all)
    func searches(_ shared: SelectorCase) throws {
        for (search, ids) in shared.lists("searches") {
            var selector = FileSelectorState(skipsIntro: true)
            selector.show(try FileList(shared.answer), at: 0)
            let language = shared.language ?? "en-US"
            selector.locale = try #require(FileSelectorLocale(matching: language))
            selector.search = search
            #expect(selector.rows.map(\.id.string) == ids, "\(search)")
            guard shared.language == nil else { continue }
            let everywhere = GeneticFile.matching(try FileList(shared.answer).files, search: search)
            #expect(everywhere.map(\.id.string) == ids, "\(search)")
        }
    }

    @Test("W37: a row has the same facts, with the word of an unknown category", arguments: SelectorCase.all)
    func facts(_ shared: SelectorCase) throws {
        for (id, facts) in shared.lists("facts") {
            var selector = FileSelectorState(skipsIntro: true)
            selector.show(try FileList(shared.answer), at: 0)
            selector.select(try #require(FileID(id)))
            let row = try #require(selector.rows.first { $0.isSelected })
            // What is filled into a text is isolated, for names of another direction.
            let plain = row.facts(in: .american).map {
                String($0.unicodeScalars.filter { $0 != "\u{2068}" && $0 != "\u{2069}" })
            }
            #expect(plain == facts, "\(id)")
        }
    }

    @Test(
        "D17: the details state the same, in the same order, and nothing of what is blank",
        arguments: SelectorCase.all)
    func details(_ shared: SelectorCase) throws {
        for (id, lines) in shared.lists("details") {
            let file = try #require(try FileList(shared.answer).files.first { $0.id.string == id })
            #expect(file.englishDetails.map { "\($0.label): \($0.value)" } == lines, "\(id)")
        }
    }

    @Test("a date is read in the same notations", arguments: SelectorCase.all)
    func dates(_ shared: SelectorCase) throws {
        let files = try shared.lists("dates").isEmpty ? [] : FileList(shared.answer).files
        for file in files {
            let date = FileDate(try #require(file.dateAdded))
            #expect([date.text(in: .american, style: .medium)] == shared.lists("dates")[file.id.string])
        }
    }

    @Test(
        "D19, D20: after each step of a visit the same file is selected, and the same notices are shown",
        arguments: SelectorVisit.all)
    func visits(_ visit: SelectorVisit) throws {
        var selector = FileSelectorState(remembered: try visit.remembered())
        for step in visit.steps {
            try visit.take(step, in: &selector)
            #expect(selector.selected?.displayName == step.selected, "\(step.action)")
            #expect(selector.shownNotices.map(\.key) == step.notices, "\(step.action)")
        }
    }

    @Test("a persona has the same picture", arguments: SelectorCase.all)
    func pictures(_ shared: SelectorCase) throws {
        for (id, drawn) in shared.lists("pictures") {
            let file = try #require(try FileList(shared.answer).files.first { $0.id.string == id })
            let picture = PersonaPicture(of: file)
            let arcs = picture.arcs.map { "\($0.gap) \($0.sweep) \($0.weight)" }
            #expect(["\(picture.hue)", picture.initial] + arcs == drawn)
        }
    }
}
