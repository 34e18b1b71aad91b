internal import Crypto
import Geofences
import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension AreaCrossing {
    /// A crossing of an area of this kit, recorded at `now` in seconds since 1970.
    ///
    /// - Returns: nil for the host app's regions (dossier 10.2, W21).
    init?(_ crossing: RegionCrossing, at now: Double, installation: String) {
        let occurredAt = crossing.date.timeIntervalSince1970
        guard let subscription = AreaIdentifier.subscription(of: crossing.region), occurredAt.isFinite else {
            return nil
        }
        eventType = EventType(crossing.kind)
        id = Self.identifier(installation, subscription, eventType, occurredAt)
        subscriptionID = subscription
        self.occurredAt = occurredAt
        recordedAt = now
    }

    private static func identifier(
        _ installation: String, _ subscription: String, _ eventType: EventType, _ occurredAt: Double
    ) -> String {
        // A subscription may hold any character but stands last.
        let text = [installation, eventType.rawValue, timeText(occurredAt), subscription].joined(separator: "\n")
        var bytes = Array(SHA256.hash(data: Array(text.utf8)).prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        return uuidText(bytes)
    }

    /// The identifier of the region that was crossed.
    public var region: String { AreaIdentifier.region(of: subscriptionID) }

    /// Whether a field of this type reports this crossing.
    func isWanted(by type: FieldType?) -> Bool {
        // If the service does not say, it decides itself.
        type?.crossings?.contains(kind) ?? true
    }

    /// The record for the service (dossier 6.6).
    func document(installation: String) -> JSONValue {
        .object([
            "record_id": .string(id), "region_type": .string("geo"), "occurred_at": .string(Self.timeText(occurredAt)),
            "event_type": .string(eventType.rawValue), "channel_id": .string("941030000"),
            "trigger_subscription_id": .string(subscriptionID), "installation_id": .string(installation),
        ])
    }

    /// `2025-01-01T00:00:00+0000`, with milliseconds if there are any.
    static func timeText(_ seconds: Double) -> String {
        // The years 1 to 9999.
        let clamped = min(max(seconds, -62_135_596_800), 253_402_300_799)
        let milliseconds = Int64((clamped * 1_000).rounded())
        let whole = milliseconds >= 0 ? milliseconds / 1_000 : (milliseconds - 999) / 1_000
        let fraction = milliseconds - whole * 1_000
        let text = Date(timeIntervalSince1970: Double(whole)).formatted(.iso8601).dropLast()
        let digits = String(1_000 + fraction).dropFirst()
        return text + (fraction == 0 ? "" : "." + digits) + "+0000"
    }
}

/// The names of regions: `ifttt_` and the trigger's subscription (dossier 6.3).
enum AreaIdentifier {
    static func region(of subscription: String) -> String { "ifttt_" + subscription }

    /// The subscription; nil for a region of the host app.
    static func subscription(of region: String) -> String? {
        let prefix = region.prefix(6)
        guard prefix.lowercased() == "ifttt_", prefix.utf8.count == 6 else { return nil }
        let subscription = region.dropFirst(6)
        return subscription.isEmpty ? nil : String(subscription)
    }
}
