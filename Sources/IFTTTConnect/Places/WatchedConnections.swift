import Geofences

/// The connections whose areas are watched, and what is known of them; durable in a vault (dossier 6.3, 6.9, 6.11).
struct WatchedConnections: Sendable, Hashable, Codable {
    /// A UUID of this installation, for uploads; drawn once.
    var installation: String
    private(set) var entries: [String: Entry] = [:]

    struct Entry: Sendable, Hashable, Codable {
        /// The user's own switch, which no refresh changes (dossier 10.2, W20).
        var isSwitchedOn = true
        /// Whether the connection is watched at all, or only its switch is remembered.
        var isWatched = false
        var isEnabled = false
        var triggers: [LocationTrigger] = []
        /// Seconds since 1970; nil before the first answer.
        var fetchedAt: Double?
    }

    init(installation: String) { self.installation = installation }

    subscript(id: ConnectionID) -> Entry {
        get { entries[id.rawValue] ?? Entry() }
        set { entries[id.rawValue] = newValue }
    }

    var watched: [ConnectionID] {
        entries.filter(\.value.isWatched).keys.sorted().compactMap(ConnectionID.init(rawValue:))
    }

    /// Whether the service has said of every watched connection what it watches.
    var isComplete: Bool { entries.values.allSatisfy { !$0.isWatched || $0.fetchedAt != nil } }

    mutating func update(_ id: ConnectionID, with connection: Connection, at now: Double) {
        self[id].isEnabled = connection.status == .enabled
        self[id].triggers = connection.userConnection?.locationTriggers ?? []
        self[id].fetchedAt = now
    }

    private var active: [LocationTrigger] {
        entries.sorted { $0.key < $1.key }.map(\.value)
            .filter { $0.isWatched && $0.isEnabled && $0.isSwitchedOn }.flatMap(\.triggers)
    }

    /// What becomes of a crossing.
    enum Decision: Hashable {
        case upload
        case keep
        case discard(PlaceEvent.DiscardReason)
    }

    func decision(on crossing: AreaCrossing) -> Decision {
        let owners = entries.values.filter { entry in
            entry.isWatched && entry.triggers.contains { $0.subscriptionID == crossing.subscriptionID }
        }
        // Before every answer is here, an unknown subscription may be a known one in a moment.
        guard let owner = owners.first else { return isComplete ? .discard(.unknownSubscription) : .keep }
        guard owner.isSwitchedOn else { return .discard(.switchedOff) }
        guard owner.isEnabled else { return .discard(.disabled) }
        let isWanted = owner.triggers.contains {
            $0.subscriptionID == crossing.subscriptionID && crossing.isWanted(by: $0.type)
        }
        return isWanted ? .upload : .discard(.otherDirection)
    }

    /// The areas, each subscription once. Radii beyond the Earth are capped.
    var regions: [Geofence] {
        var names: Set<String> = []
        return active.compactMap { trigger in
            let region = AreaIdentifier.region(of: trigger.subscriptionID)
            guard let radius = trigger.area.radius,
                let center = try? Coordinate(latitude: trigger.area.latitude, longitude: trigger.area.longitude),
                let circle = try? Circle(center: center, radius: min(radius, 20_000_000)),
                let geofence = try? Geofence(id: region, .circle(circle)), names.insert(region).inserted
            else { return nil }
            return geofence
        }
    }
}
