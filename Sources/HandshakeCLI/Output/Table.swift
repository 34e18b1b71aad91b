import Foundation
import OAuth

/// Columns of text, as wide as their widest cell. Cells may come from a service: they are made harmless first.
enum Table {
    static func lines(_ rows: [[String]]) -> [String] {
        let cells = rows.map { $0.map { quoted($0, limit: 200) } }
        let count = cells.map(\.count).max() ?? 0
        let widths = (0..<count).map { column in
            cells.map { column < $0.count ? $0[column].displayWidth : 0 }.max() ?? 0
        }
        return cells.map { row in
            let padded = row.enumerated().map { index, cell in
                index == row.count - 1 ? cell : cell.padded(to: widths[index])
            }
            return padded.joined(separator: "  ")
        }
    }
}

/// Points in time for people.
enum Moment {
    /// Local time to the second, or `unknown`.
    static func text(_ seconds: Double?) -> String {
        guard let seconds else { return "unknown" }
        return Date(timeIntervalSince1970: seconds).formatted(.iso8601)
    }
}
