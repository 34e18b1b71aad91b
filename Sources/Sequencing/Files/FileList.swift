public import OAuth

extension Sequencing {
    /// Lists files, in the service's order (dossier 4.1).
    ///
    /// - Throws: ``SequencingError/input(member:problem:)`` for an empty subset,
    ///   ``SequencingError/malformed(answer:member:expected:found:)`` when the answer is no list or a record lacks its
    ///   identifier, name or category; ``SequencingError/service(status:code:message:)``;
    ///   ``SequencingError/account(_:)``; `CancellationError`. Never an empty list in place of an error.
    public func files(_ subset: FileSubset = .all) async throws -> [GeneticFile] {
        guard !subset.query.isEmpty else {
            throw SequencingError.input(member: "subset", problem: "name at least one subset of files")
        }
        let answer = try await api.json(.get("DataSourceList", "/DataSourceList?\(subset.query)"))
        return try GeneticFile.list(answer)
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

extension GeneticFile {
    /// Reads the answer of `DataSourceList`: always a list, never wrapped (dossier 4.1).
    ///
    /// - Throws: ``SequencingError/malformed(answer:member:expected:found:)``, naming the place of the record.
    public static func list(_ answer: JSONValue) throws(SequencingError) -> [GeneticFile] {
        let records = try answer.elements(of: "DataSourceList")
        var files: [GeneticFile] = []
        files.reserveCapacity(records.count)
        for (index, record) in records.enumerated() { files.append(try GeneticFile(record, place: "[\(index)]")) }
        return files
    }
}
