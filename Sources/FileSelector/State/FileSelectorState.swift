public import Sequencing

/// The state of a file selector, without its drawing (dossier 4.3 to 4.6).
///
/// SwiftUI's `FileSelector` draws it, and a user interface of an app's own can: it shows the values and calls the functions for
/// the user's actions. Nothing here waits, draws or uses the network.
///
/// ```swift
/// var selector = FileSelectorState(remembered: store.choice)
/// do {
///     selector.show(try await genome.fileList(), at: TimeSource.system.now())
/// } catch {
///     selector.fail(FileProblem(error))
/// }
/// ```
///
/// The user's actions change it; then it has a file:
///
/// ```swift
/// selector.toggle(id)
/// if selector.canContinue, let file = selector.selected { store.choice = RememberedChoice(file) }
/// ```
///
/// A value: selectors share nothing. The selection stays while tabs, segments, search and order change, and while the list
/// cannot be refreshed.
public struct FileSelectorState: Sendable {
    /// The phase of the list.
    public private(set) var phase = Phase.loading
    /// Whether a list that is shown is being loaded again.
    public private(set) var isRefreshing = false
    /// Why the list could not be refreshed; it stays as it was loaded. Nil after a successful load.
    public private(set) var refreshProblem: FileProblem?
    /// When the list was loaded, in seconds since 1970; nil before.
    public private(set) var loadedAt: Double?
    /// The visible screen.
    public private(set) var screen = Screen.intro
    /// The open tab. Own files unless there are none.
    public private(set) var tab = Tab.own
    /// The search text. Every word must occur in the file's name, persona, description, type, population, extension,
    /// category or identifier, or begin a word for its sex: “male” does not find “Female”. Sex and category are also found
    /// by the words that `FileSelector` displays for them in the user's language; without it, by the English ones.
    public var search = ""
    /// The order of the rows.
    public var order = Order.service
    /// The choice of an earlier launch.
    ///
    /// Nil once it is forgotten, or the user has continued with another file.
    public private(set) var remembered: RememberedChoice?

    /// The language of the words that `FileSelector` displays.
    var locale = FileSelectorLocale.american {
        didSet { if locale != oldValue { index = FileIndex(index.files, locale: locale) } }
    }

    private var segments: [Tab: Segment] = [:]
    private var selection: FileID? { didSet { lost = nil } }
    /// The selected file that a refresh took away, until another is selected.
    private var lost: FileID?
    private var index = FileIndex([])
    private var unreadableCount = 0

    /// The phase of the list.
    public enum Phase: Sendable, Hashable {
        /// The list is being loaded, and there is none yet.
        case loading
        /// Loading failed, and there is no list. A retry may help.
        case failed(FileProblem)
        /// The list is loaded, and may be empty.
        case loaded
    }

    /// The two screens.
    public enum Screen: Sendable, Hashable {
        /// The question whether to use own or sample files.
        case intro
        /// The list.
        case list
    }

    /// The two tabs.
    public enum Tab: String, Sendable, Hashable, CaseIterable {
        case own, sample
    }

    /// The order of rows. Ties keep the service's order.
    public enum Order: String, Sendable, Hashable, CaseIterable {
        /// The service's order.
        case service
        /// By title, case-insensitively; numbers by value.
        case name
        /// By date of addition, latest first; files without a valid date at the end.
        case newest
        /// By date of addition, earliest first; files without a valid date at the end.
        case oldest
        /// By segment, then by kind of data, then by name.
        case category
    }

    /// A message for the user.
    public enum Notice: Sendable, Hashable {
        /// The list could not be refreshed. It was loaded at a time in seconds since 1970.
        case stale(loadedAt: Double, FileProblem)
        /// The account has no genetic data: upload some on the website, or use a sample.
        case noOwnFiles
        /// The service has no sample files.
        case noSamples
        /// Neither own nor sample files.
        case noFiles
        /// The list lacks the file that was selected. Where that is the remembered file, ``rememberedFileGone(name:)`` says so.
        case selectionGone
        /// No file matches the search here; so many do in other tabs and segments.
        case nothingFound(search: String, elsewhere: Int)
        /// Some entries of the list are malformed and not shown.
        case unreadableEntries(count: Int)
        /// The remembered file is selected again.
        case rememberedFile(name: String)
        /// The list lacks the remembered file.
        case rememberedFileGone(name: String)
    }

    /// Creates a selector without a list.
    ///
    /// - Parameters:
    ///   - remembered: the choice of an earlier launch; selected once the list has it.
    ///   - skipsIntro: whether to show the list first, without the introduction.
    public init(remembered: RememberedChoice? = nil, skipsIntro: Bool = false) {
        self.remembered = remembered
        if skipsIntro { screen = .list }
    }
}

extension FileSelectorState {
    /// Shows a list. A selected file stays selected if the list has it; otherwise the remembered one is selected, preferring own
    /// files, and its tab and segment are opened.
    ///
    /// - Parameters:
    ///   - list: what the service answered.
    ///   - time: now, in seconds since 1970.
    public mutating func show(_ list: FileList, at time: Double) {
        show(list.files, at: time)
        unreadableCount = list.unreadable.count
    }

    /// Shows files that do not come from an answer, in the same way.
    public mutating func show(_ files: [GeneticFile], at time: Double) {
        let isFirst = phase != .loaded
        index = FileIndex(files, locale: locale)
        unreadableCount = 0
        phase = .loaded
        isRefreshing = false
        refreshProblem = nil
        loadedAt = time
        if !isEnabled(tab) { tab = tab == .own && isEnabled(.sample) ? .sample : .own }
        // With one kind of file only there is nothing to ask (D14).
        if !asksFirst, isEnabled(tab) { screen = .list }
        if let selection, index.file(selection) == nil {
            self.selection = nil
            lost = selection
        }
        if isFirst, selection == nil, let remembered, index.file(remembered.id) != nil {
            select(remembered.id)
            screen = .list
        }
    }

    /// Shows that loading failed. A list that is there stays, with its selection.
    public mutating func fail(_ problem: FileProblem) {
        isRefreshing = false
        if phase == .loaded { refreshProblem = problem } else { phase = .failed(problem) }
    }

    /// Shows that the list is being loaded again.
    public mutating func reload() {
        if phase == .loaded { isRefreshing = true } else { phase = .loading }
    }

    /// Shows that the list is no longer being loaded again.
    mutating func endRefresh() {
        isRefreshing = false
    }

    /// Applies the choice on the intro screen. It opens that tab, or the other one when it has no files.
    public mutating func choose(_ tab: Tab) {
        screen = .list
        open(tab)
    }

    /// Opens a tab. An empty tab stays closed while the other has files.
    public mutating func open(_ tab: Tab) {
        self.tab = tab
        guard phase == .loaded, !isEnabled(tab) else { return }
        let other: Tab = tab == .own ? .sample : .own
        if isEnabled(other) { self.tab = other }
    }

    /// Opens a segment of the open tab. Ignores one that does not exist.
    public mutating func open(_ segment: Segment) {
        if index.segments(of: tab).contains(segment) { segments[tab] = segment }
    }

    /// Returns to the intro screen. The selection stays.
    public mutating func returnToIntro() {
        screen = .intro
    }

    /// Selects a row, or deselects the selected one.
    public mutating func toggle(_ id: FileID) {
        if selection == id { selection = nil } else if index.file(id) != nil { selection = id }
    }

    /// Selects a file and opens its tab and segment; ignores an unknown one.
    public mutating func select(_ id: FileID) {
        guard let place = index.place(of: id) else { return }
        selection = id
        tab = place.tab
        segments[place.tab] = place.segment
    }

    /// Forgets the choice of an earlier launch. The selection stays.
    public mutating func forget() {
        remembered = nil
    }

    /// Takes the file with which the user continues.
    ///
    /// Another file ends the choice of an earlier launch.
    public mutating func remember(_ file: GeneticFile) {
        if remembered?.id != file.id { remembered = nil }
    }
}

extension FileSelectorState {
    /// Whether a tab can be opened: it has files.
    public func isEnabled(_ tab: Tab) -> Bool {
        !index.segments(of: tab).isEmpty
    }

    /// Whether there are both kinds of files. Otherwise the introduction has nothing to ask.
    public var asksFirst: Bool { Tab.allCases.allSatisfy(isEnabled) }

    /// The segments of the open tab that have files, in their order.
    public var availableSegments: [Segment] {
        index.segments(of: tab)
    }

    /// The open segment; nil when the tab has none.
    public var segment: Segment? {
        segments[tab].flatMap { availableSegments.contains($0) ? $0 : nil } ?? availableSegments.first
    }

    /// The number of files in a segment of the open tab, before the search.
    public func count(of segment: Segment) -> Int {
        index.members(of: tab, segment).count
    }

    /// The number of files in a tab, before the search.
    public func count(of tab: Tab) -> Int {
        index.members(of: tab).count
    }

    /// The number of files in a segment of the open tab that match the search.
    public func matchCount(of segment: Segment) -> Int {
        index.matching(search, among: index.members(of: tab, segment)).count
    }

    /// The number of files in a tab that match the search.
    public func matchCount(of tab: Tab) -> Int {
        index.matching(search, among: index.members(of: tab)).count
    }

    /// The rows: the open segment's files that match the search, in order.
    public var rows: [FileRow] {
        guard let segment else { return [] }
        let found = index.matching(search, among: index.members(of: tab, segment))
        return index.ordered(found, by: order).map { place in
            let file = index.files[place]
            return FileRow(file, isSelected: file.id == selection, isTitleRepeated: index.isRepeated(file))
        }
    }

    /// The selected file.
    public var selected: GeneticFile? {
        selection.flatMap { index.file($0) }
    }

    /// Whether the user can continue: a file is selected.
    public var canContinue: Bool { selected != nil }

    /// Messages for the user, the most important first.
    public var notices: [Notice] {
        guard phase == .loaded else { return [] }
        var notices: [Notice] = []
        if let refreshProblem, let loadedAt { notices.append(.stale(loadedAt: loadedAt, refreshProblem)) }
        // By the list of now: a later refresh may bring a file back. The choice of last time is told by its name alone.
        if let lost, lost != remembered?.id, index.file(lost) == nil { notices.append(.selectionGone) }
        if let remembered {
            if index.file(remembered.id) == nil {
                notices.append(.rememberedFileGone(name: remembered.displayName))
            } else if remembered.id == selection {
                notices.append(.rememberedFile(name: remembered.displayName))
            }
        }
        switch (isEnabled(.own), isEnabled(.sample)) {
        case (false, false): notices.append(.noFiles)
        case (false, true): notices.append(.noOwnFiles)
        case (true, false): notices.append(.noSamples)
        case (true, true): break
        }
        if unreadableCount > 0 { notices.append(.unreadableEntries(count: unreadableCount)) }
        if segment != nil, rows.isEmpty {
            let elsewhere = index.matching(search, among: Array(index.files.indices)).count
            notices.append(.nothingFound(search: search, elsewhere: elsewhere))
        }
        return notices
    }
}
