/// A table of comma-separated values whose first line names the columns (RFC 4180, without line breaks inside cells).
struct CSVTable: Sendable {
    /// The names of the columns.
    let columns: [String]
    /// The cells of each further line, as many as there are columns.
    let rows: [[String]]

    /// A malformed table: the line, counted from 1, and the problem.
    struct FormatError: Error, Equatable {
        let line: Int
        let problem: String
    }

    /// Reads a table.
    ///
    /// - Parameter columns: the names that the first line must have, in their order.
    init(_ text: String, columns: [String]) throws(FormatError) {
        let lines = text.split(whereSeparator: \.isNewline).map(Self.cells)
        guard let header = lines.first, header == columns else {
            throw FormatError(line: 1, problem: "the first line must be \(columns.joined(separator: ","))")
        }
        for (index, cells) in lines.enumerated() where cells.count != header.count {
            throw FormatError(line: index + 1, problem: "\(cells.count) cells instead of \(header.count)")
        }
        self.columns = header
        rows = Array(lines.dropFirst())
    }

    private static func cells(_ line: Substring) -> [String] {
        var cells = [""]
        var isQuoted = false
        var last: Character?
        for character in line where character != "\r" {
            switch character {
            case "\"":
                // A doubled quotation mark inside quotation marks is one.
                if !isQuoted && last == "\"" { cells[cells.count - 1].append("\"") }
                isQuoted.toggle()
            case "," where !isQuoted: cells.append("")
            default: cells[cells.count - 1].append(character)
            }
            last = character
        }
        return cells
    }
}
