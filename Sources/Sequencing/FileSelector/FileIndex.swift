/// Files grouped and prepared for searching and sorting, so that thousands can be filtered at every
/// key press.
struct FileIndex: Sendable {
    let files: [GeneticFile]
    private let places: [FileID: Int]
    private let groups: [FileSelector.Segment: [Int]]
    private let texts: FoldedTexts
    private let titles: FoldedTexts
    private let dates: FoldedTexts
    private let categories: FoldedTexts

    init(_ files: [GeneticFile]) {
        self.files = files
        var places: [FileID: Int] = [:]
        places.reserveCapacity(files.count)
        for (index, file) in files.enumerated() where places[file.id] == nil { places[file.id] = index }
        self.places = places
        groups = Self.grouped(files)
        texts = FoldedTexts(files.map(\.searchText))
        let sortableTitles = files.map { FoldedTexts.sortable($0.rowTitle) }
        titles = FoldedTexts(sortableTitles)
        categories = FoldedTexts(zip(files, sortableTitles).map { $0.categoryText + $1 })
        dates = FoldedTexts(files.map { $0.dateAdded ?? "" })
    }

    /// The files of each segment, in the service's order.
    static func grouped(_ files: [GeneticFile]) -> [FileSelector.Segment: [Int]] {
        var groups: [FileSelector.Segment: [Int]] = [:]
        for (index, file) in files.enumerated() {
            for segment in FileSelector.Segment.holding(file) { groups[segment, default: []].append(index) }
        }
        return groups
    }

    func file(_ id: FileID) -> GeneticFile? {
        places[id].map { files[$0] }
    }

    /// The tab and first segment of a file.
    func place(of id: FileID) -> (tab: FileSelector.Tab, segment: FileSelector.Segment)? {
        guard let file = file(id), let segment = FileSelector.Segment.holding(file).first else { return nil }
        return (segment.tab, segment)
    }

    /// The segments of a tab that have files.
    func segments(of tab: FileSelector.Tab) -> [FileSelector.Segment] {
        FileSelector.Segment.allCases.filter { $0.tab == tab && groups[$0] != nil }
    }

    func members(of tab: FileSelector.Tab, _ segment: FileSelector.Segment) -> [Int] {
        segment.tab == tab ? groups[segment] ?? [] : []
    }

    /// The members whose text contains every word of the search.
    func matching(_ search: String, among members: [Int]) -> [Int] {
        let words = search.split(whereSeparator: \.isWhitespace).map { FoldedTexts.folded(String($0)) }
        guard !words.isEmpty else { return members }
        return texts.indices(among: members, containing: words)
    }

    /// The members in order; ties keep the service's order.
    func ordered(_ members: [Int], by order: FileSelector.Order) -> [Int] {
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

extension GeneticFile {
    /// The files that match a search, in order. They are the rows of a selector without tabs and segments.
    ///
    /// - Parameters:
    ///   - files: the files to choose from.
    ///   - search: every word must occur in a file's name, persona, description, type, population, category or identifier.
    ///   - order: ties keep the order of `files`.
    public static func matching(
        _ files: [GeneticFile], search: String, order: FileSelector.Order = .service
    ) -> [GeneticFile] {
        let index = FileIndex(files)
        return index.ordered(index.matching(search, among: Array(files.indices)), by: order).map { files[$0] }
    }

    /// Whether the date of addition begins like an ISO 8601 date: then strings sort like times. No other form is known
    /// (dossier 4.1).
    fileprivate var isDated: Bool {
        guard let date = dateAdded?.utf8.prefix(10), date.count == 10 else { return false }
        return zip(date, "0000-00-00".utf8).allSatisfy { byte, form in
            form == 0x30 ? (0x30...0x39).contains(byte) : byte == form
        }
    }

    /// The sort key before the name in the order by category; the separator sorts before any other character.
    fileprivate var categoryText: String {
        let segment = FileSelector.Segment.holding(self).last
        let place = segment.flatMap { FileSelector.Segment.allCases.firstIndex(of: $0) } ?? 0
        return "\(place)\u{1}\(type ?? "")\u{1}\(subtype ?? "")\u{1}"
    }

    /// The searchable text; no word contains the separator.
    fileprivate var searchText: String {
        [name, personaName, personaDescription, type, subtype, population, category.word, id.string]
            .compactMap(\.self).joined(separator: "\n")
    }
}
