public import OAuth

/// The answer to the question for files (dossier 4.1): what could be read, and what could not.
///
/// Only the identifier makes an entry a file that can be chosen. An entry without one hides no other, and is not passed
/// over in silence either: ``unreadable`` says what is wrong with it, and where.
public struct FileList: Sendable {
    /// The files, in the service's order.
    public let files: [GeneticFile]
    /// Why the other entries are not among the files; each names the place in the list.
    public let unreadable: [SequencingError]

    /// Reads the answer of `DataSourceList`: always a list, never wrapped.
    ///
    /// - Throws: ``SequencingError/malformed(answer:member:expected:found:)`` when it is no list, or when it has entries
    ///   and none of them is a file: neither may look like an account without files.
    public init(_ answer: JSONValue) throws(SequencingError) {
        let records = try answer.elements(of: "DataSourceList")
        var files: [GeneticFile] = []
        var unreadable: [SequencingError] = []
        files.reserveCapacity(records.count)
        for (index, record) in records.enumerated() {
            do throws(SequencingError) {
                files.append(try GeneticFile(record, place: "[\(index)]"))
            } catch {
                unreadable.append(error)
            }
        }
        if files.isEmpty, let first = unreadable.first { throw first }
        self.files = files
        self.unreadable = unreadable
    }
}

extension Sequencing {
    /// Lists files, and tells of entries that are none.
    ///
    /// - Throws: ``SequencingError/input(member:problem:)`` for an empty subset,
    ///   ``SequencingError/malformed(answer:member:expected:found:)`` when the answer is no list or nothing in it is a
    ///   file; ``SequencingError/service(status:code:message:)``; ``SequencingError/account(_:)``; `CancellationError`.
    ///   Never an empty list in place of an error.
    public func fileList(_ subset: FileSubset = .all) async throws -> FileList {
        guard !subset.query.isEmpty else {
            throw SequencingError.input(member: "subset", problem: "name at least one subset of files")
        }
        return try FileList(await api.json(.get("DataSourceList", "/DataSourceList?\(subset.query)")))
    }

    /// Lists the files that can be read; ``fileList(_:)`` tells of the others too.
    ///
    /// - Throws: what ``fileList(_:)`` throws.
    public func files(_ subset: FileSubset = .all) async throws -> [GeneticFile] {
        try await fileList(subset).files
    }

    /// The file with this identifier among all that the user can use, or nil.
    public func file(_ id: FileID) async throws -> GeneticFile? {
        try await files().first { $0.id == id }
    }

    /// Waits for files that were not there before, as an import brings them (dossier 3: nothing else tells that one has
    /// finished).
    ///
    /// - Parameters:
    ///   - known: the identifiers of the files from before.
    ///   - polling: interval and deadline; an import may take minutes.
    /// - Returns: the new files; empty when the deadline came first.
    /// - Throws: what ``files(_:)`` throws.
    public func newFiles(besides known: Set<FileID>, polling: Polling? = nil) async throws -> [GeneticFile] {
        var wait = (polling ?? self.polling).start(on: clock)
        while true {
            let new = try await files([.uploaded, .shared, .fromApps]).filter { !known.contains($0.id) }
            if !new.isEmpty { return new }
            guard try await wait.pause() else { return [] }
        }
    }
}
