import Handshake
public import OAuth

/// The answer of `DataSourceList` (dossier 4.1). It has the files, and the malformed entries.
///
/// An entry needs only an identifier. One without it does not hide the others: ``unreadable`` has its error and
/// place.
public struct FileList: Sendable {
    /// The files, in the service's order.
    public let files: [GeneticFile]
    /// One error for each malformed entry, with its place in the list.
    public let unreadable: [SequencingError]

    /// Parses the answer of `DataSourceList`: always a list, never wrapped.
    ///
    /// - Throws: ``SequencingError/malformed(answer:member:expected:found:)`` when it is not a list, or when it has entries
    ///   and all are malformed: neither may look like an account without files.
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
    /// Lists files, with the malformed entries.
    ///
    /// - Throws: ``SequencingError/input(member:problem:)`` for an empty subset,
    ///   ``SequencingError/malformed(answer:member:expected:found:)`` when the answer is not a list or all entries are
    ///   malformed; ``SequencingError/service(status:code:message:)``; ``SequencingError/account(_:)``; `CancellationError`.
    ///   Never returns an empty list instead of an error.
    public func fileList(_ subset: FileSubset = .all) async throws -> FileList {
        guard !subset.query.isEmpty else {
            throw SequencingError.input(member: "subset", problem: "name at least one subset of files")
        }
        return try FileList(await api.json(.get("DataSourceList", "/DataSourceList?\(subset.query)")))
    }

    /// Lists the valid files; ``fileList(_:)`` also returns the malformed entries.
    ///
    /// - Throws: what ``fileList(_:)`` throws.
    public func files(_ subset: FileSubset = .all) async throws -> [GeneticFile] {
        try await fileList(subset).files
    }

    /// The file with this identifier, or nil. It may be any of the user's files or of the samples.
    public func file(_ id: FileID) async throws -> GeneticFile? {
        try await files().first { $0.id == id }
    }

    /// Waits for new files in the list, as Connect-To adds them.
    ///
    /// It does not say who added them: the own file of an import is what ``UnfinishedImports/arrival(of:polling:)`` waits for.
    /// Read `known` immediately before the call that adds the file.
    ///
    /// - Parameters:
    ///   - known: the identifiers of the existing files.
    ///   - polling: interval and deadline.
    /// - Returns: the new files; empty when the deadline passed first.
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
