import Beacons
import Synchronization

/// Buffers events between a radio that does not wait and one reader.
///
/// The bounded buffers of the standard library and of swift-async-algorithms drop elements whatever they are. Here only
/// advertisements are dropped, never a status.
final class ScanBuffer: Sendable {
    fileprivate struct State {
        var waiting: [ScanEvent] = []
        /// The index of the first unread event.
        var head = 0
        var advertisements = 0
        var reader: CheckedContinuation<ScanEvent?, any Error>?
        var ending: Result<Void, any Error>?
        var task: Task<Void, Never>?
        var lastStatus: RadioStatus?
    }

    private let capacity: Int
    private let state = Mutex(State())

    init(capacity: Int = Scan.capacity) {
        self.capacity = capacity
    }

    /// Starts the feeding task, once.
    func start(_ makeTask: () -> Task<Void, Never>) {
        state.withLock { state in
            if state.task == nil, state.ending == nil { state.task = makeTask() }
        }
    }

    /// Adds a status, unless it equals the last one.
    func offer(_ status: RadioStatus) {
        let isNew = state.withLock { state in
            defer { state.lastStatus = status }
            return state.lastStatus != status
        }
        if isNew { offer(.status(status)) }
    }

    /// Adds an event. Beyond the capacity, the oldest advertisement is dropped.
    func offer(_ event: ScanEvent) {
        let reader = state.withLock { state -> CheckedContinuation<ScanEvent?, any Error>? in
            guard state.ending == nil else { return nil }
            if let reader = state.reader {
                state.reader = nil
                return reader
            }
            state.append(event, capacity: capacity)
            return nil
        }
        reader?.resume(returning: event)
    }

    /// The next event; nil at the end.
    ///
    /// - Throws: What the feeding task threw, after all events before it; `CancellationError`.
    func next() async throws -> ScanEvent? {
        try Task.checkCancellation()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let answer = state.withLock { state -> Result<ScanEvent?, any Error>? in
                    if let event = state.popFirst() { return .success(event) }
                    if let ending = state.ending { return ending.map { nil } }
                    // The sequence is for one reader; a second one gets its end.
                    guard state.reader == nil else { return .success(nil) }
                    state.reader = continuation
                    return nil
                }
                if let answer { continuation.resume(with: answer) }
            }
        } onCancel: {
            abandon()
        }
    }

    /// Ends the buffer; unread events can still be read.
    func finish(_ ending: Result<Void, any Error>) {
        let reader = state.withLock { state -> CheckedContinuation<ScanEvent?, any Error>? in
            guard state.ending == nil else { return nil }
            state.ending = ending
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(with: ending.map { nil })
    }

    /// Ends the buffer for a reader that was cancelled or released, and stops the feeding task.
    func abandon() {
        finish(.failure(CancellationError()))
        let task = state.withLock { state in
            state.clear()
            return state.task
        }
        task?.cancel()
    }
}

extension ScanBuffer.State {
    fileprivate mutating func append(_ event: ScanEvent, capacity: Int) {
        waiting.append(event)
        guard case .advertisement = event else { return }
        advertisements += 1
        guard advertisements > capacity else { return }
        guard let oldest = waiting[head...].firstIndex(where: \.isAdvertisement) else { return }
        advertisements -= 1
        if oldest == head {
            head += 1
            compact()
        } else {
            waiting.remove(at: oldest)
        }
    }

    fileprivate mutating func popFirst() -> ScanEvent? {
        guard head < waiting.count else { return nil }
        let event = waiting[head]
        head += 1
        if event.isAdvertisement { advertisements -= 1 }
        compact()
        return event
    }

    fileprivate mutating func clear() {
        waiting = []
        head = 0
        advertisements = 0
    }

    /// Releases the memory of read events, once they are half of all.
    private mutating func compact() {
        guard head > 64, head * 2 > waiting.count else { return }
        waiting.removeFirst(head)
        head = 0
    }
}

extension ScanEvent {
    fileprivate var isAdvertisement: Bool {
        if case .advertisement = self { true } else { false }
    }
}
