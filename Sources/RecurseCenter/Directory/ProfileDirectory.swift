import AsyncSupport
public import Handshake

/// A cache of profiles in memory and in a vault. For callers that see the same people often, such as beacon scanners.
///
/// * A profile is fresh for `lifetime`, then it is fetched again. A person who has left the service is removed (D9).
/// * Concurrent look-ups of a person share one request (D4).
/// * A failure is cached with growing pauses: 1, 2, 4 … 60 seconds when the service is unreachable, a minute to a day when
///   the person does not exist (D5). During the pause the failure is thrown without a request.
/// * While the service is unreachable or the user is signed out, a stale profile is returned and marked as stale (RC-23).
/// * Profiles are encrypted records of the vault, one for each person, under the account that may read them.
///
/// Source: dossier 5.11, defects D4, D5 and D9.
public actor ProfileDirectory {
    /// A cached profile.
    public struct Entry: Sendable, Hashable {
        public let profile: Profile
        /// The time of the fetch, in seconds since 1970.
        public let fetchedAt: Double
        /// Whether the profile is older than the directory's lifetime. It is returned because the service could not be
        /// reached.
        public let isStale: Bool
    }

    /// A cached failure.
    private struct Failure {
        let error: RecurseCenterError
        let count: Int
        let until: Double
    }

    /// How long a profile is fresh.
    public nonisolated let lifetime: Duration
    /// The maximum number of profiles. Beyond it the one fetched longest ago is removed.
    public nonisolated let capacity: Int
    /// The error of the last write to the vault; nil when it succeeded. Look-ups continue from memory.
    public private(set) var vaultFailure: VaultError?

    private nonisolated let lookUp: @Sendable (PersonID) async throws -> Profile
    private nonisolated let time: TimeSource
    private nonisolated let operations = SharedOperations<PersonID, Entry>()
    private let store: ProfileStore
    private var records: [PersonID: ProfileStore.Record] = [:]
    /// What was in the vault at the first use; reading it is shared by all callers.
    private var loading: Task<[PersonID: ProfileStore.Record], Never>?
    private var isLoaded = false
    private var failures: [PersonID: Failure] = [:]
    /// The look-ups in progress, and whether their results may be stored.
    private var isWanted: [PersonID: Bool] = [:]

    /// Creates a directory. The vault is read at the first use.
    ///
    /// - Parameters:
    ///   - vault: where profiles are stored. Records that cannot be read are fetched again.
    ///   - community: the namespace of the identifiers, such as `recurse-center`.
    ///   - account: the account whose user sees these profiles: each account has its own.
    ///   - lifetime: how long a profile is fresh; a day.
    ///   - capacity: the maximum number of profiles; 2,000.
    ///   - time: the current time.
    ///   - lookUp: fetches a profile. It throws ``RecurseCenterError/unknownPerson(_:)`` when the person does not exist.
    public init(
        in vault: any Vault, community: String, account: String, lifetime: Duration = .seconds(86_400),
        capacity: Int = 2_000, time: TimeSource = .system,
        lookUp: @escaping @Sendable (PersonID) async throws -> Profile
    ) {
        store = ProfileStore(vault: vault, community: community, account: account)
        self.lifetime = lifetime
        self.capacity = max(capacity, 1)
        self.time = time
        self.lookUp = lookUp
    }

    /// Creates a directory that fetches from a Recurse Center.
    ///
    /// - Parameters:
    ///   - center: fetches profiles. It should retry little: the directory has its own pauses.
    ///   - vault: where profiles are stored.
    public init(_ center: RecurseCenter, in vault: any Vault) {
        let id = center.account.id
        self.init(in: vault, community: id.service, account: id.name, time: center.time) {
            try await center.profile(.id($0))
        }
    }

    /// A person's profile: from the cache while fresh, otherwise from the service.
    ///
    /// - Throws: ``RecurseCenterError/unknownPerson(_:)`` when the person does not exist; another
    ///   ``RecurseCenterError`` when the service could not be reached and nothing is cached; `CancellationError`.
    public func entry(_ id: PersonID) async throws -> Entry {
        await load()
        if let answer = try answerFromMemory(id) { return answer }
        return try await operations.join(id) { try await self.fetch(id) }
    }

    /// The cached profile of a person, fresh or stale, without a request.
    public func known(_ id: PersonID) async -> Entry? {
        await load()
        return records[id].map(entry)
    }

    /// All cached profiles, sorted by identifier, without a request.
    public func everyone() async -> [Entry] {
        await load()
        return records.values.map(entry).sorted { $0.profile.id < $1.profile.id }
    }

    /// Removes a person from memory and vault. It discards the result of a look-up in progress.
    ///
    /// - Returns: whether there was a record.
    /// - Throws: ``RecurseCenterError/account(_:)`` when the vault cannot be written. The person is removed from memory all
    ///   the same.
    @discardableResult
    public func forget(_ id: PersonID) async throws -> Bool {
        await load()
        if isWanted[id] != nil { isWanted[id] = false }
        failures[id] = nil
        records[id] = nil
        return try await RecurseCenterError.placingVault { try await store.remove(id) }
    }

    /// Reads the vault once.
    private func load() async {
        guard !isLoaded else { return }
        let task = loading ?? Task { [store, capacity] in await store.records(capacity: capacity) }
        loading = task
        let stored = await task.value
        guard !isLoaded else { return }
        isLoaded = true
        loading = nil
        records = stored
    }

    private func answerFromMemory(_ id: PersonID) throws(RecurseCenterError) -> Entry? {
        let record = records[id]
        if let record, isFresh(record) { return entry(record) }
        guard let cached = failures[id], time.now() < cached.until else { return nil }
        if let record { return entry(record) }
        throw cached.error
    }

    private func fetch(_ id: PersonID) async throws -> Entry {
        if let answer = try answerFromMemory(id) { return answer }
        isWanted[id] = true
        do {
            let profile = try await lookUp(id)
            let record = ProfileStore.Record(profile: profile, fetchedAt: time.now())
            if isWanted[id] == true { await keep(record, of: id) }
            isWanted[id] = nil
            return entry(record)
        } catch {
            let isWanted = isWanted.removeValue(forKey: id) == true
            guard let failure = RecurseCenterError.placing(error) as? RecurseCenterError else { throw error }
            guard isWanted else { throw failure }
            return try await conclude(failure, of: id)
        }
    }

    /// Caches a failure, and returns the stale profile if there is one.
    private func conclude(_ failure: RecurseCenterError, of id: PersonID) async throws(RecurseCenterError) -> Entry {
        let count = (failures[id]?.count ?? 0) + 1
        var isGone = false
        if case .unknownPerson = failure { isGone = true }
        let backOff: BackOff =
            isGone
            ? .init(first: .seconds(60), longest: .seconds(86_400)) : .init(first: .seconds(1), longest: .seconds(60))
        let pause = backOff.pause(afterFailures: count) / .seconds(1)
        if failures.count >= capacity, let soonest = failures.min(by: { $0.value.until < $1.value.until })?.key {
            failures[soonest] = nil
        }
        failures[id] = Failure(error: failure, count: count, until: time.now() + pause)
        if isGone {
            records[id] = nil
            await noting { try await store.remove(id) }
        }
        guard let record = records[id] else { throw failure }
        return entry(record)
    }

    private func keep(_ record: ProfileStore.Record, of id: PersonID) async {
        failures[id] = nil
        records[id] = record
        await noting { try await store.write(record, of: id) }
        // Forgotten while it was being written.
        if isWanted[id] == false { await noting { try await store.remove(id) } }
        while records.count > capacity, let oldest = records.min(by: { $0.value.fetchedAt < $1.value.fetchedAt })?.key {
            records[oldest] = nil
            await noting { try await store.remove(oldest) }
        }
    }

    private func noting(_ body: () async throws -> Void) async {
        do {
            try await body()
            vaultFailure = nil
        } catch let error as VaultError {
            vaultFailure = error
        } catch {
            // Cancelled: the record is written at the next look-up.
        }
    }

    private func entry(_ record: ProfileStore.Record) -> Entry {
        Entry(profile: record.profile, fetchedAt: record.fetchedAt, isStale: !isFresh(record))
    }

    /// A profile from the future is not fresh: the clock was set back.
    private func isFresh(_ record: ProfileStore.Record) -> Bool {
        (0..<lifetime / .seconds(1)).contains(time.now() - record.fetchedAt)
    }
}
