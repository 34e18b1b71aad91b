import FileSelector
import OAuth
import Sequencing

extension Benchmark {
    static let fileLists = Benchmark(
        name: "file-lists", summary: "Sequencing.com's list of 5,000 files: read, grouped, searched, put in order",
        run: { _ in try await FileLists.run() })
}

/// All in processor time on one thread: what a person waits for between a key and the next picture of the list.
private enum FileLists {
    private static let count = 5_000
    private static let rounds = 30

    static func run() async throws -> [Figure] {
        let document = FileListDocument(count: count).bytes
        let files = try FileList(JSONValue(parsing: document)).files
        guard files.count == count else { throw Failure("\(files.count) of \(count) files were read") }
        return try await reading(document) + arranging(files)
    }

    private static func reading(_ document: [UInt8]) async throws -> [Figure] {
        let whole = try await samples(rounds, warmUp: 3) {
            try milliseconds { try FileList(JSONValue(parsing: document)).files.count }
        }
        let json = try await samples(rounds, warmUp: 3) {
            try milliseconds { try JSONValue(parsing: document).array?.count ?? 0 }
        }
        let size = String(Double(document.count / 100_000) / 10)
        return [
            Figure("read \(count) files from \(size) MB", "ms", .atMost(25), samples: whole),
            Figure("of which JSON", "ms", samples: json),
        ]
    }

    private static func arranging(_ files: [GeneticFile]) async throws -> [Figure] {
        var selector = FileSelectorState(skipsIntro: true)
        selector.show(files, at: 0)
        selector.open(.uploaded)
        guard selector.count(of: .uploaded) == count else { throw Failure("the files are not in one segment") }
        let grouping = await samples(rounds, warmUp: 3) { milliseconds { grouped(files) } }
        let showing = await samples(rounds, warmUp: 3) {
            milliseconds {
                var fresh = FileSelectorState()
                fresh.show(files, at: 0)
                return fresh.availableSegments.count
            }
        }
        return [
            Figure("group them", "ms", .atMost(2), samples: grouping),
            try await rows(of: selector, "search, all fit", search: "vcf", finds: count),
            try await rows(of: selector, "search, 50 fit", search: "cohort 77.", finds: 50),
            try await rows(of: selector, "search, none fits", search: "no such thing", finds: 0),
            try await rows(of: selector, "order by name", order: .name, finds: count),
            try await rows(of: selector, "order by date", order: .newest, finds: count),
            try await rows(of: selector, "order by category", order: .category, finds: count),
            Figure("a new list in a selector, prepared for search and order", "ms", samples: showing),
        ]
    }

    /// Everything that is done to show the list after a key or a change of order: all its rows.
    private static func rows(
        of selector: FileSelectorState, _ what: String, search: String = "", order: FileSelectorState.Order = .service,
        finds expected: Int
    ) async throws -> Figure {
        var selector = selector
        selector.search = search
        selector.order = order
        guard selector.rows.count == expected else {
            throw Failure("“\(search)” finds \(selector.rows.count) files and not \(expected)")
        }
        return Figure(
            what, "ms", .atMost(2), samples: await samples(rounds, warmUp: 3) { milliseconds { selector.rows.count } })
    }

    private static func grouped(_ files: [GeneticFile]) -> Int {
        var groups: [FileSelectorState.Segment: [GeneticFile]] = [:]
        for file in files {
            for segment in FileSelectorState.Segment.holding(file) { groups[segment, default: []].append(file) }
        }
        return groups.count
    }

    /// The processor time of `body`, whose result is used, so that it cannot be left out.
    private static func milliseconds(_ body: () throws -> Int) rethrows -> Double {
        let start = processorSeconds()
        let result = try body()
        let time = (processorSeconds() - start) * 1e3
        precondition(result >= 0, "a count is never negative")
        return time
    }
}
