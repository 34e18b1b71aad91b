public import Geofences

/// A crossing of an area that is to be uploaded (dossier 6.5).
///
/// The identifier follows from what happened, so a crossing that is evaluated again after a crash has the same one, and the
/// service recognises a crossing that it gets twice.
public struct AreaCrossing: Sendable, Hashable, Codable, Identifiable {
    /// A UUID that identifies the crossing (RFC 9562, section 5.8). It is made of the installation, the subscription,
    /// the kind and the time to a millisecond.
    public let id: String
    /// The trigger's subscription.
    public let subscriptionID: String
    public var kind: RegionCrossing.Kind { eventType == .entry ? .enter : .exit }
    package let eventType: EventType
    /// When the edge was crossed, in seconds since 1970.
    public let occurredAt: Double
    /// When it was recorded, in seconds since 1970.
    public let recordedAt: Double

    /// The kind in the service's words.
    package enum EventType: String, Sendable, Hashable, Codable {
        case entry, exit

        init(_ kind: RegionCrossing.Kind) { self = kind == .enter ? .entry : .exit }
    }

    private enum CodingKeys: String, CodingKey {
        case id = "record_id"
        case subscriptionID = "trigger_subscription_id"
        case eventType = "event_type"
        case occurredAt = "occurred_at"
        case recordedAt = "recorded_at"
    }
}

extension AreaCrossing {
    /// Crossings as a record of the vault holds them.
    struct Batch: Codable {
        private var version = 1
        var crossings: [AreaCrossing]

        init(_ crossings: [AreaCrossing]) { self.crossings = crossings }

        /// - Throws: `DecodingError` for what was not written by this version.
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            version = try container.decode(Int.self, forKey: .version)
            crossings = try container.decode([AreaCrossing].self, forKey: .crossings)
            let isRight = version == 1 && crossings.allSatisfy { $0.occurredAt.isFinite && $0.recordedAt.isFinite }
            guard isRight else {
                throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "another version"))
            }
        }
    }
}
