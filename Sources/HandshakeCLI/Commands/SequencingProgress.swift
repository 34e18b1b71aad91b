import Foundation

/// A line on the terminal that is drawn over and over; nothing at all where nobody reads along.
struct ProgressLine: Sendable {
    private let isShown = Output.isTerminal && !Output.isQuiet

    /// Draws the line.
    ///
    /// - Parameter done: from 0 to 1; nil when it is not known.
    func show(_ text: String, done: Double?) {
        guard isShown else { return }
        let width = 24
        let bar = done.map { done in
            let filled = Int((min(max(done, 0), 1) * Double(width)).rounded())
            return "[" + String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled) + "] "
        }
        draw("\r\u{1B}[K\(bar ?? "")\(text)")
    }

    /// Takes the line away.
    func clear() {
        if isShown { draw("\r\u{1B}[K") }
    }

    private func draw(_ text: String) {
        FileHandle.standardError.write(Data(text.utf8))
    }
}
