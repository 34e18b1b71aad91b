#if CommandLine
import Foundation

/// Lengths of time and space for people.
enum Span {
    /// `under a minute`, `12 min`, `2 h 5 min`.
    static func text(_ seconds: Double) -> String {
        let minutes = Int(exactly: (seconds / 60).rounded(.down)) ?? 0
        if minutes < 1 { return "under a minute" }
        return minutes < 60 ? "\(minutes) min" : "\(minutes / 60) h \(minutes % 60) min"
    }

    /// `0.8 m`, `3 m`: a signal's strength says no more.
    static func metres(_ value: Double) -> String {
        value < 1 ? String(format: "%.1f m", value) : String(format: "%.0f m", value)
    }

    /// `-61 dBm`.
    static func decibels(_ value: Double) -> String { String(format: "%.0f dBm", value) }
}
#endif
