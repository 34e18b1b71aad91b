#if Server
import HTTPTypes
import Synchronization

/// How often a user may do something: a burst, and one more after each interval.
///
/// Counted in this process, for at most 4096 names at a time; of more, those who have waited longest are forgotten,
/// who had most of their room back.
///
/// A class, since requests count together.
final class RateLimit: Sendable {
    private static let most = 4096

    private struct Bucket {
        /// What is left, as of `at`.
        var room: Double
        var at: Double
    }

    private let burst: Double
    private let interval: Double
    private let buckets = Mutex<[String: Bucket]>([:])

    init(_ rate: Rate) {
        burst = Double(rate.burst)
        interval = rate.interval / .seconds(1)
    }

    /// Takes room for one, or refuses.
    ///
    /// - Throws: 429 with when to come back.
    func check(_ name: String, now: Double) throws(RequestRefusal) {
        guard let seconds = take(name, now: now) else { return }
        throw RequestRefusal(.tooManyRequests, "too_many", "Try again later", retryAfter: seconds)
    }

    /// Takes room for one.
    ///
    /// - Parameters:
    ///   - name: who.
    ///   - now: seconds since 1970.
    /// - Returns: seconds to wait when there is no room; nil when there was.
    func take(_ name: String, now: Double) -> Int? {
        buckets.withLock { buckets in
            var bucket = buckets[name] ?? Bucket(room: burst, at: now)
            // A clock that was set back gives nothing and takes nothing.
            bucket.room = min(burst, bucket.room + max(now - bucket.at, 0) / interval)
            bucket.at = now
            defer {
                buckets[name] = bucket
                if buckets.count > Self.most { Self.forgetHalf(&buckets) }
            }
            guard bucket.room >= 1 else { return Int(((1 - bucket.room) * interval).rounded(.up)) }
            bucket.room -= 1
            return nil
        }
    }

    private static func forgetHalf(_ buckets: inout [String: Bucket]) {
        let kept = buckets.sorted { $0.value.at > $1.value.at }.prefix(most / 2)
        buckets = Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.value) })
    }
}
#endif
