package import Beacons
import Foundation
import OAuth

/// Exports of the encounter log for other programs.
extension PersonHistory {
    /// Comma-separated values (RFC 4180): a header, then one line per encounter. Lines end with CR LF.
    ///
    /// Columns: `person`, `name`, `batch`, `first_seen` and `last_seen` (ISO 8601, UTC), `duration_seconds`,
    /// `closest_metres`, `proximity`, `strongest_dbm` (empty when unknown), `announced`, `trust` (`unverified`, `circle`, `file`,
    /// `paired`, or empty when unknown; earlier versions wrote `paired` of keys from a file too). Any device can send a number
    /// that is unverified. Without `closest_metres` the proximity is rough: it follows from the signal. Names come from other
    /// people: a text that a spreadsheet would read as a formula is prefixed with an apostrophe, and terminal control characters
    /// are replaced.
    public static func csv(_ people: [PersonHistory]) -> String {
        let rows = encounters(of: people).map { history, encounter in
            [
                history.person.description, harmless(history.known?.name ?? ""),
                harmless(history.known?.batch ?? ""), utc(encounter.firstSeen), utc(encounter.lastSeen),
                String(wholeSeconds(encounter.duration)), encounter.closest.map(metres) ?? "",
                encounter.proximity == .unknown ? "" : encounter.proximity.word,
                encounter.strongest.map { String(wholeSeconds($0)) } ?? "", encounter.wasAnnounced ? "true" : "false",
                encounter.trust?.word ?? "",
            ]
        }
        return ([Member.allCases.map(\.rawValue)] + rows).map { $0.map(cell).joined(separator: ",") + "\r\n" }.joined()
    }

    /// JSON Lines: one object per encounter. Its members are the columns of ``csv(_:)``; unknown values are null.
    /// Control characters are escaped (RFC 8259, section 7).
    ///
    /// - Throws: `EncodingError` for an encounter with an infinite number or NaN, which the log never stores.
    public static func json(_ people: [PersonHistory]) throws -> [String] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encounters(of: people).map { history, encounter in
            escaped(String(decoding: try encoder.encode(Line(history: history, encounter: encounter)), as: UTF8.self))
        }
    }

    private struct Line: Encodable {
        let history: PersonHistory
        let encounter: Encounter

        func encode(to encoder: any Encoder) throws {
            var members = encoder.container(keyedBy: Member.self)
            try members.encode(history.person.value, forKey: .person)
            try members.encode(history.known?.name, forKey: .name)
            try members.encode(history.known?.batch, forKey: .batch)
            try members.encode(utc(encounter.firstSeen), forKey: .firstSeen)
            try members.encode(utc(encounter.lastSeen), forKey: .lastSeen)
            try members.encode(wholeSeconds(encounter.duration), forKey: .duration)
            try members.encode(encounter.closest, forKey: .closest)
            try members.encode(encounter.proximity == .unknown ? nil : encounter.proximity.word, forKey: .proximity)
            try members.encode(encounter.strongest?.rounded(), forKey: .strongest)
            try members.encode(encounter.wasAnnounced, forKey: .announced)
            try members.encode(encounter.trust?.word, forKey: .trust)
        }
    }

    private enum Member: String, CodingKey, CaseIterable {
        case person, name, batch
        case firstSeen = "first_seen"
        case lastSeen = "last_seen"
        case duration = "duration_seconds"
        case closest = "closest_metres"
        case proximity
        case strongest = "strongest_dbm"
        case announced, trust
    }

    private static func encounters(of people: [PersonHistory]) -> [(PersonHistory, Encounter)] {
        people.flatMap { history in history.encounters.map { (history, $0) } }
            .sorted { ($0.1.lastSeen, $1.0.person) > ($1.1.lastSeen, $0.0.person) }
    }

    private static func cell(_ text: String) -> String {
        guard text.contains(where: { "\",\r\n".contains($0) || $0.isNewline }) else { return text }
        return "\"" + text.replacingOccurrences(of: "\"", with: "\"\"") + "\""
    }

    /// Escapes control and format characters, which the encoder writes inside strings only.
    private static func escaped(_ json: String) -> String {
        var output = ""
        for scalar in json.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                output += scalar.utf16.map { String(format: "\\u%04x", $0) }.joined()
            default: output.unicodeScalars.append(scalar)
            }
        }
        return output
    }

    private static func harmless(_ name: String) -> String {
        let text = name.split(separator: "\n", omittingEmptySubsequences: false)
            .map { quoted(String($0), limit: .max) }.joined(separator: "\n")
        guard let first = text.unicodeScalars.first, "=+-@\t\r＝＋－＠".unicodeScalars.contains(first) else { return text }
        return "'" + text
    }

    private static func metres(_ value: Double) -> String {
        String(format: "%.1f", value)
    }

    private static func wholeSeconds(_ value: Double) -> Int64 {
        Int64(exactly: value.rounded()) ?? 0
    }

    private static func utc(_ time: Double) -> String {
        Date(timeIntervalSince1970: time).formatted(.iso8601)
    }
}

extension Proximity {
    /// Whether it is a guess: the sender stated no power, so that no distance is known.
    func isRough(at distance: Double?) -> Bool { distance == nil && self != .unknown }

    /// In words for people; nil when unknown.
    ///
    /// - Parameter isRough: whether a usual power was assumed of the sender, which the words then say.
    package func phrase(isRough: Bool) -> String? {
        let words: String
        switch self {
        case .unknown: return nil
        case .immediate: words = "right here"
        case .near: words = "a few metres away"
        case .far: words = "farther away"
        }
        return isRough ? words + " (rough)" : words
    }

    /// A stable word for programs.
    package var word: String {
        switch self {
        case .unknown: "unknown"
        case .immediate: "immediate"
        case .near: "near"
        case .far: "far"
        }
    }
}
