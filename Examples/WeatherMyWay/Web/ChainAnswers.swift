#if Server && Sandbox
import Sequencing

/// What the chains found in the files of one visit. Each question starts the chains, so it is asked once.
struct ChainAnswers {
    private let visitors: Visitors
    private let session: String
    private let visit: Int

    /// - Parameter visit: the number of the visit. Another user's visit in the same browser has another one.
    init(_ visitors: Visitors, _ session: String, _ visit: Int) {
        self.visitors = visitors
        self.session = session
        self.visit = visit
    }

    /// What the chains found in a file.
    ///
    /// A question that waits for its answer is not asked again for another place or tab, nor when the user comes back to its file.
    /// A failure is asked again.
    ///
    /// - Returns: nil when the visit has ended, or another user may have signed in: the answer is the first user's alone.
    func genes(
        of file: FileID, asking ask: @escaping @Sendable () async throws -> Genes
    ) async throws -> Genes? {
        var known: Genes?
        var question: Task<Genes, any Error>?
        change { visit in
            guard visit.isKnown else { return }
            known = visit.genes[file]
            question = visit.asking[file]
            guard known == nil, question == nil else { return }
            let answer = Task { try await ask() }
            visit.asking[file] = answer
            question = answer
        }
        if let known { return known }
        guard let asked = question else { return nil }
        let result = await asked.result
        var isTheirs = false
        change { visit in
            isTheirs = visit.isKnown
            guard visit.asking[file] == asked else { return }
            visit.asking[file] = nil
            if case .success(let genes) = result, genes.error == nil { visit.genes[file] = genes }
        }
        guard isTheirs else { return nil }
        return try result.get()
    }

    /// Changes the visit; nothing when it has ended.
    private func change(_ body: (inout Visit) -> Void) {
        visitors.change(session) { visit in
            if visit.number == self.visit { body(&visit) }
        }
    }
}
#endif
