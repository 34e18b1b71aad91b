import Synchronization

/// A server as a list of replies, told by the test, and the requests that it received.
package final class Script<Request: Sendable, Reply: Sendable>: Sendable {
    private struct State {
        var replies: [String: [Reply]]
        var requests: [Request] = []
    }

    private let state: Mutex<State>

    /// - Parameter replies: for each line, which is a method and an address, the replies in order; the last one is repeated.
    package init(_ replies: [String: [Reply]]) {
        state = Mutex(State(replies: replies))
    }

    /// The requests, oldest first.
    package var requests: [Request] { state.withLock { $0.requests } }

    /// Gives other replies from now on.
    package func script(_ line: String, _ replies: [Reply]) {
        state.withLock { $0.replies[line] = replies }
    }

    /// Records a request, and returns the next reply to its line, else to its line without the query; nil when there is none.
    package func reply(to line: String, recording request: Request) -> Reply? {
        state.withLock { state in
            state.requests.append(request)
            let key = state.replies[line] == nil ? String(line.prefix { $0 != "?" }) : line
            guard let replies = state.replies[key], let next = replies.first else { return nil }
            if replies.count > 1 { state.replies[key]?.removeFirst() }
            return next
        }
    }
}
