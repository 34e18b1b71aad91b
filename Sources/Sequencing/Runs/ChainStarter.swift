/// Starts the calls of a run, each with its own result.
struct ChainStarter {
    let service: Sequencing
    let version: ProtocolVersion

    /// The result of starting one call.
    struct Started {
        let job: JobID?
        let phase: ChainState.Phase
        let isSent: Bool

        init(_ job: Job) {
            self.job = job.id
            isSent = true
            phase = job.outcome.map { .ended($0) } ?? .underWay(job.status)
        }

        init(_ job: JobID) {
            self.job = job
            isSent = true
            phase = .underWay(.pending)
        }

        init(_ error: SequencingError) {
            job = nil
            isSent = true
            phase = .ended(.failure(error))
        }

        /// A start that was cancelled. If it was sent, a job may be running.
        static func cancelled(isSent: Bool) -> Started { Started(isSent: isSent) }

        private init(isSent: Bool) {
            job = nil
            self.isSent = isSent
            phase = .underWay(.pending)
        }
    }

    /// Starts all calls, several of them in one request.
    ///
    /// - Throws: errors that concern all calls: the session, the network, cancellation. Once a job has started, such an error is
    ///   the result of its call instead: the number of the job must not be lost. Where calls are started one by one, cancellation
    ///   is told by the results: which calls were sent.
    func start(_ calls: [ChainCall]) async throws -> [Started] {
        guard version == .two, calls.count > 1 else { return try await startEach(calls) }
        do {
            return zip(calls, try await service.startBatch(calls)).map { call, job in
                job.map { Started($0) }
                    ?? Started(
                        .malformed(
                            answer: "StartAppBatch", member: call.chain.string, expected: "a result", found: "nothing"))
            }
        } catch let error as SequencingError where error.concernsJobs {
            // A rejected batch started nothing: retry each call separately, so that one wrong chain or file does not hide
            // the rest. After any other failure, jobs may be running, and starting them twice is worse than an error.
            guard case .service(let status, _, _) = error, status == 400 || status == 404 else {
                return calls.map { _ in Started(error) }
            }
            return try await startEach(calls)
        }
    }

    private func startEach(_ calls: [ChainCall]) async throws -> [Started] {
        var started: [Started] = []
        for call in calls {
            // A cancelled run starts nothing more.
            if calls.count > 1, Task.isCancelled { break }
            do {
                switch version {
                case .one: started.append(Started(try await service.startVersionOne(call)))
                case .two: started.append(Started(try await service.start(call)))
                }
            } catch let error as SequencingError where error.concernsJobs {
                started.append(Started(error))
            } catch let error as SequencingError where started.contains(where: { $0.job != nil }) {
                started.append(Started(error))
            } catch is CancellationError where calls.count > 1 && Task.isCancelled {
                started.append(Started.cancelled(isSent: true))
            }
        }
        // The pause before the next poll throws, after a step with the numbers of the jobs.
        return started + calls[started.count...].map { _ in Started.cancelled(isSent: false) }
    }
}
