/// Choosing a genetic file: everything but the drawing (dossier 4.3 to 4.6).
///
/// A user interface shows what the values say and calls the functions as the user acts; nothing here waits, draws or
/// asks the network.
///
/// ```swift
/// var selector = FileSelector(remembered: store.choice)
/// do { selector.show(try await genome.fileList()) } catch { selector.fail(error) }
/// // … selector.choose(.sample); selector.toggle(id); selector.search = "ada" …
/// if selector.canContinue, let file = selector.selected { store.choice = RememberedChoice(file) }
/// ```
///
/// A value: two selectors never share anything. The selection stays while tabs, segments, search and order change.
public struct FileSelector: Sendable {
    /// Where the list is.
    public private(set) var state = State.loading
    /// What is on the screen.
    public private(set) var screen = Screen.intro
    /// The open tab. Own files unless there are none.
    public private(set) var tab = Tab.own
    /// What the user searches for; every word has to be in the file's name, persona, description, type, population or
    /// category.
    public var search = ""
    /// How rows are ordered.
    public var order = Order.service
    /// The choice of an earlier launch.
    public let remembered: RememberedChoice?

    private var segments: [Tab: Segment] = [:]
    private var selection: FileID?
    private var index = FileIndex([])
    private var unreadableCount = 0

    /// Where the list is.
    public enum State: Sendable {
        /// The list is on its way.
        case loading
        /// There is no list, and why. Asking again may help.
        case failed(message: String)
        /// The list is here, perhaps empty.
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

    /// How rows are ordered. Ties keep the service's order.
    public enum Order: String, Sendable, Hashable, CaseIterable {
        /// As the service lists them.
        case service
        /// By what the row shows, without regard to case; numbers by their value.
        case name
        /// By the date of addition, the latest first; files without one, or with one of an unknown form, at the end.
        case newest
        /// By the date of addition, the earliest first; files without one, or with one of an unknown form, at the end.
        case oldest
        /// By segment, then by kind of data, then by name.
        case category
    }

    /// Something that the user should be told.
    public enum Notice: Sendable, Hashable {
        /// The account has no genetic data: upload some on the site; meanwhile use a sample.
        case noOwnFiles
        /// The service has no sample files.
        case noSamples
        /// Neither own nor sample files.
        case noFiles
        /// Nothing here fits what the user searches for.
        case nothingFound(search: String)
        /// So many entries of the list could not be read, and are not shown.
        case unreadableEntries(count: Int)
        /// The remembered file is no longer there.
        case rememberedFileGone(name: String)
    }

    /// Opens a selector without a list.
    ///
    /// - Parameters:
    ///   - remembered: the choice of an earlier launch; marked as soon as the list has it.
    ///   - skipsIntro: whether the list is shown first, without the introduction.
    public init(remembered: RememberedChoice? = nil, skipsIntro: Bool = false) {
        self.remembered = remembered
        if skipsIntro { screen = .list }
    }
}

extension FileSelector {
    /// Shows a list, the first one or a newer one. A selected file that is still there stays selected; otherwise the
    /// remembered one is looked for, among own files first, and its tab and segment are opened.
    public mutating func show(_ list: FileList) {
        show(list.files)
        unreadableCount = list.unreadable.count
    }

    /// Shows files from elsewhere than an answer, the same way.
    public mutating func show(_ files: [GeneticFile]) {
        index = FileIndex(files)
        unreadableCount = 0
        state = .loaded
        if !isEnabled(tab) { tab = tab == .own && isEnabled(.sample) ? .sample : .own }
        if let selection, index.file(selection) == nil { self.selection = nil }
        if selection == nil, let remembered, index.file(remembered.id) != nil { select(remembered.id) }
    }

    /// Shows that there is no list. The selection is given up.
    public mutating func fail(_ error: any Error) {
        state = .failed(message: "\(error)")
        index = FileIndex([])
        selection = nil
    }

    /// Shows that the list is on its way again; what was selected comes back with it.
    public mutating func reload() {
        state = .loading
    }

    /// The user's choice on the intro screen: opens the list on that tab, or on the other one when it has no files.
    public mutating func choose(_ tab: Tab) {
        screen = .list
        open(tab)
    }

    /// Opens a tab. One without files stays closed while the other has some.
    public mutating func open(_ tab: Tab) {
        self.tab = tab
        guard case .loaded = state, !isEnabled(tab) else { return }
        let other: Tab = tab == .own ? .sample : .own
        if isEnabled(other) { self.tab = other }
    }

    /// Opens a segment of the open tab. One that is not there is ignored.
    public mutating func open(_ segment: Segment) {
        if index.segments(of: tab).contains(segment) { segments[tab] = segment }
    }

    /// Goes back to the question.
    public mutating func returnToIntro() {
        screen = .intro
    }

    /// Marks a row, or clears the mark of the marked one.
    public mutating func toggle(_ id: FileID) {
        if selection == id { selection = nil } else if index.file(id) != nil { selection = id }
    }

    /// Marks a file and opens its tab and segment; one that is not there is ignored.
    public mutating func select(_ id: FileID) {
        guard let place = index.place(of: id) else { return }
        selection = id
        tab = place.tab
        segments[place.tab] = place.segment
    }

    /// Clears the mark.
    public mutating func deselect() {
        selection = nil
    }
}

extension FileSelector {
    /// Whether a tab can be opened: it has files.
    public func isEnabled(_ tab: Tab) -> Bool {
        !index.segments(of: tab).isEmpty
    }

    /// The segments of the open tab that have files, in their order.
    public var availableSegments: [Segment] {
        index.segments(of: tab)
    }

    /// The open segment; nil when the tab has none.
    public var segment: Segment? {
        segments[tab].flatMap { availableSegments.contains($0) ? $0 : nil } ?? availableSegments.first
    }

    /// How many files a segment of the open tab has, before the search.
    public func count(of segment: Segment) -> Int {
        index.members(of: tab, segment).count
    }

    /// The rows: the open segment's files that fit the search, in order.
    public var rows: [FileRow] {
        guard let segment else { return [] }
        let found = index.matching(search, among: index.members(of: tab, segment))
        return index.ordered(found, by: order).map {
            FileRow(index.files[$0], isSelected: index.files[$0].id == selection)
        }
    }

    /// The marked file.
    public var selected: GeneticFile? {
        selection.flatMap { index.file($0) }
    }

    /// Whether the user may go on: a file is marked.
    public var canContinue: Bool { selected != nil }

    /// What the user should be told, the most important first.
    public var notices: [Notice] {
        guard case .loaded = state else { return [] }
        var notices: [Notice] = []
        if let remembered, index.file(remembered.id) == nil {
            notices.append(.rememberedFileGone(name: remembered.displayName))
        }
        switch (isEnabled(.own), isEnabled(.sample)) {
        case (false, false): notices.append(.noFiles)
        case (false, true): notices.append(.noOwnFiles)
        case (true, false): notices.append(.noSamples)
        case (true, true): break
        }
        if unreadableCount > 0 { notices.append(.unreadableEntries(count: unreadableCount)) }
        if segment != nil, rows.isEmpty { notices.append(.nothingFound(search: search)) }
        return notices
    }
}
