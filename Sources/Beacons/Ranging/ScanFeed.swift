import Synchronization

/// What a scan makes of packets and ticks: a value, to which its feed gives them one at a time.
protocol ScanCore: Sendable {
    associatedtype Output: Sendable

    /// How many outputs may wait for the reader before whoever brings more has to wait as well.
    static var mostWaiting: Int { get }

    mutating func receive(_ advertisement: Advertisement) -> [Output]
    mutating func tick(at time: Timestamp) -> [Output]
    /// The source has ended.
    mutating func end(at time: Timestamp) -> [Output]
}

/// Leads the packets of a source and the ticks of a clock through a core, for one reader.
///
/// Two tasks feed it, and what they bring is worked on at once, so packets that change nothing wake nobody. When the reader is behind,
/// whoever made the last output waits: nothing is lost, and nothing grows. Both tasks end with ``close(_:)``.
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

        /// Gives what waits to the reader, if both are there.
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

    /// Begins to feed from a source and a clock.
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
        // The source may have ended before its task was known.
        guard isClosed else { return }
        packets.cancel()
        ticks.cancel()
    }

    /// The outputs since the last call, as soon as there is one; none at the end of the source.
    ///
    /// - Throws: what the source throws, once all before it was read; `CancellationError`.
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

    /// Lets the core work, and waits while the reader is too far behind what that has made.
    ///
    /// - Returns: whether more is wanted.
    private func work(_ body: (inout Core) -> [Core.Output]) async -> Bool {
        let (handed, isClosed, mustWait) = state.withLock { state in
            guard state.ending == nil else { return (nil as (reader: Reader, outputs: [Core.Output])?, true, false) }
            let outputs = body(&state.core)
            // The usual case: a packet that changes nothing.
            guard !outputs.isEmpty else { return (nil, false, false) }
            state.outputs += outputs
            return (state.hand(), false, state.outputs.count >= Core.mostWaiting)
        }
        if let handed { handed.reader.resume(returning: handed.outputs) }
        guard !isClosed else { return false }
        return mustWait ? await reading() : true
    }

    /// Waits until the reader has taken what waits for it.
    private func reading() async -> Bool {
        await withCheckedContinuation { writer in
            let answer = state.withLock { state -> Bool? in
                guard state.ending == nil else { return false }
                guard state.outputs.count >= Core.mostWaiting else { return true }
                state.writers.append(writer)
                return nil
            }
            if let answer { writer.resume(returning: answer) }
        }
    }

    /// Ends it: what waits can still be read, and nothing more comes.
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

    /// Ends it for a reader that was cancelled or is gone: nothing that waits is read any more.
    func abandon() {
        close(.failure(CancellationError()))
        state.withLock { $0.outputs = [] }
    }
}

/// Reads a feed, and closes it when it is gone itself.
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
