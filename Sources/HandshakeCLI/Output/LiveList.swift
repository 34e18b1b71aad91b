#if CommandLine
import Beacons
import Foundation
import Nearby
import OAuth

/// A list on the terminal that is redrawn in place: one line a person, in the order of the watch.
struct LiveList {
    /// The widths of the lines drawn last.
    private var widths: [Int] = []

    /// Draws the list over the previous one.
    ///
    /// - Parameters:
    ///   - people: who is near.
    ///   - status: the state of the radio, in a few words.
    mutating func draw(_ people: [NearbyPerson], status: String) {
        let rows = max(2, Terminal.rows - 1)
        let lines = Self.lines(people, status: status, columns: Terminal.columns, rows: rows)
        // Up to the first line of the last drawing; redraw each line and clear what is below.
        let height = height
        let up = height > 0 ? "\u{1B}[\(height)A\r" : "\r"
        Output.result(bytes: Array((up + lines.map { "\u{1B}[K\($0)\n" }.joined() + "\u{1B}[J").utf8))
        widths = lines.map(\.displayWidth)
    }

    /// How many rows the previous drawing takes: a terminal that became narrower wraps its lines.
    private var height: Int {
        let columns = max(1, Terminal.columns)
        return widths.reduce(0) { $0 + max(1, ($1 + columns - 1) / columns) }
    }

    /// Removes the list, so that what is printed next appears above the next drawing.
    mutating func interrupt() {
        let height = height
        guard height > 0 else { return }
        Output.result(bytes: Array("\u{1B}[\(height)A\r\u{1B}[J".utf8))
        widths = []
    }

    /// The lines to draw. Names come from the service and are escaped.
    static func lines(_ people: [NearbyPerson], status: String, columns: Int, rows: Int) -> [String] {
        let head = people.isEmpty ? "No one near" : people.count == 1 ? "1 person near" : "\(people.count) people near"
        var lines = ["\(head) · \(quoted(status, limit: 200))".clipped(to: columns - 1)]
        let room = max(1, rows - 1)
        let shown = people.count > room ? room - 1 : people.count
        for person in people.prefix(shown) { lines.append(line(person, columns: columns)) }
        if shown < people.count { lines.append("… and \(people.count - shown) more".clipped(to: columns - 1)) }
        return lines
    }

    private static func line(_ person: NearbyPerson, columns: Int) -> String {
        let name = person.known.map { quoted($0.name, limit: 200) } ?? "number \(person.person)"
        let batch = person.known?.batch.map { quoted($0, limit: 40) } ?? ""
        let bar = bar(person.estimatedDistance)
        let doubt =
            person.isRelayed
            ? ", may be relayed"
            : person.trust == .unverified || person.isSuspect
                ? ", unverified" : person.trust == .file ? ", by keys from a file" : ""
        let rough = person.isRough ? " (rough)" : ""
        let facts = "\(word(person.proximity))\(rough), \(Span.text(person.encounter.duration))\(doubt)"
        let who = batch.isEmpty ? name : "\(name)  \(batch)"
        let rest = columns - 1 - bar.displayWidth - 1
        guard rest > facts.displayWidth + 12 else { return "\(bar) \(who)".clipped(to: columns - 1) }
        let width = rest - facts.displayWidth - 2
        return "\(bar) \(who.clipped(to: width).padded(to: width))  \(facts)"
    }

    /// A bar of ten steps from far to near. A step is a doubling of the distance, like the signal's decibels.
    static func bar(_ distance: Double?) -> String {
        guard let distance else { return "[??????????]" }
        let steps = 10 - (log2(max(distance, 0.0625) / 0.0625)).rounded()
        let filled = Int(min(max(steps, 1), 10))
        return "[" + String(repeating: "#", count: filled) + String(repeating: ".", count: 10 - filled) + "]"
    }

    static func word(_ proximity: Proximity) -> String {
        switch proximity {
        case .unknown: "distance unknown"
        case .immediate: "right here"
        case .near: "near"
        case .far: "farther away"
        }
    }
}
#endif
