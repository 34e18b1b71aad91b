import Synchronization

/// A packet, or the moment to look what has changed.
enum ScanInput: Sendable {
    case packet(Advertisement)
    case tick(Timestamp)
}

/// Packets of a source and ticks of a clock in the order in which they come, for one reader.
///
/// At most ``capacity`` inputs wait; then the source is not asked for more until the reader has taken one. Nothing is lost, and
/// nothing grows. The two tasks that feed it end with ``close(_:)``.
final class ScanInputs: Sendable {
    static let capacity = 64

    private let state = Mutex(State())

    private struct State {
        var waiting: [ScanInput] = []
        var reader: CheckedContinuation<ScanInput?, any Error>?
        /// The feeding tasks that wait for room, with what they bring.
        var writers: [(input: ScanInput, continuation: CheckedContinuation<Bool, Never>)] = []
        var ending: Result<Void, any Error>?
        var tasks: [Task<Void, Never>] = []
    }

    /// Begins to feed from a source and a clock.
    func open<Source: AsyncSequence & Sendable>(
        _ source: Source, every interval: Duration, time: ScanTime
    ) where Source.Element == Advertisement {
        let packets = Task {
            do {
                for try await packet in source {
                    guard await self.write(.packet(packet)) else { return }
                }
                self.close(.success(()))
            } catch {
                self.close(.failure(error))
            }
        }
        let ticks = Task {
            await time.everyInterval(interval, of: time.clock) { await self.write(.tick($0)) }
        }
        let isClosed = state.withLock { state in
            state.tasks = [packets, ticks]
            return state.ending != nil
        }
        // The source may have ended before its task was known.
        guard isClosed else { return }
        packets.cancel()
        ticks.cancel()
    }

    /// The next input; nil at the end of the source.
    ///
    /// - Throws: what the source throws, once all before it was read; `CancellationError`.
    func next() async throws -> ScanInput? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                read(continuation)
            }
        } onCancel: {
            abandon()
        }
    }

    /// Ends it: what waits can still be read, and nothing more comes.
    func close(_ ending: Result<Void, any Error>) {
        let (reader, writers, tasks) = state.withLock { state in
            guard state.ending == nil else {
                return (
                    nil as CheckedContinuation<ScanInput?, any Error>?, [] as [CheckedContinuation<Bool, Never>],
                    [] as [Task<Void, Never>]
                )
            }
            state.ending = ending
            // Those that wait for room brought their inputs before the end.
            state.waiting += state.writers.map(\.input)
            defer {
                state.reader = nil
                state.writers = []
            }
            return (state.reader, state.writers.map(\.continuation), state.tasks)
        }
        for task in tasks { task.cancel() }
        for writer in writers { writer.resume(returning: false) }
        reader?.resume(with: ending.map { nil })
    }

    /// Ends it for a reader that was cancelled or is gone: nothing that waits is read any more.
    func abandon() {
        close(.failure(CancellationError()))
        state.withLock { $0.waiting = [] }
    }

    private func read(_ continuation: CheckedContinuation<ScanInput?, any Error>) {
        let (answer, writer) = state.withLock {
            state -> (Result<ScanInput?, any Error>?, CheckedContinuation<Bool, Never>?) in
            guard !state.waiting.isEmpty else {
                if let ending = state.ending { return (ending.map { nil }, nil) }
                state.reader = continuation
                return (nil, nil)
            }
            let input = state.waiting.removeFirst()
            guard !state.writers.isEmpty else { return (.success(input), nil) }
            let writer = state.writers.removeFirst()
            state.waiting.append(writer.input)
            return (.success(input), writer.continuation)
        }
        writer?.resume(returning: true)
        if let answer { continuation.resume(with: answer) }
    }

    /// Brings an input, once there is room for it.
    ///
    /// - Returns: whether more is wanted.
    private func write(_ input: ScanInput) async -> Bool {
        await withCheckedContinuation { continuation in
            let (reader, answer) = state.withLock { state -> (CheckedContinuation<ScanInput?, any Error>?, Bool?) in
                guard state.ending == nil else { return (nil, false) }
                if let reader = state.reader {
                    state.reader = nil
                    return (reader, true)
                }
                guard state.waiting.count < Self.capacity else {
                    state.writers.append((input, continuation))
                    return (nil, nil)
                }
                state.waiting.append(input)
                return (nil, true)
            }
            reader?.resume(returning: input)
            if let answer { continuation.resume(returning: answer) }
        }
    }
}

/// Closes inputs when the iterator that reads them is gone.
final class ScanInputsOwner: Sendable {
    let inputs = ScanInputs()

    deinit { inputs.abandon() }
}
