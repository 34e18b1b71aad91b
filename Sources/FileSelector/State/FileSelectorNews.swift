import Sequencing

/// What assistive technology hears of a selector, as it is at one moment.
///
/// Two of them, before and after a change, make the text that is announced: the same as the web component's.
struct FileSelectorNews: Sendable, Equatable {
    private let phase: FileSelectorState.Phase
    private let isRefreshing: Bool
    private let loadedAt: Double?
    private let notices: [FileSelectorState.Notice]
    private let selection: FileID?
    private let isRemembered: Bool
    private let fileCount: Int
    /// Nil where another screen than the list is open.
    private let listed: Listed?

    /// What decides which rows there are, and how many they are.
    private struct Listed: Sendable, Equatable {
        let tab: FileSelectorState.Tab
        let segment: FileSelectorState.Segment?
        let search: String
        let order: FileSelectorState.Order
        let found: Int
        let total: Int
        let elsewhere: Int

        init(_ state: FileSelectorState) {
            (tab, segment, search, order) = (state.tab, state.segment, state.search, state.order)
            total = state.segment.map { state.count(of: $0) } ?? 0
            found = state.segment.map { state.matchCount(of: $0) } ?? 0
            // None is here.
            elsewhere = found == 0 ? FileSelectorState.Tab.allCases.map(state.matchCount(of:)).reduce(0, +) : 0
        }

        func isOther(than before: Listed) -> Bool {
            (tab, segment, order) != (before.tab, before.segment, before.order) || search != before.search
        }

        func text(in locale: FileSelectorLocale) -> String {
            guard found > 0 || segment == nil else {
                let nothing = FileSelectorState.Notice.nothingFound(search: search, elsewhere: elsewhere)
                return nothing.text(in: locale, canSignIn: false) { _ in "" }
            }
            return FileSelectorWords.rows(found, of: total, search: search, in: locale)
        }
    }

    init(_ state: FileSelectorState) {
        phase = state.phase
        isRefreshing = state.isRefreshing
        loadedAt = state.loadedAt
        // What the search finds is told with the number of rows.
        notices = state.shownNotices.filter { if case .nothingFound = $0 { false } else { true } }
        selection = state.selected?.id
        isRemembered = state.remembered != nil
        fileCount = FileSelectorState.Tab.allCases.map(state.count(of:)).reduce(0, +)
        listed = state.isBrowsing ? Listed(state) : nil
    }

    /// How long to wait before the text is announced: what follows meanwhile takes its place.
    ///
    /// Typing in the search pauses first.
    func pause(after before: FileSelectorNews) -> Duration {
        let isTyping = listed != nil && before.listed != nil && listed?.search != before.listed?.search
        return .milliseconds(isTyping ? 350 : 50)
    }

    /// What is announced after a change; nil when nothing is.
    ///
    /// - Parameters:
    ///   - before: the news before the change.
    ///   - locale: the language.
    ///   - canSignIn: whether the app signs the user in again.
    ///   - ago: tells in words how long ago a time is, in seconds since 1970.
    func text(
        after before: FileSelectorNews, in locale: FileSelectorLocale, canSignIn: Bool, ago: (Double) -> String
    ) -> String? {
        func joined(_ notices: [FileSelectorState.Notice]) -> String? {
            let texts = notices.map { $0.text(in: locale, canSignIn: canSignIn, ago: ago) }
            return texts.isEmpty ? nil : texts.joined(separator: " ")
        }
        let new = notices.filter { !before.notices.contains($0) }
        let files = FileSelectorWords.files.text(in: locale, count: fileCount)
        if phase != before.phase {
            switch phase {
            case .loading: return FileSelectorWords.loading.text(in: locale)
            case .failed(let problem):
                let reason = problem.text(in: locale, canSignIn: canSignIn)
                return "\(FileSelectorWords.failure.text(in: locale))\n\(reason)"
            case .loaded: return joined(notices) ?? files
            }
        }
        if isRefreshing, !before.isRefreshing { return FileSelectorWords.loading.text(in: locale) }
        // A refresh that fails again has the notice of before, and is told again.
        if before.isRefreshing, !isRefreshing, let stale = joined(notices.filter(\.isStale)) { return stale }
        if loadedAt != before.loadedAt { return joined(new) ?? files }
        if let listed, before.listed.map(listed.isOther(than:)) ?? true { return listed.text(in: locale) }
        if isForgotten(after: before) { return FileSelectorWords.forgotten.text(in: locale) }
        return joined(new)
    }

    /// Whether the user has forgotten the choice of an earlier launch, and has not continued with another file.
    private func isForgotten(after before: FileSelectorNews) -> Bool {
        let wasOffered = before.notices.contains { if case .rememberedFile = $0 { true } else { false } }
        return wasOffered && before.isRemembered && !isRemembered && selection == before.selection
    }
}

extension FileSelectorState {
    /// Whether the list is open, and not the first question or a message in its place.
    var isBrowsing: Bool { phase == .loaded && screen == .list && Tab.allCases.contains(where: isEnabled) }

    /// The messages on the open screen. Where the list is not, only its age is told.
    var shownNotices: [Notice] { isBrowsing ? notices : notices.filter(\.isStale) }
}

extension FileSelectorState.Notice {
    /// Whether it says how old the list is.
    var isStale: Bool { if case .stale = self { true } else { false } }

    /// The message in one text.
    ///
    /// - Parameter ago: tells in words how long ago a time is, in seconds since 1970.
    func text(in locale: FileSelectorLocale, canSignIn: Bool, ago: (Double) -> String) -> String {
        switch self {
        case .stale(let loadedAt, let problem):
            let age = FileSelectorWords.stale.text(in: locale, ago(loadedAt))
            return "\(age) \(problem.text(in: locale, canSignIn: canSignIn))"
        case .noOwnFiles:
            return "\(FileSelectorWords.noOwn.text(in: locale)) \(FileSelectorWords.noOwnMeanwhile.text(in: locale))"
        case .noSamples: return FileSelectorWords.noSamples.text(in: locale)
        case .noFiles: return FileSelectorWords.empty.text(in: locale)
        case .selectionGone: return FileSelectorWords.selectionGone.text(in: locale)
        case .nothingFound(let search, let elsewhere):
            let nothing = FileSelectorWords.nothingMatches.text(in: locale, search)
            guard elsewhere > 0 else { return nothing }
            return "\(nothing) \(FileSelectorWords.matchesElsewhere.text(in: locale, count: elsewhere))"
        case .unreadableEntries(let count): return FileSelectorWords.skipped.text(in: locale, count: count)
        case .rememberedFile(let name): return FileSelectorWords.remembered.text(in: locale, name)
        case .rememberedFileGone(let name): return FileSelectorWords.rememberedGone.text(in: locale, name)
        }
    }
}

extension FileSelectorWords {
    /// How many rows there are: “3 files”, or “1 of 3 files matches” while a search is on.
    static func rows(_ found: Int, of total: Int, search: String, in locale: FileSelectorLocale) -> String {
        guard search.contains(where: { !$0.isWhitespace }) else { return files.text(in: locale, count: found) }
        return matching.text(in: locale, count: found, "\(total)")
    }
}
