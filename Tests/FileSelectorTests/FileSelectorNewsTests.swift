import Sequencing
import Testing

@testable import FileSelector

@Suite("What a selector announces")
struct FileSelectorNewsTests {
    private typealias State = FileSelectorState
    private typealias Shelf = FileShelf

    private static let stale =
        "The list could not be refreshed. This one was loaded at 0. The service could not be reached."

    private func selector(_ files: [GeneticFile] = Shelf.own + Shelf.samples, remembered: RememberedChoice? = nil)
        -> State
    {
        var selector = State(remembered: remembered)
        selector.show(files, at: 0)
        return selector
    }

    /// What is announced after a change.
    private func said(
        of selector: inout State, in locale: FileSelectorLocale = .american, _ change: (inout State) -> Void
    ) -> String? {
        let before = FileSelectorNews(selector)
        change(&selector)
        return FileSelectorNews(selector).text(after: before, in: locale, canSignIn: true) { "at \(Int($0))" }
    }

    @Test("D18: loading, its failure and what has come are announced")
    func loading() {
        var selector = State()
        let failure = said(of: &selector) { $0.fail(.status(500)) }
        let reason = "The service answered with an error (status \u{2068}500\u{2069})."
        #expect(failure == "The files could not be loaded\n\(reason)")
        #expect(said(of: &selector) { $0.reload() } == "Loading the files…")
        #expect(said(of: &selector) { $0.show(Shelf.own + Shelf.samples, at: 0) } == "11 files")
        var empty = State()
        let notice = "Your account has no genetic data yet. Meanwhile you can use a sample."
        #expect(said(of: &empty) { $0.show(Shelf.samples, at: 0) } == notice)
    }

    @Test("D18, D20: a refresh that fails is announced with the list's age, from the first question too, and each time")
    func failedRefresh() {
        for opens in [false, true] {
            var selector = selector()
            if opens { selector.choose(.own) }
            for _ in 1...2 {
                #expect(said(of: &selector) { $0.reload() } == "Loading the files…")
                let text = said(of: &selector) { $0.fail(.unreachable) } ?? ""
                #expect(text.filter { !"\u{2068}\u{2069}".contains($0) } == Self.stale)
            }
            #expect(said(of: &selector) { $0.reload() } == "Loading the files…")
            #expect(said(of: &selector) { $0.show(Shelf.own, at: 9) } == "There are no sample files at the moment.")
        }
    }

    @Test("D20: the first question and an empty list show how old the list is, and nothing else")
    func shown() {
        var intro = selector()
        #expect(intro.shownNotices.isEmpty && !intro.isBrowsing)
        intro.fail(.unreachable)
        #expect(intro.shownNotices == [.stale(loadedAt: 0, .unreachable)])
        var empty = selector([])
        #expect(empty.shownNotices.isEmpty && empty.notices == [.noFiles] && !empty.isBrowsing)
        empty.fail(.unreachable)
        #expect(empty.shownNotices == [.stale(loadedAt: 0, .unreachable)])
        let list = selector(Shelf.samples)
        #expect(list.shownNotices == [.noOwnFiles] && list.isBrowsing)
    }

    @Test("D18: a refresh announces what has come, and a selected file that is gone")
    func refresh() {
        var selector = selector()
        selector.choose(.own)
        selector.select(Shelf.own[0].id)
        #expect(said(of: &selector) { $0.reload() } == "Loading the files…")
        #expect(said(of: &selector) { $0.show(Shelf.own + Shelf.samples, at: 1) } == "11 files")
        let gone = said(of: &selector) { $0.show(Array(Shelf.own.dropFirst()) + Shelf.samples, at: 2) }
        #expect(gone == "The selected file is no longer in the list.")
        #expect(said(of: &selector) { $0.reload() } == "Loading the files…")
        #expect(said(of: &selector) { $0.endRefresh() } == nil, "a load that was cancelled says nothing")
    }

    @Test("D18: a tab, a segment and a search announce how many files there are")
    func counts() throws {
        var selector = selector()
        #expect(said(of: &selector) { $0.choose(.own) } == "3 files")
        #expect(said(of: &selector) { $0.open(.sample) } == "4 files")
        #expect(said(of: &selector) { $0.open(State.Segment.women) } == "1 file")
        #expect(said(of: &selector) { $0.open(State.Segment.all) } == "4 files")
        #expect(said(of: &selector) { $0.search = "ada" } == "1 of 4 files matches")
        let nothing = "Nothing here matches “\u{2068}file10\u{2069}”. 2 files elsewhere match."
        #expect(said(of: &selector) { $0.search = "file10" } == nothing)
        #expect(said(of: &selector) { $0.search = "" } == "4 files")
        #expect(said(of: &selector) { $0.order = .name } == "4 files")
        #expect(said(of: &selector) { $0.toggle(Shelf.samples[0].id) } == nil, "the row says it")
        #expect(said(of: &selector) { $0.returnToIntro() } == nil)
        let german = try #require(FileSelectorLocale(matching: "de"))
        #expect(said(of: &selector, in: german) { $0.choose(.own) } == "3 Dateien")
    }

    @Test("D18: while the user types, an announcement waits for the end of the word")
    func pause() {
        var selector = selector()
        selector.choose(.own)
        let before = FileSelectorNews(selector)
        selector.search = "f"
        #expect(FileSelectorNews(selector).pause(after: before) == .milliseconds(350))
        selector.search = ""
        selector.open(.sample)
        #expect(FileSelectorNews(selector).pause(after: before) == .milliseconds(50))
    }

    @Test("D19: forgetting the choice of an earlier launch is announced, and continuing with another file is not")
    func forgotten() {
        let choice = RememberedChoice(Shelf.samples[0])
        var selector = selector(remembered: choice)
        #expect(said(of: &selector) { $0.forget() } == "The choice is forgotten.")
        var other = self.selector(remembered: choice)
        let continued = said(of: &other) {
            $0.toggle(Shelf.samples[1].id)
            $0.remember(Shelf.samples[1])
        }
        #expect(continued == nil)
        var again = self.selector(remembered: choice)
        again.toggle(Shelf.samples[1].id)
        #expect(
            said(of: &again) { $0.toggle(Shelf.samples[0].id) }
                == "Selected as last time: \u{2068}Ada - Walks\u{2069}")
    }
}
