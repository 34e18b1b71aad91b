#if CommandLine
import Foundation
import Geofences
import OAuth
import Positions

extension GeofenceMonitor {
    /// Whether a fix is of now, so that after it time passes without another one.
    func isCurrent(_ fix: Fix, at now: Date) -> Bool {
        fix.time.timeIntervalSince(now).magnitude <= configuration.maximumAge
    }
}

/// What a user learns of positions that give no event: the first one, those that are ignored, and that none come.
struct PositionNotes {
    /// After how many ignored positions one after another, and after how many seconds of silence, a note is printed.
    private static let (maximumIgnored, maximumSilence) = (3, 10.0)

    /// Whether an area was entered or left.
    var hasEvents = false
    /// The first position that counted, and where it was.
    private var first: String?
    private var skipped = 0
    private var future = 0
    /// Ignored positions one after another, for one reason.
    private var run: (reason: IgnoredFix, count: Int)?
    /// What a receiver said last.
    private var told: String?
    private var lastHeard = Date()
    private var hasToldSilence = false
    private var hasToldVagueness = false

    /// A receiver without a position says so several times a second; the note is printed once.
    mutating func take(_ error: PositionsError) {
        hear()
        if told != "\(error)" { Output.note("Waiting: \(error)") }
        told = "\(error)"
    }

    /// - Returns: whether it is the first that counts.
    mutating func take(_ fix: Fix, _ outcome: FixOutcome, at arrival: Date?) -> Bool {
        hear()
        told = nil
        guard case .ignored(let reason) = outcome else {
            run = nil
            return first == nil
        }
        if reason == .outOfOrder { skipped += 1 }
        if reason == .future { future += 1 }
        run = (reason, run?.reason == reason ? (run?.count ?? 0) + 1 : 1)
        guard let arrival, run?.count == Self.maximumIgnored else { return false }
        let age = Self.span(arrival.timeIntervalSince(fix.time).magnitude)
        switch reason {
        case .stale: Output.note("Ignoring positions that are \(age) old. \(Self.clocks)")
        case .future: Output.note("Ignoring positions that are \(age) in the future. \(Self.clocks)")
        case .outOfOrder, .teleport: break
        }
        return false
    }

    private static let clocks = "Check the clocks of the receiver and of this machine."

    private mutating func hear() {
        lastHeard = Date()
        hasToldSilence = false
    }

    private static func span(_ seconds: Double) -> String {
        switch seconds {
        case ..<120: "\(Int(seconds)) s"
        case ..<7_200: "\(Int(seconds / 60)) min"
        case ..<172_800: "\(Int(seconds / 3_600)) h"
        default: "\(Int(seconds / 86_400)) days"
        }
    }

    /// - Parameter isNow: whether the position is printed immediately, as of a receiver.
    mutating func found(_ fix: Fix, _ regions: [Geofence], isNow: Bool) {
        let accuracy = "accurate to \(PlacesPrinter.metres(fix.accuracy))"
        guard let nearest = GeofenceIndex(regions).nearest(1, to: fix.coordinate).first else {
            first = ""
            if isNow { Output.note("Position found, \(accuracy); there is no area to watch.") }
            return
        }
        let name = "“\(quoted(nearest.geofence.id, limit: 200))”"
        let distance = PlacesPrinter.metres(nearest.distanceToEdge)
        let place =
            switch nearest.distanceToEdge {
            case 0...: "\(distance) from \(name)"
            case let depth where -depth > fix.accuracy: "inside \(name)"
            default: "perhaps inside \(name)"
            }
        first = "\(accuracy), was \(place)"
        if isNow { Output.note("Position found, \(accuracy), \(place).") }
    }

    /// Notes once that a position is too vague for an area around it.
    mutating func wait(for accuracy: Double, _ fix: Fix) {
        hear()
        guard !hasToldVagueness else { return }
        hasToldVagueness = true
        Output.note(
            "The position is accurate to \(PlacesPrinter.metres(fix.accuracy)). Waiting for "
                + "\(PlacesPrinter.metres(accuracy)), half of the radius.")
    }

    /// Notes a receiver that says nothing.
    mutating func passTime(to now: Date) {
        guard !hasToldSilence, now.timeIntervalSince(lastHeard) >= Self.maximumSilence else { return }
        hasToldSilence = true
        // A receiver that reports only changes is silent while the user stands still.
        if first == nil { Output.note("No position for \(Int(Self.maximumSilence)) s. Still waiting.") }
    }

    /// Notes points of a file that are no positions.
    static func skip(_ count: Int) {
        Output.note("Skipped \(PlacesPrinter.counted(count, "point")) without a valid position or a time.")
    }

    /// Notes what a file did not give.
    func finish(isInside: Bool) {
        if skipped > 0 {
            Output.note(
                "Skipped \(PlacesPrinter.counted(skipped, "position")) not later than one that was taken before.")
        }
        if future > 0 {
            Output.note(
                "Ignored \(PlacesPrinter.counted(future, "position")) with a time in the future. Check the clocks of the recorder and "
                    + "of this machine.")
        }
        if !hasEvents, !isInside, let first, !first.isEmpty {
            Output.note("No area was entered or left. The first position, \(first).")
        }
    }
}
#endif
