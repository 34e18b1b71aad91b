import Synchronization

/// Lets one run at a time be active. Another one waits while the active one is cancelled and still ending.
package final class RunTurns: Sendable {
    private struct State {
        var active: UInt64?
        /// The runs whose tasks were cancelled, until they have returned.
        var cancelled: Set<UInt64> = []
        /// Those that wait for the end of the active one.
        var waiting: [CheckedContinuation<Void, Never>] = []
        var last: UInt64 = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// Runs a body. Returns immediately while another one runs that was not cancelled.
    package func perform(_ body: () async -> Void) async {
        let run = state.withLock { state -> UInt64 in
            state.last += 1
            return state.last
        }
        await withTaskCancellationHandler {
            guard await begin(run) else { return }
            await body()
            end()
        } onCancel: {
            state.withLock { _ = $0.cancelled.insert(run) }
        }
        state.withLock { _ = $0.cancelled.remove(run) }
    }

    private func begin(_ run: UInt64) async -> Bool {
        while true {
            let mayRun = state.withLock { state -> Bool? in
                guard let active = state.active else {
                    state.active = run
                    return true
                }
                return state.cancelled.contains(active) ? nil : false
            }
            if let mayRun { return mayRun }
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state -> Bool in
                    guard let active = state.active, state.cancelled.contains(active) else { return false }
                    state.waiting.append(continuation)
                    return true
                }
                if !mustWait { continuation.resume() }
            }
            if Task.isCancelled { return false }
        }
    }

    private func end() {
        let waiting = state.withLock { state in
            state.active = nil
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
