#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Decides which fixes count. It ignores stale fixes, those from the future, repeated ones and outliers.
struct FixFilter: Sendable {
    enum Verdict: Hashable {
        case continuous
        /// The fix counts, but says nothing of the time since the last one.
        case discontinuous
        case ignored(IgnoredFix)
    }

    private let configuration: GeofenceMonitor.Configuration
    private(set) var last: Fix?
    /// A fix that is out of reach from the last one. The next fix decides whether it counts.
    private var suspect: Fix?
    /// Fixes that follow each other, but are older than the last one. Three of them mean that the clock was set back.
    private var earlier: (count: Int, time: Date)?

    init(_ configuration: GeofenceMonitor.Configuration, last: Fix?) {
        self.configuration = configuration
        self.last = last
    }

    mutating func check(_ fix: Fix, now: Date?) -> Verdict {
        if let now {
            let age = now.timeIntervalSince(fix.time)
            if age > configuration.maximumAge { return .ignored(.stale) }
            if age < -configuration.maximumAge { return .ignored(.future) }
        }
        guard let last else { return accept(fix, .continuous) }
        guard fix.time > last.time else { return checkEarlier(fix) }
        earlier = nil
        let pause = fix.time.timeIntervalSince(last.time)
        guard isReachable(fix, from: last) else {
            if let suspect, fix.time > suspect.time, isReachable(fix, from: suspect) {
                return accept(fix, .discontinuous)
            }
            suspect = fix
            return .ignored(.teleport)
        }
        return accept(fix, pause > configuration.maximumGap ? .discontinuous : .continuous)
    }

    private mutating func checkEarlier(_ fix: Fix) -> Verdict {
        guard let last, fix.time < last.time else { return .ignored(.outOfOrder) }
        if let earlier, fix.time > earlier.time {
            if earlier.count >= 2 { return accept(fix, .discontinuous) }
            self.earlier = (earlier.count + 1, fix.time)
        } else {
            earlier = (1, fix.time)
        }
        return .ignored(.outOfOrder)
    }

    private mutating func accept(_ fix: Fix, _ verdict: Verdict) -> Verdict {
        last = fix
        suspect = nil
        earlier = nil
        return verdict
    }

    private func isReachable(_ fix: Fix, from other: Fix) -> Bool {
        // Receivers that report ten times a second jump by more than they move.
        let time = max(fix.time.timeIntervalSince(other.time), 1)
        let speed = max(configuration.maximumSpeed, fix.speed ?? 0, other.speed ?? 0)
        let distance = Vector(fix.coordinate).distance(to: Vector(other.coordinate))
        return distance - fix.accuracy - other.accuracy <= speed * time
    }
}
