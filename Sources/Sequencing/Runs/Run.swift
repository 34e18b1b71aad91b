public import OAuth

extension Sequencing {
    /// Runs typed chains on one file; read the answers with `step[.melanoma]`.
    public func run<each Answer: Sendable>(
        _ chains: repeat AppChain<each Answer>, on file: FileID, polling: Polling? = nil
    ) -> ChainRun {
        var codes: [AppCode] = []
        for chain in repeat each chains { codes.append(chain.code) }
        return run(codes.map { ChainCall($0, on: file) }, polling: polling)
    }

    /// Runs calls, several of them in one batch.
    ///
    /// - Parameters:
    ///   - calls: the calls, each with its own result.
    ///   - version: ``ProtocolVersion/one`` for chains that support nothing newer; each call is then started and polled
    ///     separately.
    ///   - polling: interval and deadline, if not the service's.
    public func run(_ calls: [ChainCall], version: ProtocolVersion = .two, polling: Polling? = nil) -> ChainRun {
        ChainRun(service: self, origin: .calls(calls), version: version, polling: polling ?? self.polling)
    }

    /// Resumes jobs that were started before, by this process or another one.
    public func resume(_ jobs: [JobID], version: ProtocolVersion = .two, polling: Polling? = nil) -> ChainRun {
        ChainRun(service: self, origin: .jobs(jobs), version: version, polling: polling ?? self.polling)
    }

    /// Runs typed chains on one file in one request, and waits for all answers.
    ///
    /// ```swift
    /// let (risk, vitaminD) = try await genome.answers(.melanoma, .vitaminD, on: file.id)
    /// ```
    ///
    /// - Returns: for each chain its answer or its error, in order.
    /// - Throws: what iterating a ``ChainRun`` throws.
    public func answers<each Answer: Sendable>(
        _ chains: repeat AppChain<each Answer>, on file: FileID, polling: Polling? = nil
    ) async throws -> (repeat Result<each Answer, SequencingError>) {
        let last = try await run(repeat each chains, on: file, polling: polling).complete()
        return (repeat last[each chains] ?? .failure(.unknownChain((each chains).code)))
    }

    /// Runs one chain on one file and waits for its answer.
    ///
    /// - Throws: the error if there is no answer.
    public func answer<Answer>(
        _ chain: AppChain<Answer>, on file: FileID, polling: Polling? = nil
    ) async throws -> Answer {
        try chain.answer(in: try await report(chain.code, on: file, polling: polling))
    }

    /// Runs one chain on one file and waits for its report. The report may state that the job failed. ``Report/raw`` is
    /// the whole job object.
    ///
    /// - Throws: the error if there is no report.
    public func report(_ chain: AppCode, on file: FileID, polling: Polling? = nil) async throws -> Report {
        try await report(of: run([ChainCall(chain, on: file)], polling: polling))
    }

    /// Starts a job with a custom body and waits for its report (dossier 10, E08).
    public func report(body: JSONValue, polling: Polling? = nil) async throws -> Report {
        let job = try await start(body: body)
        if let outcome = job.outcome { return try outcome.get() }
        return try await report(of: resume([job.id], polling: polling))
    }

    private func report(of run: ChainRun) async throws -> Report {
        guard let result = try await run.complete().chains.first?.result else { throw CancellationError() }
        return try result.get()
    }
}
