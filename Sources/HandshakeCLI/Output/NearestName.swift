#if CommandLine
import OAuth

/// Finds the name that a mistyped one may mean.
enum NearestName {
    /// Longer names are not compared: the work grows with the product of two lengths.
    private static let maximumLength = 80

    /// The question with the nearest name and a space, to put before other advice; empty when no name is near.
    static func question(_ name: String, among known: some Sequence<String>) -> String {
        find(name, among: known).map { "Did you mean “\(quoted($0, limit: 80))”? " } ?? ""
    }

    /// The nearest name, if at most one letter in four is another, missing, too many or swapped with its neighbour.
    static func find(_ name: String, among known: some Sequence<String>) -> String? {
        let typed = Array(name.lowercased().utf8)
        guard (1...maximumLength).contains(typed.count) else { return nil }
        return known.lazy.compactMap { candidate -> (name: String, distance: Int)? in
            let letters = Array(candidate.lowercased().utf8)
            guard letters.count <= maximumLength else { return nil }
            let distance = distance(typed, letters)
            return distance * 4 <= max(typed.count, letters.count) ? (candidate, distance) : nil
        }.min { ($0.distance, $0.name) < ($1.distance, $1.name) }?.name
    }

    /// How many letters have to be replaced, inserted, removed or swapped with their neighbour.
    private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        var (before, last) = ([Int](), Array(0...b.count))
        for i in a.indices {
            var row = [i + 1]
            for j in b.indices {
                var best = min(last[j] + (a[i] == b[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, before[j - 1] + 1) }
                row.append(best)
            }
            (before, last) = (last, row)
        }
        return last[b.count]
    }
}
#endif
