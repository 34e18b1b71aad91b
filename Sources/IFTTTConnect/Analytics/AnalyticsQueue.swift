package import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The unsent events of an installation, with its anonymous ID (dossier 7).
///
/// It exists only with consent: without it there is no value of this type, and so no ID.
package struct AnalyticsQueue: Sendable, Codable {
    /// Constant while the consent lasts.
    package let anonymousID: AnonymousID
    private var waiting: [Waiting] = []
    private var lastNumber: UInt64 = 0

    private struct Waiting: Codable {
        /// Numbers the events of this ID, so that sent ones can be removed.
        let number: UInt64
        let event: AnalyticsEvent
        /// Milliseconds since 1970.
        let timestamp: Int64

        var json: JSONValue {
            .object([
                "name": .string(event.name.rawValue), "timestamp": .string(String(timestamp)),
                "properties": event.properties,
            ])
        }
    }

    /// The events of one request.
    package struct Batch: Sendable {
        package let anonymousID: AnonymousID
        let content: JSONValue
        fileprivate let numbers: Set<UInt64>
    }

    /// Creates an empty queue with a new ID; nil when there is no randomness.
    package init?(random: RandomSource) {
        guard let id = AnonymousID(random: random) else { return nil }
        anonymousID = id
    }

    /// Decodes a stored queue; nil when it is malformed.
    package init?(stored bytes: [UInt8]) {
        guard let queue = try? JSONDecoder().decode(AnalyticsQueue.self, from: Data(bytes)) else { return nil }
        self = queue
        makeRoom()
    }

    /// The encoded queue.
    package func stored() throws -> [UInt8] {
        Array(try JSONEncoder().encode(self))
    }

    /// The number of queued events.
    package var count: Int { waiting.count }

    /// Whether enough events are queued to send them immediately.
    package var isReady: Bool { count >= Analytics.enoughToSend }

    /// Appends an event. Beyond ``Analytics/maximumPending``, the oldest is dropped.
    ///
    /// - Parameters:
    ///   - event: the event.
    ///   - time: its time, in seconds since 1970.
    package mutating func append(_ event: AnalyticsEvent, at time: Double) {
        // A stored queue can have any number.
        lastNumber &+= 1
        waiting.append(Waiting(number: lastNumber, event: event, timestamp: Self.milliseconds(time)))
        makeRoom()
    }

    /// The oldest events, at most ``Analytics/maximumPerRequest``; nil when there are none.
    package var batch: Batch? {
        guard !waiting.isEmpty else { return nil }
        let oldest = waiting.prefix(Analytics.maximumPerRequest)
        return Batch(
            anonymousID: anonymousID, content: .object(["events": .array(oldest.map(\.json))]),
            numbers: Set(oldest.map(\.number)))
    }

    /// Removes sent events. Some may have been dropped meanwhile; a batch of another ID removes nothing.
    package mutating func remove(_ batch: Batch) {
        guard batch.anonymousID == anonymousID else { return }
        waiting.removeAll { batch.numbers.contains($0.number) }
    }

    private mutating func makeRoom() {
        if count > Analytics.maximumPending { waiting.removeFirst(count - Analytics.maximumPending) }
    }

    private static func milliseconds(_ seconds: Double) -> Int64 {
        // An invalid clock must not stop an app.
        seconds.isFinite && abs(seconds) < 1e14 ? Int64((seconds * 1000).rounded(.down)) : 0
    }
}
