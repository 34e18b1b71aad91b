import Beacons
import Synchronization

/// Packets that a test sends one by one; sending waits until the packet before was taken in.
final class ScriptedPackets: AsyncSequence, Sendable {
    typealias Element = Advertisement

    private struct State {
        var queue: [Advertisement] = []
        var ending: Result<Void, any Error>?
        var reader: CheckedContinuation<Advertisement?, any Error>?
        var watchers: [CheckedContinuation<Void, Never>] = []
        var asked = 0
        var isCancelled = false
        var cancellationWatchers: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// How often a packet was asked for.
    var asked: Int { state.withLock(\.asked) }

    struct Iterator: AsyncIteratorProtocol {
        let packets: ScriptedPackets

        mutating func next() async throws -> Advertisement? { try await packets.next() }
    }

    func makeAsyncIterator() -> Iterator { Iterator(packets: self) }

    /// Sends packets and waits until all of them were taken and more is asked for.
    func send(_ packets: [Advertisement]) async {
        state.withLock { $0.queue += packets }
        hand()
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                let isIdle = state.queue.isEmpty && state.reader != nil
                if !isIdle { state.watchers.append(continuation) }
                return isIdle
            }
            if isIdle { continuation.resume() }
        }
    }

    /// Adds packets without waiting for a reader.
    func put(_ packets: [Advertisement]) {
        state.withLock { $0.queue += packets }
        hand()
    }

    func end(_ ending: Result<Void, any Error> = .success(())) {
        state.withLock { $0.ending = ending }
        hand()
    }

    /// Waits until the task that asked for a packet was cancelled.
    func cancelled() async {
        await withCheckedContinuation { continuation in
            let isCancelled = state.withLock { state in
                if !state.isCancelled { state.cancellationWatchers.append(continuation) }
                return state.isCancelled
            }
            if isCancelled { continuation.resume() }
        }
    }

    private func next() async throws -> Advertisement? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let watchers = state.withLock { state -> [CheckedContinuation<Void, Never>] in
                    state.asked += 1
                    state.reader = continuation
                    guard state.queue.isEmpty else { return [] }
                    defer { state.watchers = [] }
                    return state.watchers
                }
                for watcher in watchers { watcher.resume() }
                hand()
            }
        } onCancel: {
            end(.failure(CancellationError()))
            let watchers = state.withLock { state in
                state.isCancelled = true
                defer { state.cancellationWatchers = [] }
                return state.cancellationWatchers
            }
            for watcher in watchers { watcher.resume() }
        }
    }

    /// Gives the reader what is there.
    private func hand() {
        let (reader, answer) = state.withLock {
            state -> (CheckedContinuation<Advertisement?, any Error>?, Result<Advertisement?, any Error>?) in
            guard let reader = state.reader else { return (nil, nil) }
            if !state.queue.isEmpty {
                state.reader = nil
                return (reader, .success(state.queue.removeFirst()))
            }
            guard let ending = state.ending else { return (nil, nil) }
            state.reader = nil
            return (reader, ending.map { nil })
        }
        if let reader, let answer { reader.resume(with: answer) }
    }
}
