public import Sequencing

/// Files grouped and prepared for searching and sorting, so that thousands can be filtered at every
/// key press.
struct FileIndex: Sendable {
    let files: [GeneticFile]
    private let places: [FileID: Int]
    private let groups: [FileSelectorState.Segment: [Int]]
    private let texts: FoldedTexts
    /// The words for the sex of each file, each behind a space: a search finds them by their beginnings.
    private let sexes: FoldedTexts
    private let titles: FoldedTexts
    private let dates: FoldedTexts
    private let categories: FoldedTexts
    /// The titles that two files of one tab have.
    private let repeated: Set<Title>

    private struct Title: Hashable {
        let isSample: Bool
        let text: String

        init(_ file: GeneticFile) {
            isSample = file.isSample
            text = file.rowTitle
        }
    }

    /// - Parameter locale: the language of the words that a search finds besides the service's own.
    init(_ files: [GeneticFile], locale: FileSelectorLocale = .american) {
        self.files = files
        var places: [FileID: Int] = [:]
        places.reserveCapacity(files.count)
        // An own file comes before a sample with the same identifier.
        for isSample in [false, true] {
            for (index, file) in files.enumerated() where file.isSample == isSample && places[file.id] == nil {
                places[file.id] = index
            }
        }
        self.places = places
        groups = Self.grouped(files)
        // The first text that is needed costs the reading of all.
        let words = files.isEmpty ? nil : ShownWords(locale)
        texts = FoldedTexts(
            files.lazy.map(\.searchText), followedBy: files.lazy.map { words?.category(of: $0) ?? [] })
        sexes = FoldedTexts(unfolded: files.lazy.map { words?.sex(of: $0) ?? [] })
        titles = FoldedTexts(files.lazy.map(\.rowTitle), sortable: true)
        categories = FoldedTexts(unfolded: files.lazy.map { $0.categoryKey + FoldedTexts.sortable($0.rowTitle) })
        dates = FoldedTexts(unfolded: files.lazy.map { ($0.dateAdded ?? "").utf8 })
        var seen: Set<Title> = []
        repeated = Set(files.lazy.map(Title.init).filter { !seen.insert($0).inserted })
    }

    /// The files of each segment, in the service's order.
    static func grouped(_ files: [GeneticFile]) -> [FileSelectorState.Segment: [Int]] {
        var groups: [FileSelectorState.Segment: [Int]] = [:]
        for (index, file) in files.enumerated() {
            for segment in FileSelectorState.Segment.holding(file) { groups[segment, default: []].append(index) }
        }
        return groups
    }

    func file(_ id: FileID) -> GeneticFile? {
        places[id].map { files[$0] }
    }

    /// Whether another file of the same tab has the same title.
    func isRepeated(_ file: GeneticFile) -> Bool {
        repeated.contains(Title(file))
    }

    /// The tab and first segment of a file.
    func place(of id: FileID) -> (tab: FileSelectorState.Tab, segment: FileSelectorState.Segment)? {
        guard let file = file(id), let segment = FileSelectorState.Segment.holding(file).first else { return nil }
        return (segment.tab, segment)
    }

    /// The segments of a tab that have files.
    func segments(of tab: FileSelectorState.Tab) -> [FileSelectorState.Segment] {
        FileSelectorState.Segment.allCases.filter { $0.tab == tab && groups[$0] != nil }
    }

    func members(of tab: FileSelectorState.Tab, _ segment: FileSelectorState.Segment) -> [Int] {
        segment.tab == tab ? groups[segment] ?? [] : []
    }

    /// The members of a tab, each once.
    func members(of tab: FileSelectorState.Tab) -> [Int] {
        files.indices.filter { files[$0].isSample == (tab == .sample) }
    }

    /// The members of which every word of the search is somewhere in the text, or begins a word for the sex: “male” is not
    /// found in “Female”.
    func matching(_ search: String, among members: [Int]) -> [Int] {
        let words = FoldedTexts.words(of: search).map { (anywhere: $0, atBeginning: [UInt8(ascii: " ")] + $0) }
        return members.filter { index in
            words.allSatisfy { word in
                texts.contains(word.anywhere, at: index) || sexes.contains(word.atBeginning, at: index)
            }
        }
    }

    /// The members in order; ties keep the service's order.
    func ordered(_ members: [Int], by order: FileSelectorState.Order) -> [Int] {
        switch order {
        case .service: return members
        case .name: return titles.sorted(members)
        case .newest, .oldest:
            let dated = members.filter { files[$0].isDated }
            let undated = members.filter { !files[$0].isDated }
            return dates.sorted(dated, descending: order == .newest) + undated
        case .category: return categories.sorted(members)
        }
    }
}

/// The words for a file's category and sex that a search finds, folded.
private struct ShownWords {
    /// The words that are displayed in place of the service's, each behind a separator, which belongs to no word.
    private let categories: [FileCategory: [UInt8]]
    private let sexes: [Sex: [String]]

    init(_ locale: FileSelectorLocale) {
        func folded(_ words: FileSelectorWords) -> [UInt8] {
            [UInt8(ascii: "\n")] + FoldedTexts.folded(words.text(in: locale))
        }
        categories = [
            .community: folded(.categorySample), .uploaded: folded(.uploaded), .sharedToMe: folded(.shared),
            .fromApps: folded(.fromApps), .altruist: folded(.altruist),
        ]
        // In the details, and over the list.
        sexes = [
            .female: [FileSelectorWords.sexFemale, .women].map { $0.text(in: locale) },
            .male: [FileSelectorWords.sexMale, .men].map { $0.text(in: locale) },
        ]
    }

    func category(of file: GeneticFile) -> [UInt8] { categories[file.category] ?? [] }

    /// The service's word for the sex and the displayed ones, each behind a space.
    func sex(of file: GeneticFile) -> [UInt8] {
        guard let sex = file.sex else { return [] }
        let words = [sex.word] + (sexes[sex] ?? [])
        return words.flatMap(FoldedTexts.words).flatMap { [UInt8(ascii: " ")] + $0 }
    }
}

extension GeneticFile {
    /// The files that match a search, in order. They are the rows of a selector without tabs and segments.
    ///
    /// - Parameters:
    ///   - files: the files to choose from.
    ///   - search: every word must occur in a file's name, persona, description, type, population, extension, category or
    ///     identifier, or begin a word for its sex: “male” does not find “Female”. Sex and category are also found by the
    ///     English words that are displayed for them.
    ///   - order: ties keep the order of `files`.
    public static func matching(
        _ files: [GeneticFile], search: String, order: FileSelectorState.Order = .service
    ) -> [GeneticFile] {
        let index = FileIndex(files)
        return index.ordered(index.matching(search, among: Array(files.indices)), by: order).map { files[$0] }
    }

    /// Whether the date of addition begins like an ISO 8601 date: then strings sort like times. No other form is known
    /// (dossier 4.1).
    var isDated: Bool {
        guard let date = dateAdded?.utf8.prefix(10), date.count == 10 else { return false }
        return zip(date, "0000-00-00".utf8).allSatisfy { byte, form in
            form == 0x30 ? (0x30...0x39).contains(byte) : byte == form
        }
    }

    /// The sort key before the name in the order by category; the separator sorts before any other character.
    fileprivate var categoryKey: [UInt8] {
        let segment = FileSelectorState.Segment.holding(self).last
        let place = segment.flatMap { FileSelectorState.Segment.allCases.firstIndex(of: $0) } ?? 0
        let (type, subtype) = (FoldedTexts.folded(type ?? ""), FoldedTexts.folded(subtype ?? ""))
        return [UInt8(ascii: "0") + UInt8(place), 1] + type + [1] + subtype + [1]
    }

    /// The searchable text; no word contains the separator.
    fileprivate var searchText: String {
        [
            name, personaName, personaDescription, type, subtype, population, fileExtension, category.word, id.string,
        ].compactMap(\.self).joined(separator: "\n")
    }
}
