import Geofences
import Handshake

extension PlacesSynchronizer {
    /// Uploads what waits, batch by batch, oldest first.
    ///
    /// - Returns: whether anything arrived.
    /// - Throws: ``ConnectError`` of the first batch that did not arrive; it and all behind it wait.
    func upload(in session: Session) async throws -> Bool {
        var hasArrived = false
        var answers = Answers()
        let (batches, damaged) = try await queue.contents()
        for damage in damaged where reportedDamages.insert(damage).inserted { report(.queueDamaged(damage)) }
        for batch in batches {
            let connections = try await store.connections()
            // Another process may have seen another user meanwhile; what is queued now is that user's.
            guard connections.user == session.user else { return hasArrived }
            let now = time.now()
            var wanted: [AreaCrossing] = []
            var discarded: [(AreaCrossing, PlaceEvent.DiscardReason)] = []
            for crossing in batch.crossings {
                // A clock that was set leaves times in the future; they age from when it was noticed.
                if now - min(crossing.occurredAt, crossing.recordedAt) > configuration.maximumAge {
                    discarded.append((crossing, .expired))
                    continue
                }
                switch connections.decision(on: crossing) {
                case .upload: wanted.append(crossing)
                case .keep: break
                case .discard(let reason): discarded.append((crossing, reason))
                }
            }
            try await discard(discarded, of: batch)
            guard !wanted.isEmpty else { continue }
            try await send(wanted, of: batch, from: connections.installation, in: session, &answers)
            try await discardRefused(by: answers, of: batch)
            answers.refused = []
            hasArrived = true
        }
        return hasArrived
    }

    private func discard(
        _ discarded: [(AreaCrossing, PlaceEvent.DiscardReason)], of batch: CrossingQueue.Batch
    ) async throws {
        guard !discarded.isEmpty else { return }
        try await queue.remove(discarded.map(\.0), from: batch)
        for (crossing, reason) in discarded { report(.discarded(crossing, reason)) }
    }

    /// What the service said of crossings in one synchronization.
    private struct Answers {
        var hasAccepted = false
        /// Those that it refused alone.
        var refused: [AreaCrossing] = []
        var refusal: ConnectError?
    }

    /// Gives up crossings that were refused alone, if others were accepted. A server that refuses everything says nothing
    /// of them: then they wait.
    private func discardRefused(by answers: Answers, of batch: CrossingQueue.Batch) async throws {
        if !answers.hasAccepted, let refusal = answers.refusal {
            for crossing in answers.refused { report(.uploadFailed(crossing, refusal, delay: 0)) }
            throw refusal
        }
        try await discard(answers.refused.map { ($0, .rejected) }, of: batch)
    }

    /// Sends crossings; a batch that the service refuses for its content is halved until the crossing at fault is alone.
    private func send(
        _ crossings: [AreaCrossing], of batch: CrossingQueue.Batch, from installation: String, in session: Session,
        _ answers: inout Answers
    ) async throws {
        let start = time.now()
        for crossing in crossings { report(.uploadAttempted(crossing, delay: start - crossing.recordedAt)) }
        do {
            try await session.api.upload(crossings, from: installation, retry: configuration.retry)
        } catch let error as ConnectError {
            guard error.isAboutContent else {
                let delay = time.now() - start
                for crossing in crossings { report(.uploadFailed(crossing, error, delay: delay)) }
                throw error
            }
            guard crossings.count > 1 else {
                answers.refused.append(crossings[0])
                answers.refusal = error
                return
            }
            let middle = crossings.count / 2
            try await send(Array(crossings[..<middle]), of: batch, from: installation, in: session, &answers)
            return try await send(Array(crossings[middle...]), of: batch, from: installation, in: session, &answers)
        }
        answers.hasAccepted = true
        try await queue.remove(crossings, from: batch)
        let delay = time.now() - start
        for crossing in crossings { report(.uploaded(crossing, delay: delay)) }
    }
}

extension ConnectError {
    /// Whether the service refuses what was sent, so that sending the same again is refused again.
    fileprivate var isAboutContent: Bool {
        guard case .service(let problem) = self else { return false }
        return [400, 413, 422].contains(problem.status) && problem.kind != .unauthorized
    }
}
