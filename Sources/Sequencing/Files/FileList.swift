import Handshake
public import OAuth

/// The answer of `DataSourceList` (dossier 4.1): the files, and the entries that could not be read.
///
/// An entry needs nothing but an identifier. One without it does not hide the others: ``unreadable`` says what is wrong
/// with it, and where.
public struct FileList: Sendable {
    /// The files, in the service's order.
    public let files: [GeneticFile]
    /// One error for each entry that is no file; each names the place in the list.
    public let unreadable: [SequencingError]

    /// Reads the answer of `DataSourceList`: always a list, never wrapped.
    ///
    /// - Throws: ``SequencingError/malformed(answer:member:expected:found:)`` when it is no list, or when it has entries
    ///   and none of them is a file: neither may look like an account without files.
    public init(_ answer: JSONValue) throws(SequencingError) {
        let records = try Members.list(answer, answer: "DataSourceList")
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
    /// Lists files, with the entries that could not be read.
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

    /// Lists the files that can be read; ``fileList(_:)`` also returns the other entries.
    ///
    /// - Throws: what ``fileList(_:)`` throws.
    public func files(_ subset: FileSubset = .all) async throws -> [GeneticFile] {
        try await fileList(subset).files
    }

    /// The file with this identifier among all files of the user and all samples, or nil.
    public func file(_ id: FileID) async throws -> GeneticFile? {
        try await files().first { $0.id == id }
    }

    /// Waits for files that were not in the list before. Only the list tells that an import has finished (dossier 3).
    ///
    /// Read `known` immediately before the call that starts the import: the file of an import that finishes in between
    /// would count as new.
    ///
    /// - Parameters:
    ///   - known: the identifiers of the files from before.
    ///   - source: the third party whose import is waited for; files of other imports and uploads do not end the wait.
    ///     Nil waits for any file.
    ///   - polling: interval and deadline; an import may take minutes.
    /// - Returns: the new files; empty when the deadline passed first.
    /// - Throws: what ``files(_:)`` throws.
    public func newFiles(
        besides known: Set<FileID>, from source: ThirdPartyImport.Source? = nil, polling: Polling? = nil
    ) async throws -> [GeneticFile] {
        var wait = (polling ?? self.polling).start(on: clock)
        while true {
            let new = try await files([.uploaded, .shared, .fromApps]).filter { file in
                !known.contains(file.id) && source?.isNamed(by: file) ?? true
            }
            if !new.isEmpty { return new }
            guard try await wait.pause() else { return [] }
        }
    }
}
