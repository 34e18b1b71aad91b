#if CommandLine
extension QRCode {
    /// The light modules that a reader needs on each side.
    private static let quietZone = 4

    /// The code for a terminal, two rows of modules a line; nil when a line or the whole is larger than the terminal.
    ///
    /// Its colors are stated, black on white, because readers do not take inverted codes and terminals are dark.
    func picture(columns: Int, rows: Int) -> String? {
        let side = size + 2 * Self.quietZone
        guard side <= columns, (side + 1) / 2 < rows else { return nil }
        let lines = stride(from: 0, to: side, by: 2).map { row in
            let cells = (0..<side).map { column -> Character in
                switch (isDark(row, column), isDark(row + 1, column)) {
                case (true, true): "█"
                case (true, false): "▀"
                case (false, true): "▄"
                case (false, false): " "
                }
            }
            return "\u{1B}[38;5;16;48;5;231m" + String(cells) + "\u{1B}[0m\n"
        }
        return lines.joined()
    }

    private func isDark(_ row: Int, _ column: Int) -> Bool {
        let (row, column) = (row - Self.quietZone, column - Self.quietZone)
        return modules.indices.contains(row) && modules.indices.contains(column) && modules[row][column]
    }
}
#endif
