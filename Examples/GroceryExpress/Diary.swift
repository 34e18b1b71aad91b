#if Server && Sandbox
import Foundation
import Geofences
import Handshake
import HandshakeServer
import IFTTTConnect
import OAuth

/// What a phone has seen on its last walk, and what has become of it.
struct Diary: Sendable {
    /// A leg of the walk, for its map.
    struct Leg: Sendable {
        let areas: [Area]
        let fixes: [Fix]
        let events: [GeofenceEvent]
    }

    /// A crossing of an area.
    struct Entry: Sendable {
        let crossing: AreaCrossing
        /// Nil for an area that IFTTT has not described.
        let area: Area?
        var fate = Fate.underway
        /// When its last upload began, in seconds since 1970.
        var sentAt: Double?
        /// When IFTTT notified the shop of it, in seconds since 1970.
        var notifiedAt: Double?
    }

    enum Fate: Sendable {
        case underway
        /// For the next walk, because of this error of IFTTT's if there was one.
        case waiting(ConnectError?)
        case uploaded
        case discarded(PlaceEvent.DiscardReason)
    }

    /// Why a walk did not go as it should.
    enum Trouble: Sendable {
        /// IFTTT does not accept the customer's token, or there is none.
        case signInRequired
        /// The token could not be fetched.
        case token(ConnectError?)
        /// IFTTT has not said where the areas are.
        case areas
        /// The phone could not record the walk.
        case stopped
    }

    /// More crossings than these are uploaded anyway, but not shown.
    private static let limit = 100

    private(set) var isWalking = false
    private(set) var hasWalked = false
    /// Whether the phone monitored the areas on the last walk.
    private(set) var monitorsAreas = true
    /// The areas as IFTTT described them last.
    private(set) var areas: [Area] = []
    private(set) var legs: [Leg] = []
    /// The crossings of the last walk, and earlier ones that waited or that IFTTT had not reported; oldest first.
    private(set) var entries: [Entry] = []
    private(set) var trouble: Trouble?
    private var end = 0.0

    /// Whether nothing more is expected.
    var isSettled: Bool { !isWalking && entries.allSatisfy { !$0.awaitsEvent } }

    mutating func begin(_ areas: [Area]?, monitorsAreas: Bool) {
        if let areas { self.areas = areas }
        self.monitorsAreas = monitorsAreas
        entries.removeAll { !$0.isOpen }
        isWalking = true
        trouble = nil
        legs = []
    }

    /// When the next walk ends: just before the present, and never when the last one did, so that crossings stay apart.
    mutating func nextEnd() -> Date {
        end = max(TimeSource.system.now().rounded(.down), end + 1)
        return Date(timeIntervalSince1970: end)
    }

    /// Adds a leg that led through the middle of these regions.
    mutating func add(_ regions: Set<String>, _ fixes: [Fix], _ events: [GeofenceEvent]) {
        let seen = regions.union(events.map(\.region))
        let areas = areas.filter { seen.contains($0.watchedRegion) }
        legs.append(Leg(areas: areas, fixes: fixes, events: events))
    }

    mutating func add(_ crossings: [AreaCrossing]) {
        for crossing in crossings {
            let area = areas.first { $0.subscriptionID == crossing.subscriptionID }
            entries.append(Entry(crossing: crossing, area: area))
        }
        entries.removeFirst(max(entries.count - Self.limit, 0))
    }

    mutating func end(_ trouble: Trouble?) {
        self.trouble = self.trouble ?? trouble
        isWalking = false
        hasWalked = hasWalked || !legs.isEmpty
        for place in entries.indices {
            if case .underway = entries[place].fate { entries[place].fate = .waiting(nil) }
        }
    }

    mutating func note(_ event: PlaceEvent) {
        switch event {
        case .uploadAttempted(let crossing, let delay):
            change(crossing) { entry in
                let time = crossing.recordedAt + delay
                // IFTTT reports a crossing once: what is sent again after that changes nothing.
                if entry.notifiedAt.map({ time <= $0 }) ?? true { entry.sentAt = time }
            }
        case .uploaded(let crossing, _): change(crossing) { $0.fate = .uploaded }
        case .uploadFailed(let crossing, let error, _): change(crossing) { $0.fate = .waiting(error) }
        case .discarded(let crossing, let reason): change(crossing) { $0.fate = .discarded(reason) }
        case .signInRequired: trouble = .signInRequired
        case .recorded, .regionsChanged, .statusChanged, .synchronizationFailed, .queueDamaged: break
        }
    }

    private mutating func change(_ crossing: AreaCrossing, _ body: (inout Entry) -> Void) {
        guard let place = entries.firstIndex(where: { $0.crossing.id == crossing.id }) else { return }
        body(&entries[place])
    }

    /// Notes when IFTTT notified the shop of a crossing: by the trigger's subscription, the direction and the second.
    mutating func hear(_ trigger: ConnectWebhook.Trigger, at now: Double) {
        let place = entries.firstIndex { entry in
            let direction = entry.crossing.kind == .enter ? "entered" : "exited"
            return entry.notifiedAt == nil && entry.crossing.subscriptionID == trigger.userFeatureTriggerID
                && trigger.ingredients["EnteredOrExited"]?.string == direction
                && trigger.ingredients["OccurredAt"]?.string?.utf8.starts(with: entry.second.utf8) == true
        }
        if let place { entries[place].notifiedAt = now }
    }
}

extension Diary.Entry {
    /// Whether IFTTT has it and has not reported it.
    fileprivate var awaitsEvent: Bool { if case .uploaded = fate { notifiedAt == nil } else { false } }

    /// Whether there is more to be said of it than was said.
    fileprivate var isOpen: Bool { if case .discarded = fate { false } else { notifiedAt == nil || isWaiting } }

    private var isWaiting: Bool { if case .waiting = fate { true } else { false } }

    /// The second of the crossing in UTC, as the upload begins with it.
    fileprivate var second: String {
        String(Date(timeIntervalSince1970: crossing.occurredAt).formatted(.iso8601).dropLast())
    }
}

extension Area {
    /// The identifier under which a synchronizer has it monitored (dossier 6.3).
    fileprivate var watchedRegion: String { "ifttt_" + subscriptionID }
}
#endif
