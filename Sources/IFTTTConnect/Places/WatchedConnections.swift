import Geofences

/// The connections whose areas are watched, and what is known of them; durable in a vault (dossier 6.3, 6.9, 6.11).
struct WatchedConnections: Sendable, Hashable, Codable {
    /// A UUID of this installation, for uploads; drawn once.
    var installation: String
    /// IFTTT's name of the user to whom all of this belongs; nil before the service has named the user.
    private(set) var user: String?
    /// The fingerprint of the token by which the service told the user.
    private(set) var verifiedToken: String?
    /// The fingerprint of the token that the service refused.
    var refusedToken: String?
    /// Why the last synchronization failed; nil when it did not.
    var failure: Failure?
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
        /// Since when the service says that there is no such connection, in seconds since 1970; nil when it does not.
        var missingSince: Double?
    }

    struct Failure: Sendable, Hashable, Codable {
        /// As of ``ConnectError/code``.
        var code: String
        /// Seconds since 1970.
        var time: Double
    }

    init(installation: String) { self.installation = installation }

    /// To whom positions belong. Another owner must not see them.
    struct Owner: Sendable, Hashable {
        let installation: String
        let user: String?
    }

    var owner: Owner { Owner(installation: installation, user: user) }

    subscript(id: ConnectionID) -> Entry {
        get { entries[id.rawValue] ?? Entry() }
        set { entries[id.rawValue] = newValue }
    }

    /// Notes the user of a token. What is known of another user's connections is forgotten, except that they are watched.
    mutating func signIn(as user: String, by token: String) {
        if let owner = self.user, owner != user {
            entries = entries.filter(\.value.isWatched).mapValues { _ in Entry(isWatched: true) }
            failure = nil
        }
        self.user = user
        verifiedToken = token
        refusedToken = nil
    }

    /// Makes the next synchronization ask the service for the user, also with a token that it refused.
    mutating func forgetToken() {
        verifiedToken = nil
        refusedToken = nil
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
        self[id].missingSince = nil
    }

    /// The service says that there is no such connection.
    ///
    /// A connection that never existed is not watched. One that existed stays watched until the service has said so for a while,
    /// since crossings would be lost otherwise; then it is no longer watched, and its switch is remembered.
    ///
    /// - Parameter pause: the seconds after which it counts.
    mutating func miss(_ id: ConnectionID, at now: Double, confirmedAfter pause: Double) {
        guard self[id].fetchedAt != nil else {
            self[id].isWatched = false
            return
        }
        let since = self[id].missingSince ?? now
        self[id].missingSince = since
        guard now - since >= pause else { return }
        self[id].isEnabled = false
        self[id].triggers = []
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
        guard owner.missingSince == nil else { return .keep }
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
