/// Reads `Accept-Language` (RFC 9110, section 12.5.4).
package enum AcceptLanguage {
    /// The language ranges that the header accepts, the best first. At most its first 32 are read.
    package static func preferences(in header: String?) -> [String] {
        let ranges = (header ?? "").prefix(2000).split(separator: ",").prefix(32).map { range in
            let parts = range.split(separator: ";").map { $0.filter { !$0.isWhitespace } }
            let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            return (tag: parts.first ?? "", quality: quality)
        }
        // Makes the sort stable: of equal qualities, the first is preferred.
        let sorted = ranges.enumerated().filter { $0.element.quality > 0 }.sorted {
            ($1.element.quality, $0.offset) < ($0.element.quality, $1.offset)
        }
        return sorted.map(\.element.tag)
    }
}
