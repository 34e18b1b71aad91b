#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An import that was started and whose file has not been seen.
public struct UnfinishedImport: Sendable, Hashable, Codable, Identifiable {
    /// A number among the unfinished imports of the account.
    public let id: Int
    /// The third party that the data comes from.
    public let source: ThirdPartyImport.Source
    /// When the import was started.
    public let started: Date
    /// The login there before its `@`, in lower case; a file's name may hold it.
    let login: String?
    /// The whole login there. Two attempts with one login are one import when the answer to the first was lost.
    let account: String?
    /// Whether the service has answered that the import started. False until then, and when the answer was lost.
    var isConfirmed: Bool?
    /// The files that are not this import's: they were listed before its start, or are another import's.
    var known: Set<FileID>
    /// Whether ``known`` has the files from before the start. Until then the import has not been sent.
    var hasBaseline = false
    /// The files of which one is this import's, once it has ended without a file that is certainly its own.
    ///
    /// It stays in the list for the others: none of these files is certainly theirs.
    var possible: Set<FileID>?

    /// - Parameter account: the login at the third party.
    init(id: Int, source: ThirdPartyImport.Source, started: Date, account: String?) {
        (self.id, self.source, self.started, self.account, known) = (id, source, started, account, [])
        login = account.map { $0.prefix { $0 != "@" }.lowercased() }
        isConfirmed = false
    }

    private enum CodingKeys: String, CodingKey {
        case id, source, started, login, account, isConfirmed, known, possible
        case hasBaseline = "isListed"
    }

    /// Reads an import. An earlier version wrote neither `isListed` nor `possible`, nor what attempts are joined by.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(Int.self, forKey: .id)
        source = try container.decode(ThirdPartyImport.Source.self, forKey: .source)
        started = try container.decode(Date.self, forKey: .started)
        login = try container.decodeIfPresent(String.self, forKey: .login)
        account = try container.decodeIfPresent(String.self, forKey: .account)
        isConfirmed = try container.decodeIfPresent(Bool.self, forKey: .isConfirmed)
        known = try container.decode(Set<FileID>.self, forKey: .known)
        hasBaseline = try container.decodeIfPresent(Bool.self, forKey: .hasBaseline) ?? true
        possible = try container.decodeIfPresent(Set<FileID>.self, forKey: .possible)
    }

    /// Whether it may run, and its file is awaited.
    var isAwaited: Bool { hasBaseline && possible == nil }

    /// Whether both are one import. A number is used again when the list was empty.
    func isSame(as other: UnfinishedImport) -> Bool { id == other.id && started == other.started }

    /// Whether this is an earlier attempt at an import, which the service did not answer.
    func isLostAttempt(at later: UnfinishedImport) -> Bool {
        guard isAwaited, isConfirmed == false, !isSame(as: later), let account, let other = later.account else {
            return false
        }
        return source == later.source && account.utf8.elementsEqual(other.utf8)
    }

    /// Whether a file of the list may be its own.
    func mayBeOwn(_ file: GeneticFile) -> Bool {
        source.isNamed(by: file) && !known.contains(file.id) && possible?.contains(file.id) ?? true
    }
}

extension UnfinishedImport: CustomReflectable {
    /// Leaves out the login, which is personal data.
    public var customMirror: Mirror {
        Mirror(self, children: ["id": id, "source": source, "started": started])
    }
}

/// What is known of an import's file at the end of a wait.
public enum ImportArrival: Sendable, Hashable {
    /// The import's own file.
    case file(GeneticFile)
    /// The import has ended, and one of these files is its own. Nothing at the service shows which.
    case oneOf([GeneticFile])
    /// The deadline passed first. These new files may be this import's or another's.
    case late(candidates: [GeneticFile])
}

/// Which new file is which import's (dossier 3.4).
///
/// The service links no file to its import. What tells them apart: a file was there before an import's start, comes from another
/// third party, or holds the login of one of the imports in its name; and each import adds one file.
struct ImportMatching {
    private let files: [FileID: GeneticFile]
    /// For each import, the files that may be its own.
    private var candidates: [Int: Set<FileID>] = [:]
    /// The imports that have ended: each has a file that no other import can have added.
    private var ended: Set<Int> = []

    /// Matches the imports of one source that were sent, also those that have ended, with the files of the list.
    init(_ imports: [UnfinishedImport], _ listed: [GeneticFile]) {
        files = Dictionary(listed.map { ($0.id, $0) }) { first, _ in first }
        for started in imports {
            candidates[started.id] = Set(files.values.lazy.filter(started.mayBeOwn).map(\.id))
        }
        for file in Set(candidates.values.joined()) { assignByName(file, among: imports) }
        assignByElimination()
    }

    /// What is known of an import; nil while its file may still come.
    func arrival(of id: Int) -> ImportArrival? {
        let own = candidates[id] ?? []
        guard !ended.contains(id) else { return own.count == 1 ? file(own) : .oneOf(sorted(own)) }
        // Imports that compete for the same files have all ended when there is a file for each of them.
        var (rivals, shared) = (Set([id]), own)
        while true {
            let more = rivals.union(candidates.filter { !$0.value.isDisjoint(with: shared) }.map(\.key))
            guard more.count > rivals.count else { break }
            rivals = more
            shared = rivals.reduce(into: shared) { $0.formUnion(candidates[$1] ?? []) }
        }
        return !own.isEmpty && shared.count >= rivals.count ? .oneOf(sorted(own)) : nil
    }

    /// The files that may be an import's.
    func candidates(of id: Int) -> [GeneticFile] { sorted(candidates[id] ?? []) }

    /// A file whose name holds the login of exactly one of the imports that may have added it is that import's.
    private mutating func assignByName(_ file: FileID, among imports: [UnfinishedImport]) {
        let possible = imports.filter { candidates[$0.id]?.contains(file) ?? false }
        let named = possible.filter { started in
            guard let login = started.login?.words, !login.allSatisfy(started.source.isCommon),
                let name = files[file]?.name.lowercased().words
            else { return false }
            return name.contains(login)
        }
        guard possible.count > 1, named.count == 1 else { return }
        for other in possible where other.id != named[0].id { candidates[other.id]?.remove(file) }
    }

    /// A file that only one import can have added ends that import, which then has added no other.
    private mutating func assignByElimination() {
        while true {
            var producers: [FileID: [Int]] = [:]
            for (id, own) in candidates { for file in own { producers[file, default: []].append(id) } }
            let sole = producers.filter { $0.value.count == 1 && !ended.contains($0.value[0]) }
            guard !sole.isEmpty else { return }
            for (id, own) in Dictionary(grouping: sole.keys, by: { producers[$0]?[0] ?? 0 }) {
                candidates[id] = Set(own)
                ended.insert(id)
            }
        }
    }

    private func file(_ ids: Set<FileID>) -> ImportArrival? { sorted(ids).first.map(ImportArrival.file) }

    private func sorted(_ ids: Set<FileID>) -> [GeneticFile] {
        ids.compactMap { files[$0] }.sorted { ($0.dateAdded ?? "", $0.id.string) < ($1.dateAdded ?? "", $1.id.string) }
    }
}

extension ThirdPartyImport.Source {
    /// Words in the names of files that say nothing about the user.
    private static let commonWords: Set<String> = [
        "ancestry", "ancestrydna", "data", "dna", "file", "full", "genome", "raw",
        "csv", "gz", "tsv", "txt", "vcf", "zip",
    ]

    /// Whether a word says nothing about the user: a number, a file's extension, or what this source calls its files.
    fileprivate func isCommon(_ word: Substring) -> Bool {
        Self.commonWords.contains(String(word)) || word == rawValue.lowercased() || !word.contains(where: \.isLetter)
    }
}

extension String {
    /// The text's words, without what stands between them.
    fileprivate var words: [Substring] { split { !$0.isLetter && !$0.isNumber } }
}
