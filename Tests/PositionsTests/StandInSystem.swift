import Foundation
import Geofences
import Positions
import Synchronization

/// A system that monitors regions as Core Location does, exactly and immediately, and outlives the processes of the app.
///
/// It takes 20 regions and caps radii, refuses what is beyond its limit, and keeps crossings until they are read. A region whose state was
/// assumed wrongly, or was left to the system, gives a crossing that corrects it.
final class StandInSystem: RegionMonitoring, PositionSource {
    struct State {
        var here: Fix?
        var monitored: [String: (region: Geofence, isInside: Bool)] = [:]
        var waiting: [RegionCrossing] = []
        /// Regions whose state was left to the system, until their crossing is read.
        var undetermined: [String: Date] = [:]
        var refused = 0
        /// Radii that had to be capped.
        var beyond = 0
        var starts: [String] = []
        var isSilent = false
    }

    let limit: Int
    /// What the system says, and what it does.
    let maximumRadius: Double
    let state = Mutex(State())

    init(limit: Int = 20, maximumRadius: Double = 20_000, foreign: [Geofence] = []) {
        self.limit = limit
        self.maximumRadius = maximumRadius
        state.withLock { for region in foreign { $0.monitored[region.id] = (region, false) } }
    }

    var regions: [Geofence] { state.withLock { $0.monitored.values.map(\.region) } }
    var undetermined: [String: Date] { state.withLock { $0.undetermined } }
    var names: Set<String> { Set(regions.map(\.id)) }
    /// The identifiers that were started, since the last look.
    func takeStarts() -> [String] {
        state.withLock { state in
            defer { state.starts = [] }
            return state.starts
        }
    }

    func start(_ region: Geofence, isInside: Bool?) async {
        state.withLock { state in
            state.starts.append(region.id)
            guard state.monitored[region.id] != nil || state.monitored.count < limit else {
                state.refused += 1
                return
            }
            var region = region
            if case .circle(let circle) = region.shape, circle.radius > maximumRadius,
                let capped = try? Circle(center: circle.center, radius: maximumRadius),
                let geofence = try? Geofence(id: region.id, .circle(capped))
            {
                state.beyond += 1
                region = geofence
            }
            guard let here = state.here else {
                state.monitored[region.id] = (region, isInside ?? false)
                return
            }
            let truth = region.distanceToEdge(from: here.coordinate) < 0
            state.monitored[region.id] = (region, truth)
            state.undetermined[region.id] = isInside == nil ? here.time : nil
            if isInside != truth {
                state.waiting.append(RegionCrossing(truth ? .enter : .exit, of: region.id, at: here.time))
            }
        }
    }

    func stop(_ id: String) async {
        state.withLock { state in
            state.monitored[id] = nil
            state.undetermined[id] = nil
        }
    }

    /// The user moves; the system notices without the app.
    func move(to fix: Fix) {
        state.withLock { state in
            state.here = fix
            for (id, known) in state.monitored.sorted(by: { $0.key < $1.key }) {
                let isInside = known.region.distanceToEdge(from: fix.coordinate) < 0
                guard isInside != known.isInside else { continue }
                state.monitored[id]?.isInside = isInside
                state.waiting.append(RegionCrossing(isInside ? .enter : .exit, of: id, at: fix.time))
            }
        }
    }

    var hasCrossings: Bool { state.withLock { !$0.waiting.isEmpty } }

    /// What waits; it ends then.
    func crossings() -> AsyncThrowingStream<RegionCrossing, any Error> {
        AsyncThrowingStream { continuation in
            let waiting = state.withLock { state in
                defer { state.waiting = [] }
                for crossing in state.waiting { state.undetermined[crossing.region] = nil }
                return state.waiting
            }
            for crossing in waiting { continuation.yield(crossing) }
            continuation.finish()
        }
    }

    /// A receiver that gives one fix, or nothing for ever.
    func updates() -> AsyncThrowingStream<PositionUpdate, any Error> {
        AsyncThrowingStream { continuation in
            let (here, isSilent) = state.withLock { ($0.here, $0.isSilent) }
            guard let here, !isSilent else { return }
            continuation.yield(.fix(here))
            continuation.finish()
        }
    }

    func silence(_ isSilent: Bool) { state.withLock { $0.isSilent = isSilent } }
}
