public import Beacons

/// The events of a radio's scan.
///
/// The scan starts with the first call of an iterator's `next` and stops when the iterator is released or its task is
/// cancelled; cancellation ends the sequence with `CancellationError`. A live radio does not wait for a slow reader: beyond
/// ``capacity``, the oldest unread advertisements are dropped, but never a change of status. A recording waits.
public struct Scan: AsyncSequence, Sendable {
    /// The maximum number of unread advertisements.
    public static let capacity = 4_096

    /// Creates the function that each iteration calls for its elements.
    private let start: @Sendable () -> @Sendable () async throws -> ScanEvent?

    /// A sequence whose elements are pulled one by one.
    init(asking start: @escaping @Sendable () -> @Sendable () async throws -> ScanEvent?) {
        self.start = start
    }

    /// A sequence fed by a task of its own, which is cancelled when the iterator is released.
    init(feeding feed: @escaping @Sendable (ScanBuffer) async throws -> Void) {
        self.init {
            let feeding = Feeding(feed)
            return { try await feeding.next() }
        }
    }

    private struct Iterator: AsyncIteratorProtocol, Sendable {
        let ask: @Sendable () async throws -> ScanEvent?

        mutating func next() async throws -> ScanEvent? {
            try await ask()
        }
    }

    public func makeAsyncIterator() -> some AsyncIteratorProtocol<ScanEvent, any Error> & Sendable {
        Iterator(ask: start())
    }

    /// Only the advertisements.
    ///
    /// - Parameter other: Called with each other event, in order.
    public func advertisements(
        other: @escaping @Sendable (ScanEvent) -> Void = { _ in }
    ) -> some AsyncSequence<Advertisement, any Error> & Sendable {
        Advertisements(scan: self, other: other)
    }

    /// The advertisements of a scan.
    private struct Advertisements: AsyncSequence, Sendable {
        let scan: Scan
        let other: @Sendable (ScanEvent) -> Void

        struct AsyncIterator: AsyncIteratorProtocol {
            var base: Scan.AsyncIterator
            let other: @Sendable (ScanEvent) -> Void

            mutating func next() async throws -> Advertisement? {
                while let event = try await base.next() {
                    if case .advertisement(let advertisement) = event { return advertisement }
                    other(event)
                }
                return nil
            }
        }

        func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(base: scan.makeAsyncIterator(), other: other)
        }
    }
}

/// The task that feeds one iteration, from the first requested element until this is released.
///
/// A class, because its deinitialiser stops the radio.
private final class Feeding: Sendable {
    private let buffer = ScanBuffer()
    private let feed: @Sendable (ScanBuffer) async throws -> Void

    init(_ feed: @escaping @Sendable (ScanBuffer) async throws -> Void) {
        self.feed = feed
    }

    deinit {
        buffer.abandon()
    }

    func next() async throws -> ScanEvent? {
        buffer.start { [feed, buffer] in
            Task {
                do {
                    try await feed(buffer)
                    buffer.finish(.success(()))
                } catch {
                    buffer.finish(.failure(error))
                }
            }
        }
        return try await buffer.next()
    }
}
