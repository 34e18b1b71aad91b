import Synchronization

/// Processes packets and ticks: a value to which its feed passes them one at a time.
protocol ScanCore: Sendable {
    associatedtype Output: Sendable

    /// How many outputs may wait for the reader before the writers wait as well.
    static var maximumPending: Int { get }

    mutating func receive(_ advertisement: Advertisement) -> [Output]
    mutating func tick(at time: Timestamp) -> [Output]
    /// The source has ended.
    mutating func end(at time: Timestamp) -> [Output]
}

/// Passes the packets of a source and the ticks of a clock to a core, for one reader.
///
/// Two tasks feed it and run the core themselves, so packets without an output wake no task. When the reader is behind, the
/// task that made the last output waits: nothing is lost, and the queue is bounded. Both tasks end with ``close(_:)``.
///
/// Not `merge` and `AsyncChannel` of swift-async-algorithms: those wake the reader for every packet, while most packets have
/// no output, and would make this floor-0 module depend on a further package.
final class ScanFeed<Core: ScanCore>: Sendable {
    typealias Reader = CheckedContinuation<[Core.Output], any Error>
    typealias Writer = CheckedContinuation<Bool, Never>

    private let state: Mutex<State>

    private struct State {
        var core: Core
        var outputs: [Core.Output] = []
        var reader: Reader?
        /// The feeding tasks that wait for the reader.
        var writers: [Writer] = []
        var ending: Result<Void, any Error>?
        var tasks: [Task<Void, Never>] = []

        /// Takes the waiting reader and outputs, if there are both.
        mutating func hand() -> (reader: Reader, outputs: [Core.Output])? {
            guard let reader, !outputs.isEmpty else { return nil }
            defer {
                self.reader = nil
                outputs = []
            }
            return (reader, outputs)
        }
    }

    init(_ core: Core) {
        state = Mutex(State(core: core))
    }

    /// Starts to feed from a source and a clock.
    func open<Source: AsyncSequence & Sendable>(
        _ source: Source, every interval: Duration, time: ScanTime
    ) where Source.Element == Advertisement {
        let packets = Task {
            do {
                for try await packet in source {
                    guard await self.work({ $0.receive(packet) }) else { return }
                }
                _ = await self.work { $0.end(at: time.now()) }
                self.close(.success(()))
            } catch {
                self.close(.failure(error))
            }
        }
        let ticks = Task {
            await time.everyInterval(interval, of: time.clock) { present in
                await self.work { $0.tick(at: present) }
            }
        }
        let isClosed = state.withLock { state in
            state.tasks = [packets, ticks]
            return state.ending != nil
        }
        // The source can end before its task is registered.
        guard isClosed else { return }
        packets.cancel()
        ticks.cancel()
    }

    /// The outputs since the last call, as soon as there is one; empty at the end of the source.
    ///
    /// - Throws: what the source throws, after all outputs before it; `CancellationError`.
    func next() async throws -> [Core.Output] {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { reader in
                let (answer, writers) = state.withLock { state in read(&state, reader) }
                for writer in writers { writer.resume(returning: true) }
                if let answer { reader.resume(with: answer) }
            }
        } onCancel: {
            abandon()
        }
    }

    private func read(_ state: inout State, _ reader: Reader) -> (Result<[Core.Output], any Error>?, [Writer]) {
        if state.outputs.isEmpty {
            if let ending = state.ending { return (ending.map { [] }, []) }
            state.reader = reader
            return (nil, [])
        }
        defer {
            state.outputs = []
            state.writers = []
        }
        return (.success(state.outputs), state.writers)
    }

    /// Runs the core, and waits while too many outputs are unread.
    ///
    /// - Returns: whether to continue.
    private func work(_ body: (inout Core) -> [Core.Output]) async -> Bool {
        let (handed, isClosed, mustWait) = state.withLock { state in
            guard state.ending == nil else { return (nil as (reader: Reader, outputs: [Core.Output])?, true, false) }
            let outputs = body(&state.core)
            // The usual case: a packet without an output.
            guard !outputs.isEmpty else { return (nil, false, false) }
            state.outputs += outputs
            return (state.hand(), false, state.outputs.count >= Core.maximumPending)
        }
        if let handed { handed.reader.resume(returning: handed.outputs) }
        guard !isClosed else { return false }
        return mustWait ? await reading() : true
    }

    /// Waits until the reader has taken the outputs.
    private func reading() async -> Bool {
        await withCheckedContinuation { writer in
            let answer = state.withLock { state -> Bool? in
                guard state.ending == nil else { return false }
                guard state.outputs.count >= Core.maximumPending else { return true }
                state.writers.append(writer)
                return nil
            }
            if let answer { writer.resume(returning: answer) }
        }
    }

    /// Ends the feed: waiting outputs can still be read, and no more follow.
    func close(_ ending: Result<Void, any Error>) {
        let (reader, writers, tasks) = state.withLock { state -> (Reader?, [Writer], [Task<Void, Never>]) in
            guard state.ending == nil else { return (nil, [], []) }
            state.ending = ending
            defer {
                state.reader = nil
                state.writers = []
            }
            return (state.reader, state.writers, state.tasks)
        }
        for task in tasks { task.cancel() }
        for writer in writers { writer.resume(returning: false) }
        reader?.resume(with: ending.map { [] })
    }

    /// Ends the feed for a reader that was cancelled or deinitialised; waiting outputs are dropped.
    func abandon() {
        close(.failure(CancellationError()))
        state.withLock { $0.outputs = [] }
    }
}

/// Reads a feed, and closes it on deinitialisation.
final class ScanReader<Core: ScanCore>: Sendable {
    private let feed: ScanFeed<Core>

    init<Source: AsyncSequence & Sendable>(
        _ core: Core, _ source: Source, every interval: Duration, time: ScanTime
    ) where Source.Element == Advertisement {
        feed = ScanFeed(core)
        feed.open(source, every: interval, time: time)
    }

    deinit { feed.abandon() }

    /// See ``ScanFeed/next()``.
    func next() async throws -> [Core.Output] { try await feed.next() }
}
