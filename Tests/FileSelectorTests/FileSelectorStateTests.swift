import FileSelector
import Sequencing
import Testing

@Suite("The state of a file selector")
struct FileSelectorStateTests {
    private typealias Shelf = FileShelf

    private func selector(_ files: [GeneticFile] = Shelf.own + Shelf.samples, remembered: RememberedChoice? = nil)
        -> FileSelectorState
    {
        var selector = FileSelectorState(remembered: remembered)
        selector.show(files, at: 0)
        return selector
    }

    private func ids(_ selector: FileSelectorState) -> [String] { selector.rows.map(\.id.string) }

    private func id(_ number: Int) throws -> FileID { try #require(FileID("\(number)")) }

    @Test("D03, W30: each of the two buttons opens its own tab", arguments: FileSelectorState.Tab.allCases)
    func intro(_ tab: FileSelectorState.Tab) {
        var selector = selector()
        #expect(selector.screen == .intro)
        selector.choose(tab)
        #expect(selector.screen == .list && selector.tab == tab)
        selector.returnToIntro()
        #expect(selector.screen == .intro)
    }

    @Test("D07: own files stand in their segments, in the service's order, and none is lost")
    func ownSegments() {
        var selector = selector()
        selector.choose(.own)
        #expect(selector.availableSegments == [.uploaded, .shared, .fromApps, .altruist, .other])
        let expected: [FileSelectorState.Segment: [String]] = [
            .uploaded: ["1", "2", "7"], .shared: ["3"], .fromApps: ["4"], .altruist: ["5"], .other: ["6"],
        ]
        for segment in selector.availableSegments {
            selector.open(segment)
            #expect(ids(selector) == expected[segment])
            #expect(selector.count(of: segment) == expected[segment]?.count)
        }
    }

    @Test("D08, W31: All shows all samples, men and women only themselves, and the rest have a segment of their own")
    func sampleSegments() {
        var selector = selector()
        selector.choose(.sample)
        #expect(selector.availableSegments == [.all, .men, .women, .unstated])
        let expected: [FileSelectorState.Segment: [String]] = [
            .all: ["11", "12", "13", "14"], .men: ["12"], .women: ["11"], .unstated: ["13", "14"],
        ]
        for segment in selector.availableSegments {
            selector.open(segment)
            #expect(ids(selector) == expected[segment])
        }
    }

    @Test("segments without files are not there, and cannot be opened")
    func emptySegments() {
        var selector = selector([Shelf.own[2], Shelf.samples[0]])
        selector.choose(.own)
        #expect(selector.availableSegments == [.shared])
        selector.open(.uploaded)
        selector.open(.women)
        #expect(selector.segment == .shared)
        selector.choose(.sample)
        #expect(selector.availableSegments == [.all, .women])
    }

    @Test("D09: own rows show the name, sample rows persona and description, and something when there is no persona")
    func rows() throws {
        var selector = selector()
        selector.choose(.own)
        #expect(selector.rows.first?.title == "file10.vcf" && selector.rows.first?.subtitle == nil)
        selector.choose(.sample)
        #expect(selector.rows.map(\.title) == ["Ada", "Ramón", "Robin", "file14.vcf"])
        #expect(selector.rows.map(\.subtitle) == ["Walks", "café <b>owner</b>", nil, "Nameless"])
    }

    @Test("W37: two files of one name can be told apart")
    func sameName() {
        var selector = selector()
        selector.choose(.own)
        let twins = selector.rows.filter { $0.title == "file10.vcf" }
        #expect(twins.map(\.file.facts) == [["VCF", "2017-01-20", "1"], ["VCF", "7"]])
        #expect(twins.allSatisfy(\.isTitleRepeated) && !selector.rows.allSatisfy(\.isTitleRepeated))
    }

    @Test("D10: one file at most is marked, marking it again clears it, and only a mark lets the user go on")
    func toggle() throws {
        var selector = selector()
        selector.choose(.own)
        #expect(!selector.canContinue && selector.selected == nil)
        selector.toggle(try id(1))
        #expect(try selector.canContinue && selector.selected?.id == id(1))
        selector.toggle(try id(2))
        #expect(selector.rows.filter(\.isSelected).map(\.id) == [try id(2)])
        selector.toggle(try id(2))
        #expect(!selector.canContinue)
        selector.toggle(try id(99))
        #expect(!selector.canContinue)
    }

    @Test("D11: what is chosen is the whole record")
    func record() throws {
        var selector = selector()
        selector.select(try id(11))
        #expect(selector.selected == Shelf.samples[0])
        #expect(selector.selected?.displayName == "Ada - Walks")
    }

    @Test(
        "D12: a preselected file opens its tab and segment, own files before samples",
        arguments: [
            (4, FileSelectorState.Tab.own, FileSelectorState.Segment.fromApps), (12, .sample, .all), (6, .own, .other),
        ])
    func preselection(_ number: Int, _ tab: FileSelectorState.Tab, _ segment: FileSelectorState.Segment) throws {
        let file = try #require((Shelf.own + Shelf.samples).first { $0.id.string == "\(number)" })
        let selector = selector(remembered: RememberedChoice(file))
        #expect(selector.screen == .list && selector.tab == tab && selector.segment == segment && selector.canContinue)
        #expect(selector.rows.contains { $0.isSelected })
    }

    @Test("D13: the mark stays while tabs, segments, search and order change")
    func kept() throws {
        var selector = selector()
        selector.choose(.own)
        selector.toggle(try id(1))
        selector.open(.shared)
        selector.choose(.sample)
        selector.search = "unmatched"
        selector.order = .newest
        #expect(try selector.selected?.id == id(1))
        selector.search = ""
        selector.open(.own)
        selector.open(.uploaded)
        #expect(selector.rows.contains { $0.isSelected })
    }

    @Test("D14: without own files their tab stays closed, samples open, and the user is told")
    func noOwnFiles() {
        var selector = selector(Shelf.samples)
        selector.choose(.own)
        #expect(selector.tab == .sample && !selector.isEnabled(.own))
        #expect(selector.notices == [.noOwnFiles])
    }

    @Test("W29: without samples, and without any files, nothing breaks")
    func noSamples() {
        var some = selector(Shelf.own)
        some.choose(.sample)
        #expect(some.tab == .own && some.notices == [.noSamples])
        var none = selector([])
        none.choose(.sample)
        #expect(none.rows.isEmpty && none.segment == nil && none.notices == [.noFiles])
    }

    @Test("D15, D20: loading, failure and reloading are states of their own")
    func states() throws {
        var selector = FileSelectorState(skipsIntro: true)
        #expect(selector.phase == .loading)
        #expect(selector.screen == .list && selector.rows.isEmpty && selector.notices.isEmpty)
        selector.fail(.status(500))
        #expect(selector.phase == .failed(.status(500)) && selector.notices.isEmpty)
        selector.reload()
        #expect(selector.phase == .loading)
        selector.show(Shelf.own, at: 0)
        selector.toggle(try id(1))
        selector.reload()
        #expect(selector.phase == .loaded && selector.isRefreshing)
        selector.show(Shelf.own + Shelf.samples, at: 1)
        #expect(try selector.selected?.id == id(1) && !selector.isRefreshing)
        selector.show(Shelf.samples, at: 2)
        #expect(selector.selected == nil && selector.tab == .sample)
    }

    @Test("D20: a list that cannot be refreshed stays, with its selection, and tells its age")
    func stale() throws {
        var selector = selector()
        selector.choose(.own)
        selector.toggle(try id(1))
        selector.reload()
        selector.fail(.unreachable)
        #expect(selector.phase == .loaded && !selector.isRefreshing)
        #expect(try selector.selected?.id == id(1) && selector.rows.count == 3 && selector.canContinue)
        #expect(selector.notices == [.stale(loadedAt: 0, .unreachable)])
        selector.reload()
        selector.show(Shelf.own + Shelf.samples, at: 9)
        #expect(selector.notices.isEmpty && selector.loadedAt == 9 && selector.refreshProblem == nil)
    }

    @Test("D03: with one kind of files only there is nothing to ask, and no way back to a question")
    func nothingToAsk() {
        #expect(selector().asksFirst && selector().screen == .intro)
        for files in [Shelf.own, Shelf.samples] {
            #expect(!selector(files).asksFirst && selector(files).screen == .list)
        }
    }

    @Test("D19: a choice is kept across launches, and the user is told when the file is gone")
    func remembered() throws {
        let choice = RememberedChoice(Shelf.samples[0])
        #expect(choice.displayName == "Ada - Walks")
        var found = selector(remembered: choice)
        #expect(found.selected == Shelf.samples[0] && found.screen == .list)
        #expect(found.notices == [.rememberedFile(name: "Ada - Walks")])
        found.forget()
        #expect(found.selected == Shelf.samples[0] && found.notices.isEmpty && found.remembered == nil)
        let gone = selector(Shelf.own, remembered: choice)
        #expect(gone.selected == nil)
        #expect(gone.notices == [.rememberedFileGone(name: "Ada - Walks"), .noSamples])
    }

    @Test(
        "D20: a search looks into names, personas, descriptions and facts, without case and accents, for every word",
        arguments: [
            ("RAMON", ["12"]), ("cafe owner", ["12"]), ("ada european", ["11"]), ("ada asian", []),
            ("  ", ["11", "12", "13", "14"]),
            ("vcf", ["11", "12", "13", "14"]), ("<b>", ["12"]), ("\n", ["11", "12", "13", "14"]),
        ])
    func search(_ text: String, _ expected: [String]) {
        var selector = selector()
        selector.choose(.sample)
        selector.search = text
        #expect(ids(selector) == expected)
        #expect(selector.notices == (expected.isEmpty ? [.nothingFound(search: text, elsewhere: 0)] : []))
    }

    @Test("D20: while a search is on, tabs and segments count what it finds")
    func matchCounts() {
        var selector = selector()
        selector.choose(.sample)
        selector.search = "ada"
        #expect(selector.matchCount(of: .all) == 1 && selector.count(of: .all) == 4)
        #expect(selector.matchCount(of: .sample) == 1 && selector.matchCount(of: .own) == 0)
        selector.search = ""
        #expect(selector.matchCount(of: .all) == 4 && selector.matchCount(of: .own) == selector.count(of: .own))
    }

    @Test("D13: a selected file is told to be gone while the list lacks it, until the user selects another")
    func selectionGone() throws {
        var selector = selector()
        selector.select(try id(1))
        selector.show(Shelf.own.filter { $0.id.string != "1" } + Shelf.samples, at: 1)
        #expect(selector.notices == [.selectionGone] && !selector.canContinue)
        selector.show(Shelf.own + Shelf.samples, at: 2)
        #expect(selector.notices.isEmpty && !selector.canContinue, "the file is back")
        selector.show(Shelf.own.filter { $0.id.string != "1" } + Shelf.samples, at: 3)
        #expect(selector.notices == [.selectionGone])
        selector.toggle(try id(2))
        #expect(selector.notices.isEmpty)
        selector.toggle(try id(2))
        #expect(selector.notices.isEmpty, "what the user deselects is not gone")
    }

    @Test("D20: a search without a match here says how many files match elsewhere")
    func elsewhere() {
        var selector = selector()
        selector.choose(.own)
        selector.search = "ramón"
        #expect(selector.notices == [.nothingFound(search: "ramón", elsewhere: 1)])
    }

    @Test(
        "D20: rows are ordered by name with numbers by value, or by date, and ties keep the service's order",
        arguments: [
            (FileSelectorState.Order.service, ["1", "2", "7"]), (.name, ["2", "1", "7"]), (.newest, ["2", "1", "7"]),
            (.oldest, ["1", "2", "7"]),
        ])
    func order(_ order: FileSelectorState.Order, _ expected: [String]) {
        var selector = selector()
        selector.choose(.own)
        selector.order = order
        #expect(ids(selector) == expected)
    }

    @Test("W36: the selectors of two users keep their own files, tab, search and selection, also as copies")
    func twoUsers() throws {
        var (ada, grace) = (selector(Shelf.own), selector(Shelf.samples))
        ada.choose(.own)
        grace.choose(.sample)
        ada.select(try id(1))
        grace.select(try id(12))
        grace.search = "ramón"
        var copy = ada
        copy.toggle(try id(1))
        copy.show(Shelf.samples, at: 0)
        #expect(ada.selected?.id == (try id(1)) && ada.tab == .own && ada.search.isEmpty)
        #expect(Set(ids(ada)).isSubset(of: Set(Shelf.own.map(\.id.string))) && !ids(ada).isEmpty)
        #expect(grace.selected?.id == (try id(12)) && grace.tab == .sample && ids(grace) == ["12"])
        #expect(copy.selected == nil && !copy.canContinue && ada.canContinue)
    }

    @Test("D19: once another file is chosen, the choice of an earlier launch is told no more")
    func replaced() throws {
        var gone = selector(Shelf.own, remembered: RememberedChoice(Shelf.samples[0]))
        gone.remember(Shelf.own[1])
        #expect(gone.remembered == nil && gone.notices == [.noSamples])
        var other = selector(remembered: RememberedChoice(Shelf.samples[0]))
        other.select(Shelf.own[1].id)
        other.remember(Shelf.own[1])
        #expect(other.selected == Shelf.own[1] && other.notices.isEmpty, "this launch has no last time of that file")
        var same = selector(remembered: RememberedChoice(Shelf.samples[0]))
        same.remember(Shelf.samples[0])
        #expect(same.notices == [.rememberedFile(name: "Ada - Walks")])
        var first = selector()
        first.remember(Shelf.own[1])
        #expect(first.remembered == nil, "an app that remembers nothing is not offered to forget")
    }

    @Test("D19: of an own file and a sample with one identifier, the own file is meant, wherever it is listed")
    func oneIdentifier() throws {
        let sample = try #require(Shelf.file(1, "Community", persona: "Ada", line: "Walks"))
        let selector = selector([sample] + Shelf.own, remembered: RememberedChoice(sample))
        #expect(selector.selected == Shelf.own[0] && selector.tab == .own && selector.segment == .uploaded)
    }

    @Test("two records of one identifier are both listed, and the first is meant")
    func doubled() throws {
        var selector = selector([Shelf.own[0], try #require(Shelf.file(1, "SharedToMe", name: "other"))])
        selector.select(try id(1))
        #expect(selector.selected?.name == "file10.vcf" && selector.segment == .uploaded)
    }
}
