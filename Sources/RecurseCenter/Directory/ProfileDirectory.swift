public import Handshake

/// Who somebody is, answered from memory as long as that is right: for those who see many people again and again, such as
/// beacons.
///
/// * A profile counts for `lifetime`; then it is fetched anew, so that names and batches do not stay old. Somebody who is
///   gone from the service is gone from here with that (D9).
/// * However many ask for a person at once, one request is under way (D4).
/// * A failure is remembered, for longer each time: 1, 2, 4 … 60 seconds when the service cannot be asked, a minute to a day
///   when it knows nobody of this identifier (D5). Until then it is thrown again without a request.
/// * While the service cannot be asked, also because the user is signed out, an old profile is answered and says that it is
///   (RC-23).
/// * Profiles rest in a folder, one file each, that only its owner can read, and survive the process. They are one
///   account's: give each account a folder of its own.
///
/// Source: dossier 5.11, defects D4, D5 and D9.
public actor ProfileDirectory {
    /// What the directory knows of a person.
    public struct Entry: Sendable, Hashable {
        public let profile: Profile
        /// Seconds since 1970 when the service said so.
        public let fetchedAt: Double
        /// Whether it is older than the directory's lifetime, because the service could not be asked.
        public let isStale: Bool
    }

    /// A failure that is not to be repeated yet.
    private struct Setback {
        let error: RecurseCenterError
        let count: Int
        let until: Double
    }

    /// How long a profile counts.
    public nonisolated let lifetime: Duration
    /// How many people are kept; beyond it the one that was fetched longest ago goes.
    public nonisolated let capacity: Int
    /// Why the last profile could not be written to the folder; nil when it could. Lookups go on from memory.
    public private(set) var diskFailure: RecurseCenterError?

    private nonisolated let lookUp: @Sendable (PersonID) async throws -> Profile
    private nonisolated let time: TimeSource
    private nonisolated let operations = SharedOperations<PersonID, Entry>()
    private let store: ProfileStore
    private var records: [PersonID: ProfileStore.Record]
    private var setbacks: [PersonID: Setback] = [:]
    /// The lookups under way, and whether their answer is still wanted.
    private var isWanted: [PersonID: Bool] = [:]

    /// Opens a directory.
    ///
    /// - Parameters:
    ///   - folder: where profiles rest; made when it is missing. Files that cannot be read count as absent.
    ///   - lifetime: how long a profile counts; a day.
    ///   - capacity: how many people are kept; 2,000.
    ///   - time: what time it is.
    ///   - lookUp: asks the service. It throws ``RecurseCenterError/unknownPerson(_:)`` for a person that there is not.
    /// - Throws: ``RecurseCenterError/disk(path:reason:)`` when the folder cannot be used.
    public init(
        folder: String, lifetime: Duration = .seconds(86_400), capacity: Int = 2_000, time: TimeSource = .system,
        lookUp: @escaping @Sendable (PersonID) async throws -> Profile
    ) throws(RecurseCenterError) {
        let store = ProfileStore(folder: try PrivateFolder(folder))
        self.store = store
        self.lifetime = lifetime
        self.capacity = max(capacity, 1)
        self.time = time
        self.lookUp = lookUp
        records = try store.records(capacity: self.capacity)
    }

    /// Opens a directory of the people at a Recurse Center.
    ///
    /// - Parameters:
    ///   - center: whom to ask. Its retries should be few: the directory has pauses of its own.
    ///   - folder: where profiles rest; made when it is missing.
    /// - Throws: ``RecurseCenterError/disk(path:reason:)``.
    public init(_ center: RecurseCenter, folder: String) throws(RecurseCenterError) {
        try self.init(folder: folder, time: center.time) { try await center.profile(.id($0)) }
    }

    /// Who the person is: from memory while that counts, else from the service.
    ///
    /// - Throws: ``RecurseCenterError/unknownPerson(_:)`` when there is nobody of this identifier; any other
    ///   ``RecurseCenterError`` when the service could not be asked and nothing is known; `CancellationError`.
    public func entry(_ id: PersonID) async throws -> Entry {
        if let answer = try answerFromMemory(id) { return answer }
        return try await operations.join(id) { try await self.fetch(id) }
    }

    /// What is known of a person, however old, without asking anyone.
    public func known(_ id: PersonID) -> Entry? {
        records[id].map(entry)
    }

    /// Everyone who is known, by identifier, without asking anyone.
    public func everyone() -> [Entry] {
        records.values.map(entry).sorted { $0.profile.id < $1.profile.id }
    }

    /// Forgets a person: here, in the folder, and whatever a lookup under way will find.
    ///
    /// - Throws: ``RecurseCenterError/disk(path:reason:)`` when the file cannot be removed. The person is forgotten here all
    ///   the same.
    public func forget(_ id: PersonID) throws(RecurseCenterError) {
        if isWanted[id] != nil { isWanted[id] = false }
        setbacks[id] = nil
        records[id] = nil
        try store.remove(id)
    }

    /// Lets failed lookups be tried again at once, as after a sign-in or when the network is back.
    public func forgetFailures() {
        setbacks = [:]
    }

    private func answerFromMemory(_ id: PersonID) throws(RecurseCenterError) -> Entry? {
        let record = records[id]
        if let record, isFresh(record) { return entry(record) }
        guard let setback = setbacks[id], time.now() < setback.until else { return nil }
        if let record { return entry(record) }
        throw setback.error
    }

    private func fetch(_ id: PersonID) async throws -> Entry {
        if let answer = try answerFromMemory(id) { return answer }
        isWanted[id] = true
        do {
            let profile = try await lookUp(id)
            let record = ProfileStore.Record(profile: profile, fetchedAt: time.now())
            if isWanted.removeValue(forKey: id) == true { keep(record, of: id) }
            return entry(record)
        } catch {
            let isWanted = isWanted.removeValue(forKey: id) == true
            guard let failure = RecurseCenterError.placing(error) as? RecurseCenterError else { throw error }
            guard isWanted else { throw failure }
            return try conclude(failure, of: id)
        }
    }

    /// Remembers a failure, and answers with what is known where that may still be right.
    private func conclude(_ failure: RecurseCenterError, of id: PersonID) throws(RecurseCenterError) -> Entry {
        let count = setbacks[id]?.count ?? 0
        var isGone = false
        if case .unknownPerson = failure { isGone = true }
        let first = isGone ? 60.0 : 1.0
        let longest = isGone ? 86_400.0 : 60.0
        let pause = (0..<min(count, 32)).reduce(first) { pause, _ in min(pause * 2, longest) }
        if setbacks.count >= capacity, let soonest = setbacks.min(by: { $0.value.until < $1.value.until })?.key {
            setbacks[soonest] = nil
        }
        setbacks[id] = Setback(error: failure, count: count + 1, until: time.now() + pause)
        if isGone {
            records[id] = nil
            noting { () throws(RecurseCenterError) in try store.remove(id) }
        }
        guard let record = records[id] else { throw failure }
        return entry(record)
    }

    private func keep(_ record: ProfileStore.Record, of id: PersonID) {
        setbacks[id] = nil
        records[id] = record
        noting { () throws(RecurseCenterError) in try store.write(record, of: id) }
        while records.count > capacity, let oldest = records.min(by: { $0.value.fetchedAt < $1.value.fetchedAt })?.key {
            records[oldest] = nil
            noting { () throws(RecurseCenterError) in try store.remove(oldest) }
        }
    }

    private func noting(_ body: () throws(RecurseCenterError) -> Void) {
        do {
            try body()
            diskFailure = nil
        } catch {
            diskFailure = error
        }
    }

    private func entry(_ record: ProfileStore.Record) -> Entry {
        Entry(profile: record.profile, fetchedAt: record.fetchedAt, isStale: !isFresh(record))
    }

    /// A time in the future is a clock that was set back: such a profile is fetched anew.
    private func isFresh(_ record: ProfileStore.Record) -> Bool {
        (0..<lifetime / .seconds(1)).contains(time.now() - record.fetchedAt)
    }
}
