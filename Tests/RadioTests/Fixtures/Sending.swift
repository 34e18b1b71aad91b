import Beacons
import Radio
import Testing

/// A radio that sends in a task of its own.
final class Sending: Sendable {
    private let task: Task<Void, any Error>
    private let statuses: AsyncStream<RadioStatus>

    init(_ radio: some Radio, _ broadcasts: some AsyncSequence<Broadcast, any Error> & Sendable) {
        let (statuses, announce) = AsyncStream.makeStream(of: RadioStatus.self)
        self.statuses = statuses
        task = Task {
            defer { announce.finish() }
            try await radio.advertise(broadcasts) { announce.yield($0) }
        }
    }

    convenience init(_ radio: some Radio, _ bytes: [UInt8]) throws {
        self.init(radio, Broadcasts(constant: try AdvertisingData(received: bytes)))
    }

    deinit { task.cancel() }

    /// The next status.
    ///
    /// - Throws: What ended the sending.
    func next() async throws -> RadioStatus {
        for await status in statuses { return status }
        try await task.value
        throw CancellationError()
    }

    /// Waits for a status, whatever comes before.
    func wait(for wanted: RadioStatus) async throws {
        while try await next() != wanted {}
    }

    func cancel() { task.cancel() }

    /// How it ended.
    var outcome: Result<Void, any Error> { get async { await task.result } }
}
