#if CommandLine
import Foundation
import OAuth

/// Columns of text, as wide as their widest cell. Cells may come from a service and are escaped.
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
    /// Local time to the second with its distance from UTC, as in `2026-11-22 09:03:12 +01:00`, or `unknown`.
    static func text(_ seconds: Double?) -> String {
        // What a calendar cannot hold came from a server or a recording.
        guard let seconds, seconds.isFinite, abs(seconds) < 250_000_000_000 else { return "unknown" }
        var time = time_t(seconds.rounded(.down))
        var parts = tm()
        guard localtime_r(&time, &parts) != nil else { return "unknown" }
        let minutes = abs(parts.tm_gmtoff) / 60
        func padded(_ number: Int, _ width: Int = 2) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let date =
            "\(padded(Int(parts.tm_year) + 1900, 4))-\(padded(Int(parts.tm_mon) + 1))-\(padded(Int(parts.tm_mday)))"
        let clock = "\(padded(Int(parts.tm_hour))):\(padded(Int(parts.tm_min))):\(padded(Int(parts.tm_sec)))"
        return "\(date) \(clock) \(parts.tm_gmtoff < 0 ? "-" : "+")\(padded(minutes / 60)):\(padded(minutes % 60))"
    }
}
#endif
