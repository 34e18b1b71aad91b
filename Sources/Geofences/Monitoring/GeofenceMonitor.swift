#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Turns fixes into enter, exit and dwell events.
///
/// A value without a clock. A region is entered when its edge is farther inside than the accuracy of the fix, for
/// ``Configuration/settleTime``; it is left when the edge is passed by accuracy and hysteresis for as long. Each visit gives one
/// enter and one exit, however noisy the fixes are. After the start or a change of regions the first fix that is accurate enough for a
/// region finds whether the user is inside. Being inside already is no crossing and gives no enter event. One fix costs about as much
/// as the regions that hold it.
public struct GeofenceMonitor: Sendable {
    public let configuration: Configuration
    public private(set) var index: GeofenceIndex

    private var visits: [Int: Visit] = [:]
    private var filter: FixFilter
    /// Regions of which no fix has shown yet whether the user is inside; nil for all.
    private var undetermined: Set<Int>?

    /// How regions are monitored.
    public struct Configuration: Sendable, Hashable {
        /// How long fixes must agree before a region is entered or left, in seconds.
        public var settleTime: TimeInterval = 20
        /// How long a visit lasts until it gives a dwell event, in seconds.
        public var dwellTime: TimeInterval = 300
        /// How far beyond the edge a region is left at least, in metres.
        public var minimumHysteresis: Double = 20
        /// How far beyond the edge a circle is left at least, as a part of its radius.
        public var relativeHysteresis: Double = 0.1
        /// How old a fix may be, and how far in the future, in seconds.
        public var maximumAge: TimeInterval = 60
        /// The longest normal pause between fixes, in seconds. After a longer one, settling and dwelling start again.
        public var maximumGap: TimeInterval = 600
        /// The fastest plausible move, in metres a second. A faster one is a teleport unless the fix itself reports such
        /// a speed.
        public var maximumSpeed: Double = 340

        public init() {}
    }

    /// What is known of a region that the user is in, or may be entering.
    private struct Visit {
        enum Phase { case entering, entered }
        var phase: Phase
        /// When the visit, or the evidence for it, began.
        var since: Date
        /// Whether the visit began before the monitor knew.
        var isSilent = false
        var hasDwelt = false
        var leavingSince: Date?
    }

    /// Monitors regions.
    ///
    /// - Parameters:
    ///   - regions: the regions.
    ///   - configuration: the times and distances that decide.
    ///   - state: what an earlier monitor saved; regions that are new or were changed since are undetermined.
    /// - Throws: ``GeofencesError/duplicateIdentifier(_:)``.
    public init(
        _ regions: [Geofence], configuration: Configuration = .init(), restoring state: State? = nil
    ) throws(GeofencesError) {
        self.configuration = configuration
        filter = FixFilter(configuration, last: state?.lastFix)
        index = GeofenceIndex([])
        if let state {
            restore(state, try Self.uniquelyNamed(regions))
        } else {
            index = try Self.uniquelyNamed(regions)
        }
    }

    /// Monitors other regions from now on. What is known of those that stay the same is kept.
    ///
    /// - Throws: ``GeofencesError/duplicateIdentifier(_:)``; the monitor is unchanged.
    public mutating func replaceRegions(_ regions: [Geofence]) throws(GeofencesError) {
        restore(state, try Self.uniquelyNamed(regions))
    }

    private static func uniquelyNamed(_ regions: [Geofence]) throws(GeofencesError) -> GeofenceIndex {
        var names = Set<String>(minimumCapacity: regions.count)
        for region in regions where !names.insert(region.id).inserted { throw .duplicateIdentifier(region.id) }
        return GeofenceIndex(regions)
    }

    /// The regions that the user is in, in the order given.
    public var inside: [Geofence] {
        visits.filter { $0.value.phase == .entered }.keys.sorted().map { index.geofences[$0] }
    }

    /// The last fix that counted.
    public var lastFix: Fix? { filter.last }

    /// Takes a fix.
    ///
    /// - Parameters:
    ///   - fix: the fix.
    ///   - now: the present, against which the age is checked; nil for a recording, whose fixes are of any age.
    public mutating func receive(_ fix: Fix, now: Date? = nil) -> FixOutcome {
        switch filter.check(fix, now: now) {
        case .ignored(let reason): return .ignored(reason)
        case .continuous: break
        case .discontinuous: restartTimers(at: fix.time)
        }
        return .accepted(evaluate(fix, at: fix.time))
    }

    /// Confirms what only waits for time to pass. For sources that fall silent when the user stands still.
    ///
    /// The last fix holds as long as it is not older than ``Configuration/maximumAge``.
    public mutating func advance(to now: Date) -> [GeofenceEvent] {
        guard let fix = filter.last, now > fix.time, now.timeIntervalSince(fix.time) <= configuration.maximumAge else {
            return []
        }
        return evaluate(fix, at: now)
    }

    private mutating func restartTimers(at time: Date) {
        for (place, visit) in visits {
            if visit.phase == .entering {
                // Where the first look was not finished it is taken again.
                if visit.isSilent { undetermined?.insert(place) }
                visits[place] = nil
            } else {
                visits[place]?.leavingSince = nil
                if !visit.hasDwelt { visits[place]?.since = time }
            }
        }
    }

    private mutating func evaluate(_ fix: Fix, at time: Date) -> [GeofenceEvent] {
        var candidates = Set(visits.keys)
        index.forEachCandidate(around: fix.coordinate) { candidates.insert($0) }
        var events: [GeofenceEvent] = []
        for place in candidates.sorted() {
            let region = index.geofences[place]
            let distance = region.distanceToEdge(from: fix.coordinate)
            for (kind, since) in step(place, region, distance, fix, time) {
                events.append(
                    GeofenceEvent(kind: kind, region: region.id, fix: fix, distanceToEdge: distance, since: since))
            }
        }
        if undetermined?.isEmpty != true {
            undetermined = (undetermined ?? Set(index.geofences.indices)).filter { place in
                visits[place] == nil && index.geofences[place].mayHaveEdge(within: fix.accuracy, of: fix.coordinate)
            }
        }
        return events
    }

    private mutating func step(
        _ place: Int, _ region: Geofence, _ distance: Double, _ fix: Fix, _ time: Date
    ) -> [(GeofenceEvent.Kind, Date)] {
        guard var visit = visits[place] else {
            if distance + fix.accuracy < 0 {
                let isSilent = undetermined?.contains(place) ?? true
                visits[place] = Visit(phase: .entering, since: fix.time, isSilent: isSilent)
                return configuration.settleTime > 0 ? [] : step(place, region, distance, fix, time)
            }
            return []
        }
        defer { if visits[place] != nil { visits[place] = visit } }
        switch visit.phase {
        case .entering:
            guard distance + fix.accuracy < 0 else {
                // Where the first look was not finished it is taken again, unless the fix shows that the user is outside.
                if visit.isSilent { undetermined?.insert(place) }
                visits[place] = nil
                return []
            }
            guard time.timeIntervalSince(visit.since) >= configuration.settleTime else { return [] }
            visit.phase = .entered
            return visit.isSilent ? [] : [(.enter, visit.since)]
        case .entered:
            guard distance - fix.accuracy > hysteresis(of: region) else {
                visit.leavingSince = nil
                guard !visit.hasDwelt, distance + fix.accuracy < 0,
                    time.timeIntervalSince(visit.since) >= configuration.dwellTime
                else { return [] }
                visit.hasDwelt = true
                return [(.dwell, visit.since)]
            }
            let since = visit.leavingSince ?? fix.time
            visit.leavingSince = since
            guard time.timeIntervalSince(since) >= configuration.settleTime else { return [] }
            visits[place] = nil
            return [(.exit, since)]
        }
    }

    private func hysteresis(of region: Geofence) -> Double {
        guard case .circle(let circle) = region.shape else { return configuration.minimumHysteresis }
        return max(configuration.minimumHysteresis, configuration.relativeHysteresis * circle.radius)
    }
}

extension GeofenceMonitor {
    /// What a later monitor needs so that a restart neither repeats nor loses an event.
    public struct State: Sendable, Hashable, Codable {
        fileprivate var lastFix: Fix?
        fileprivate var visits: [SavedVisit]
        /// Regions that no fix told anything of; nil for all.
        fileprivate var undetermined: [SavedRegion]?
        fileprivate var known: [SavedRegion]

        /// Whether the same regions are being entered, held and left as in another state. It does not matter which fix
        /// came last.
        public func hasSameVisits(as other: State?) -> Bool {
            guard let other else { return false }
            return visits == other.visits && undetermined == other.undetermined && known == other.known
        }

        fileprivate struct SavedRegion: Sendable, Hashable, Codable {
            var id: String
            var fingerprint: UInt64
        }

        fileprivate struct SavedVisit: Sendable, Hashable, Codable {
            var region: SavedRegion
            var since: Date
            var isEntered: Bool
            var isSilent: Bool
            var hasDwelt: Bool
            var leavingSince: Date?
        }
    }

    /// The present state.
    public var state: State {
        func saved(_ place: Int) -> State.SavedRegion {
            State.SavedRegion(id: index.geofences[place].id, fingerprint: index.geofences[place].fingerprint)
        }
        let visits = self.visits.sorted { $0.key < $1.key }.map { place, visit in
            State.SavedVisit(
                region: saved(place), since: visit.since, isEntered: visit.phase == .entered,
                isSilent: visit.isSilent, hasDwelt: visit.hasDwelt, leavingSince: visit.leavingSince)
        }
        return State(
            lastFix: filter.last, visits: visits, undetermined: undetermined.map { $0.sorted().map(saved) },
            known: index.geofences.indices.map(saved))
    }

    private mutating func restore(_ state: State, _ index: GeofenceIndex) {
        let known = state.undetermined == nil ? [] : Set(state.known).subtracting(state.undetermined ?? [])
        let visits = Dictionary(state.visits.map { ($0.region, $0) }, uniquingKeysWith: { first, _ in first })
        var undetermined: Set<Int> = []
        self.visits = [:]
        for (place, geofence) in index.geofences.enumerated() {
            let region = State.SavedRegion(id: geofence.id, fingerprint: geofence.fingerprint)
            if !known.contains(region) { undetermined.insert(place) }
            guard let visit = visits[region] else { continue }
            self.visits[place] = Visit(
                phase: visit.isEntered ? .entered : .entering, since: visit.since, isSilent: visit.isSilent,
                hasDwelt: visit.hasDwelt, leavingSince: visit.leavingSince)
        }
        self.index = index
        self.undetermined = undetermined
    }
}
