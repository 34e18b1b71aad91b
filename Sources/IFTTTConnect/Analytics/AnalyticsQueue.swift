package import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What is counted of one installation and not sent yet, with the identifier that it is sent under (dossier 7).
///
/// There is one only where somebody agreed: without consent there is no value of this type, and so no identifier.
package struct AnalyticsQueue: Sendable, Codable {
    /// The same for as long as the consent lasts.
    package let anonymousID: AnonymousID
    private var waiting: [Waiting] = []
    private var lastNumber: UInt64 = 0

    private struct Waiting: Codable {
        /// Counts the events of this identifier, so that what was sent is known again.
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

    /// Begins with nothing and a new identifier; nil when the source has no randomness to give.
    package init?(random: RandomSource) {
        guard let id = AnonymousID(random: random) else { return nil }
        anonymousID = id
    }

    /// Reads what was stored; nil when that is something else.
    package init?(stored bytes: [UInt8]) {
        guard let queue = try? JSONDecoder().decode(AnalyticsQueue.self, from: Data(bytes)) else { return nil }
        self = queue
        makeRoom()
    }

    /// The queue as it rests.
    package func stored() throws -> [UInt8] {
        Array(try JSONEncoder().encode(self))
    }

    /// How many events wait.
    package var count: Int { waiting.count }

    /// Whether so many wait that they are sent without waiting longer.
    package var isReady: Bool { count >= Analytics.enoughToSend }

    /// Takes an event in. Of more than ``Analytics/maximumPending``, the oldest goes.
    ///
    /// - Parameters:
    ///   - event: what happened.
    ///   - time: when, in seconds since 1970.
    package mutating func append(_ event: AnalyticsEvent, at time: Double) {
        // What was stored may hold any number.
        lastNumber &+= 1
        waiting.append(Waiting(number: lastNumber, event: event, timestamp: Self.milliseconds(time)))
        makeRoom()
    }

    /// The oldest events, at most ``Analytics/maximumPerRequest``; nil when none waits.
    package var batch: Batch? {
        guard !waiting.isEmpty else { return nil }
        let oldest = waiting.prefix(Analytics.maximumPerRequest)
        return Batch(
            anonymousID: anonymousID, content: .object(["events": .array(oldest.map(\.json))]),
            numbers: Set(oldest.map(\.number)))
    }

    /// Forgets what was sent. Meanwhile some of it may have made room; what was sent under another identifier has
    /// nothing to do with what waits here.
    package mutating func remove(_ batch: Batch) {
        guard batch.anonymousID == anonymousID else { return }
        waiting.removeAll { batch.numbers.contains($0.number) }
    }

    private mutating func makeRoom() {
        if count > Analytics.maximumPending { waiting.removeFirst(count - Analytics.maximumPending) }
    }

    private static func milliseconds(_ seconds: Double) -> Int64 {
        // A clock that is no clock must not stop an app.
        seconds.isFinite && abs(seconds) < 1e14 ? Int64((seconds * 1000).rounded(.down)) : 0
    }
}
