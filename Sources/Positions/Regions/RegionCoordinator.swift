import AsyncSupport
public import Geofences

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Monitors any number of regions with a system that accepts only a few.
///
/// It hands on their crossings.
///
/// The regions around the user are registered, with a boundary around them (`RegionSelection`). When the boundary is
/// left, or a fix or a visit shows that it was, they are chosen again. A region that is registered while the user is
/// inside it gives no entry.
///
/// Create it at every launch, as early as possible, and call ``monitor(_:)`` and ``run(_:)``: the system launches the
/// app for a crossing and delivers it then. Nothing is registered before a position is known. The system knows only
/// circles; give areas of other shapes to a `GeofenceMonitor`.
///
/// An actor, because positions, crossings and other regions come concurrently. The registered regions are changed by one of them at a
/// time.
public actor RegionCoordinator {
    /// The identifier of the boundary. When the user leaves it, the regions are chosen again.
    ///
    /// Its crossings are not handed on.
    public static let boundaryID = "handshake.boundary"

    private let system: any RegionMonitoring
    private let positions: any PositionSource
    private let isOwned: @Sendable (String) -> Bool
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Date

    /// Nil until the app has said what it wants; until then nothing is stopped.
    private var wanted: GeofenceIndex?
    private var newest: Fix?
    private var selected: (selection: RegionSelection, around: Fix)?
    /// Whether the next position asks for a selection, wherever it is.
    private var isDue = true
    /// Regions that were registered while a fix could not tell whether the user is inside, and when.
    private var undetermined: [String: Date] = [:]
    /// Runs the changes of the registered regions one after another.
    private var turns = TurnQueue()

    /// The greatest age of a fix that counts as the present position, in seconds.
    private static let maximumFixAge = 60.0
    /// How long the source is asked for a position. The system gives an app that it launches some ten seconds.
    private static let positionTimeout = Duration.seconds(8)
    private static let minimumRadius = 100.0

    /// - Parameters:
    ///   - system: what monitors the regions.
    ///   - positions: is asked for one fix when the boundary is left, and at the start.
    ///   - isOwned: which identifiers are the coordinator's; regions of other owners take places and are left alone, and their
    ///     crossings are not handed on.
    public init(
        _ system: any RegionMonitoring, positions: any PositionSource,
        isOwned: @escaping @Sendable (String) -> Bool = { _ in true }
    ) {
        self.init(system, positions: positions, isOwned: isOwned, clock: ContinuousClock(), now: { Date() })
    }

    init(
        _ system: any RegionMonitoring, positions: any PositionSource, isOwned: @escaping @Sendable (String) -> Bool,
        clock: any Clock<Duration>, now: @escaping @Sendable () -> Date
    ) {
        self.system = system
        self.positions = positions
        self.isOwned = isOwned
        self.clock = clock
        self.now = now
    }

    /// Replaces the monitored regions. Returns when those around the user are registered.
    ///
    /// Without a current position, waits up to 8 seconds for one. If none comes, it returns with no registration changed: the next
    /// position registers the regions.
    ///
    /// Leaves out regions that are not circles, those with another owner's identifier, and one named ``boundaryID``. A circle beyond the
    /// system's greatest radius gets that radius. If two regions have the same identifier, the first counts.
    public func monitor(_ regions: [Geofence]) async {
        let maximum = max(system.maximumRadius, 1)
        var names: Set<String> = [Self.boundaryID]
        let circles = regions.compactMap { region -> Geofence? in
            guard case .circle(let circle) = region.shape, isOwned(region.id), names.insert(region.id).inserted else {
                return nil
            }
            guard circle.radius > maximum, let capped = try? Circle(center: circle.center, radius: maximum) else {
                return region
            }
            return try? Geofence(id: region.id, .circle(capped))
        }
        await inTurn {
            await self.replaceWanted(GeofenceIndex(circles))
        }
    }

    /// Takes a position: a visit, or a fix of the running app. Selects again where it lies beyond the boundary.
    public func receive(_ fix: Fix) async {
        await inTurn { await self.take(fix) }
    }

    /// Calls `record` for each crossing, in order, until the task is cancelled. The next one waits until it returns.
    ///
    /// - Throws: what the system or `record` throws; `CancellationError`.
    public nonisolated func run(_ record: (RegionCrossing) async throws -> Void) async throws {
        await recall()
        try await withThrowingDiscardingTaskGroup { group in
            for try await crossing in system.crossings() {
                if crossing.region == Self.boundaryID {
                    guard crossing.kind == .exit else { continue }
                    // In another task: the next crossings must not wait while a position is searched for, which takes seconds.
                    group.addTask { await self.inTurn { await self.boundaryLeft(at: crossing.date) } }
                } else if isOwned(crossing.region), await !isFirstLook(crossing) {
                    try await record(crossing)
                }
            }
        }
        try Task.checkCancellation()
    }

    /// Learns which regions an earlier launch registered without knowing where the user was.
    private func recall() async {
        let earlier = await system.undetermined
        undetermined.merge(earlier) { own, _ in own }
    }

    /// Whether a crossing only says where the user was when the region was registered.
    private func isFirstLook(_ crossing: RegionCrossing) -> Bool {
        guard let start = undetermined.removeValue(forKey: crossing.region) else { return false }
        return crossing.date.timeIntervalSince(start) <= Self.maximumFixAge
    }

    private func inTurn(_ work: @escaping @Sendable () async -> Void) async {
        _ = await turns.add(work).result
    }

    private func replaceWanted(_ index: GeofenceIndex) async {
        wanted = index
        isDue = true
        if let fix = await currentFix() { await select(around: fix) }
    }

    private func take(_ fix: Fix) async {
        // A fix dated in the future, from before the clock was set, must not block later fixes.
        if let newest, isCurrent(newest) || newest.time < now(), fix.time <= newest.time { return }
        guard isDue || hasLeftBoundary(fix) else {
            newest = fix
            return
        }
        // A visit is reported late, when the user may be elsewhere.
        let position = isCurrent(fix) ? fix : await currentFix() ?? fix
        newest = position
        await select(around: position)
    }

    private func boundaryLeft(at date: Date) async {
        isDue = true
        // Without a position the next fix or visit selects: around the old place the boundary would be left again immediately.
        if let fix = await currentFix(since: date) { await select(around: fix) }
    }

    private func hasLeftBoundary(_ fix: Fix) -> Bool {
        guard let selected else { return true }
        guard let boundary = selected.selection.boundary else { return false }
        if boundary.distanceToEdge(from: fix.coordinate) > 0 { return true }
        // More edges are near than can be registered; each move may make others the nearest.
        return !selected.selection.isComplete
            && fix.coordinate.distance(to: selected.around.coordinate) > max(fix.accuracy, Self.minimumRadius / 2)
    }

    private func isCurrent(_ fix: Fix) -> Bool { now().timeIntervalSince(fix.time).magnitude <= Self.maximumFixAge }

    /// The newest fix if it is current, else one of the source; nil when that has none in time.
    private func currentFix(since date: Date = .distantPast) async -> Fix? {
        if let newest, newest.time >= date, isCurrent(newest) { return newest }
        let fixes = positions.fixes()
        let found = try? await within(Self.positionTimeout, on: clock) { () -> Fix? in
            for try await fix in fixes where await self.isCurrent(fix) && fix.time >= date { return fix }
            return nil
        }
        guard let fix = found ?? nil else { return nil }
        newest = fix
        return fix
    }

    private func select(around fix: Fix) async {
        guard let wanted else { return }
        let monitored = await system.regions
        let isOurs = { [isOwned] (id: String) in id == Self.boundaryID || isOwned(id) }
        // It fails only for an unusable identifier, and the boundary's is usable.
        let selection = try? RegionSelection(
            of: wanted, around: fix, limit: system.limit, others: monitored.count { !isOurs($0.id) },
            boundaryID: Self.boundaryID,
            // However vague the fix is, the boundary holds the user; otherwise it would be left immediately.
            minimumRadius: max(Self.minimumRadius, fix.accuracy), maximumRadius: system.maximumRadius)
        guard let selection else { return }
        let (stop, start) = selection.changes(from: monitored, isOwned: isOurs)
        let replaced = Set(start.map(\.id))
        for id in stop where !replaced.contains(id) {
            undetermined[id] = nil
            await system.stop(id)
        }
        // The boundary first: if the process ends here, leaving it launches the app, which goes on.
        for region in start.filter({ $0.id == Self.boundaryID }) + start.filter({ $0.id != Self.boundaryID }) {
            await self.start(region, at: fix)
        }
        selected = (selection, fix)
        isDue = false
    }

    private func start(_ region: Geofence, at fix: Fix) async {
        var isInside: Bool? = true
        if region.id != Self.boundaryID {
            let distance = region.distanceToEdge(from: fix.coordinate)
            isInside = distance.magnitude > fix.accuracy ? distance < 0 : nil
            undetermined[region.id] = isInside == nil ? now() : nil
        }
        await system.start(region, isInside: isInside)
    }
}
