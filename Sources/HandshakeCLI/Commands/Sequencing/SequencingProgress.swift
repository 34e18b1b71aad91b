#if CommandLine
import Foundation
import Sequencing
import Synchronization

/// A progress line that is redrawn on the terminal; nothing is drawn elsewhere.
///
/// A class, because it remembers what it has drawn: a transfer reports every chunk, and most change nothing
/// visible.
final class ProgressLine: Sendable {
    private let isShown = Terminal.canRedraw && !Output.isQuiet
    private let drawn = Mutex("")

    /// The longest bar.
    private static let maximumBarWidth = 24
    /// The minimum length of a bar.
    private static let shortestBar = 6

    /// Draws the line, as much of it as the terminal has columns for.
    ///
    /// - Parameter done: from 0 to 1; nil when it is not known.
    func show(_ text: String, done: Double?) {
        guard isShown else { return }
        let line = Self.line(text, done: done, columns: Terminal.columns)
        drawn.withLock { drawn in
            guard drawn != line else { return }
            drawn = line
            Self.draw(line)
        }
    }

    /// Draws the progress of a transfer. The text keeps its width, so that the bar does not move.
    func show(_ progress: TransferProgress) {
        let unit = ByteUnit(for: progress.total ?? progress.received)
        let received = unit.text(progress.received)
        guard let total = progress.total else { return show("\(received) \(unit.name)", done: nil) }
        let whole = unit.text(total)
        let padding = String(repeating: " ", count: max(0, whole.count - received.count))
        show(
            "\(padding)\(received) of \(whole) \(unit.name)", done: Double(progress.received) / Double(max(total, 1)))
    }

    /// Removes the line.
    func clear() {
        drawn.withLock { drawn in
            if !drawn.isEmpty { Self.draw("") }
            drawn = ""
        }
    }

    /// The last column stays empty, because some terminals wrap after it.
    private static func line(_ text: String, done: Double?, columns: Int) -> String {
        let text = text.clipped(to: max(0, columns - 1))
        let room = min(maximumBarWidth, columns - 1 - text.displayWidth - "[] ".count)
        guard let done, room >= shortestBar else { return text }
        let filled = Int((min(max(done, 0), 1) * Double(room)).rounded(.down))
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: room - filled)
        return "[\(bar)] \(text)"
    }

    private static func draw(_ line: String) {
        Output.draw("\r\u{1B}[K" + line)
    }
}

/// A unit in which numbers of bytes are shown to people: powers of a thousand, and never more than there is.
struct ByteUnit {
    private let size: Int64
    private let showsTenths: Bool
    let name: String

    private static let names = ["bytes", "kB", "MB", "GB", "TB", "PB", "EB"]

    /// The unit in which a number has three or four digits at most.
    init(for count: Int64) {
        var size: Int64 = 1
        var place = 0
        while count / size >= 1000, place < Self.names.count - 1 {
            size *= 1000
            place += 1
        }
        self.size = size
        name = Self.names[place]
        showsTenths = place > 0 && count / size < 100
    }

    /// A number of bytes in this unit, without its name.
    func text(_ count: Int64) -> String {
        guard showsTenths else { return "\(count / size)" }
        let tenths = count / (size / 10)
        return "\(tenths / 10).\(tenths % 10)"
    }
}
#endif
