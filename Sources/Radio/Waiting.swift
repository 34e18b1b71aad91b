import Synchronization

/// Runs `body` for the newest element of `source`: when the next one arrives, cancels `body`, awaits it and runs it again.
///
/// - Throws: What `source` or `body` throws; `CancellationError`. It returns when `source` ends.
func runForNewest<Source: AsyncSequence & Sendable>(
    of source: Source, _ body: @escaping @Sendable (Source.Element) async throws -> Void
) async throws where Source.Element: Sendable {
    let (events, continuation) = AsyncStream.makeStream(of: NewestEvent<Source.Element>.self)
    try await withThrowingTaskGroup(of: Void.self) { group in
        defer { group.cancelAll() }
        group.addTask {
            do {
                for try await element in source { continuation.yield(.element(element)) }
                continuation.yield(.ended)
            } catch {
                continuation.yield(.failed(error))
            }
        }
        var iterator = events.makeAsyncIterator()
        var event = await iterator.next()
        while case .element(let element) = event {
            event = await withTaskGroup(of: Void.self) { inner in
                inner.addTask {
                    do {
                        try await body(element)
                    } catch {
                        if !Task.isCancelled { continuation.yield(.failed(error)) }
                    }
                }
                let next = await iterator.next()
                inner.cancelAll()
                return next
            }
        }
        try Task.checkCancellation()
        if case .failed(let error) = event { throw error }
    }
}

private enum NewestEvent<Element: Sendable>: Sendable {
    case element(Element)
    case failed(any Error)
    case ended
}

/// Reports a status, unless it equals the last one.
///
/// A class, because several tasks report for one radio.
final class StatusReport: Sendable {
    private let last = Mutex<RadioStatus?>(nil)
    private let tell: @Sendable (RadioStatus) -> Void

    init(_ tell: @escaping @Sendable (RadioStatus) -> Void) {
        self.tell = tell
    }

    func callAsFunction(_ status: RadioStatus) {
        let isNew = last.withLock { last in
            defer { last = status }
            return last != status
        }
        if isNew { tell(status) }
    }
}
