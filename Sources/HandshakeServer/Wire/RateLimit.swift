#if Server
import HTTPTypes
import Synchronization

/// Limits how often a user may do something (token buckets).
///
/// Counts in this process, for at most 4096 keys; beyond that, the keys that have been idle for longest are dropped,
/// whose buckets are nearly full again.
///
/// A class, because requests share the count.
final class RateLimit: Sendable {
    private static let capacity = 4096

    private struct Bucket {
        /// The tokens left at the time of `updated`.
        var tokens: Double
        /// Seconds since 1970.
        var updated: Double
    }

    private let burst: Double
    private let interval: Double
    /// By the bytes of the name: equivalent spellings are other users.
    private let buckets = Mutex<[[UInt8]: Bucket]>([:])

    init(_ rate: Rate) {
        burst = Double(rate.burst)
        interval = rate.interval / .seconds(1)
    }

    /// Takes a token, or throws.
    ///
    /// - Throws: 429 with `Retry-After`.
    func check(_ name: String, now: Double) throws(RequestRefusal) {
        guard let seconds = take(name, now: now) else { return }
        throw RequestRefusal(.tooManyRequests, "too_many", "Try again later", retryAfter: seconds)
    }

    /// Takes a token.
    ///
    /// - Parameters:
    ///   - name: the user or address that the limit applies to.
    ///   - now: seconds since 1970.
    /// - Returns: seconds to wait when there is no token; nil when one was taken.
    func take(_ name: String, now: Double) -> Int? {
        let key = Array(name.utf8)
        return buckets.withLock { buckets in
            var bucket = buckets[key] ?? Bucket(tokens: burst, updated: now)
            // A clock that was set back adds no tokens.
            bucket.tokens = min(burst, bucket.tokens + max(now - bucket.updated, 0) / interval)
            bucket.updated = now
            defer {
                buckets[key] = bucket
                if buckets.count > Self.capacity { Self.forgetHalf(&buckets) }
            }
            guard bucket.tokens >= 1 else { return Int(((1 - bucket.tokens) * interval).rounded(.up)) }
            bucket.tokens -= 1
            return nil
        }
    }

    /// Gives a token back, for a request that turned out to be legitimate.
    func giveBack(_ name: String) {
        let key = Array(name.utf8)
        buckets.withLock { buckets in
            guard let bucket = buckets[key] else { return }
            buckets[key]?.tokens = min(burst, bucket.tokens + 1)
        }
    }

    private static func forgetHalf(_ buckets: inout [[UInt8]: Bucket]) {
        let kept = buckets.sorted { $0.value.updated > $1.value.updated }.prefix(capacity / 2)
        buckets = Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.value) })
    }
}
#endif
