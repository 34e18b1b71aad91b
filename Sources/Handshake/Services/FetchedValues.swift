import OAuth
import Synchronization

/// Values fetched from servers, cached with an age; concurrent callers share one fetch.
///
/// At most ``maximumCount`` keys are cached: the one fetched longest ago gives way to a new one (`any-server.md` 9).
///
/// A class, because all accounts share the cache.
final class FetchedValues<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// A fetched value; `version` grows with each fetch of any key.
    struct Entry: Sendable {
        let value: Value
        let version: Int
        fileprivate let fetchedAt: Double
        fileprivate var refetchedAt: Double?
    }

    /// How long values are used, in seconds.
    struct Ages: Sendable {
        /// A value is fetched again when it is older than this.
        let maximum: Double
        /// When a fetch fails, the cached value is used until it is older than this.
        let maximumStale: Double
        /// ``FetchedValues/newer(than:of:now:_:)`` fetches at most once in this time, also when the fetch fails.
        let coolingPeriod: Double
        /// Any other failed fetch is not repeated within this time.
        static var failurePause: Double { 10 }
    }

    private struct Failure {
        let error: HandshakeError
        let time: Double
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var failures: [Key: Failure] = [:]
        /// How many fetches have succeeded. A key that was forgotten between two of them has a newer value all the same.
        var fetches = 0

        /// Caches a fetched value, and forgets the one that was fetched longest ago where there are too many.
        mutating func add(_ entry: Entry, for key: Key) {
            entries[key] = entry
            failures[key] = nil
            guard entries.count > FetchedValues.maximumCount else { return }
            guard let oldest = entries.min(by: { $0.value.version < $1.value.version })?.key else { return }
            entries[oldest] = nil
            failures[oldest] = nil
        }
    }

    /// The maximum number of keys with a cached value: issuers, or addresses of key sets.
    static var maximumCount: Int { 64 }

    private let ages: Ages
    private let state = Mutex(State())
    private let fetches = SharedOperations<Key, Entry>()

    init(_ ages: Ages) {
        self.ages = ages
    }

    /// The cached value, or a fetched one when there is none or it is too old.
    ///
    /// - Throws: what `fetch` throws, unless a stale value can be used. A stale value is never used after a refusal.
    func value(
        _ key: Key, now: Double, _ fetch: @escaping @Sendable () async throws -> Value
    ) async throws -> Entry {
        if let entry = cached(key, now: now, within: ages.maximum) { return entry }
        do {
            return try await fetches.join(key) { [self] in
                if let entry = cached(key, now: now, within: ages.maximum) { return entry }
                return try await fetched(key, now: now, fetch)
            }
        } catch HandshakeError.exchange(.refused(let refusal)) {
            throw HandshakeError.exchange(.refused(refusal))
        } catch let error as HandshakeError {
            guard let stale = cached(key, now: now, within: ages.maximumStale) else { throw error }
            return stale
        }
    }

    /// A value that was fetched after `seen`; nil when the cooling period since the last such fetch is not over.
    ///
    /// - Throws: what `fetch` throws, now or when it failed within the cooling period.
    func newer(
        than seen: Entry, of key: Key, now: Double, _ fetch: @escaping @Sendable () async throws -> Value
    ) async throws -> Entry? {
        // Without a fetch there is no task either: an attacker can send tokens that name an unknown key.
        var entry = try settled(since: seen, of: key, now: now)
        if entry == nil {
            entry = try await fetches.join(key) { [self] in
                if let entry = try settled(since: seen, of: key, now: now) { return entry }
                return try await fetched(key, now: now, isRefetch: true, fetch)
            }
        }
        return entry.flatMap { $0.version > seen.version ? $0 : nil }
    }

    /// The cached value when it is newer than `seen`, or when the cooling period forbids a fetch.
    ///
    /// - Throws: why the last fetch failed, when the cooling period forbids another one.
    private func settled(since seen: Entry, of key: Key, now: Double) throws(HandshakeError) -> Entry? {
        let (cached, failure) = state.withLock { ($0.entries[key], $0.failures[key]) }
        let entry = cached ?? seen
        guard entry.version == seen.version else { return entry }
        let isCooling = entry.refetchedAt.map { isWithin(ages.coolingPeriod, since: $0, now: now) } ?? false
        guard isCooling else { return nil }
        if let failure { throw failure.error }
        return entry
    }

    private func cached(_ key: Key, now: Double, within age: Double) -> Entry? {
        state.withLock { $0.entries[key] }.flatMap { isWithin(age, since: $0.fetchedAt, now: now) ? $0 : nil }
    }

    /// False also when the clock was set back behind `time`.
    private func isWithin(_ seconds: Double, since time: Double, now: Double) -> Bool {
        (0..<seconds).contains(now - time)
    }

    private func fetched(
        _ key: Key, now: Double, isRefetch: Bool = false, _ fetch: @Sendable () async throws -> Value
    ) async throws -> Entry {
        if let failure = state.withLock({ $0.failures[key] }),
            isWithin(Ages.failurePause, since: failure.time, now: now)
        {
            throw failure.error
        }
        do {
            let value = try await fetch()
            return state.withLock { state in
                state.fetches += 1
                let entry = Entry(
                    value: value, version: state.fetches, fetchedAt: now,
                    refetchedAt: isRefetch ? now : state.entries[key]?.refetchedAt)
                state.add(entry, for: key)
                return entry
            }
        } catch let error as HandshakeError {
            // Only where there is a cached value to use meanwhile. After a failed first fetch the next caller tries again.
            state.withLock { state in
                if state.entries[key] != nil { state.failures[key] = Failure(error: error, time: now) }
                if isRefetch { state.entries[key]?.refetchedAt = now }
            }
            throw error
        }
    }
}
