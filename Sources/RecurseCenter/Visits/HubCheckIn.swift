public import Geofences
public import Handshake
import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Checks the user in when they enter the fence around the hub. There is one visit a day (New York time).
///
/// Nothing is sent, and no day is stored, before ``agree()``. A day is stored in the vault before it is sent, and sent
/// again at the next chance after a failure: with the next entry, with ``retry()`` and ``retryIfDue()``, and after a restart. A day
/// that was sent is not sent again, so a visit that the user removed stays removed. Days are given up after a week.
///
/// ```swift
/// for event in monitor.receive(fix).events { try await checkIn.receive(event) }
/// try await checkIn.retryIfDue()
/// ```
///
/// An actor, because entries and retries come concurrently and send a day once.
public actor HubCheckIn {
    /// The identifier of the fence: `Geofence/id`.
    public nonisolated let fence: String

    private let center: RecurseCenter
    private let vault: any Vault
    private let key: VaultKey
    /// Days whose requests have not been answered yet.
    private var inFlight: Set<CalendarDate> = []
    /// When days that wait were looked for last, in seconds since 1970.
    private var lastTry: Double?

    /// How long ``retryIfDue()`` waits after the last try, in seconds; nil where that did not fail.
    private var pause: Double?

    private static let shortestPause = 60.0
    /// The longest pause where the next try may succeed, unless the service asks for more.
    private static let maximumPause = 900.0
    /// The pause after the service has refused every day that waits: it will refuse it in a minute too.
    private static let refusedPause = 21_600.0

    /// How many days a visit is tried, and remembered when it was sent.
    private static let lifetime = 7

    /// - Parameters:
    ///   - center: the Recurse Center, for the user to check in.
    ///   - fence: the identifier of the hub's region.
    ///   - vault: holds the user's consent and the days. It must be readable while the device is locked.
    public init(_ center: RecurseCenter, fence: String = "hub", vault: any Vault) {
        self.center = center
        self.fence = fence
        self.vault = vault
        key = Self.key(center.account.id.name)
    }

    /// The record of an account's consent and days.
    package static func key(_ account: String) -> VaultKey { VaultKey(.places, [account, "hub visits"]) }

    /// Remembers that the user agrees to be checked in, by fetching who they are.
    ///
    /// - Throws: ``RecurseCenterError``, `CancellationError`.
    public func agree() async throws {
        let person = try await center.profile(.me).id
        try await change { record in
            if record?.person != person { record = Record(person: person) }
        }
    }

    /// Forgets consent and days. Call it also when the user signs out.
    ///
    /// - Throws: ``RecurseCenterError/account(_:)`` when the vault cannot be written; `CancellationError`.
    public func withdraw() async throws {
        try await change { $0 = nil }
    }

    /// Whether the user has agreed.
    ///
    /// - Throws: ``RecurseCenterError/account(_:)`` when the vault cannot be read.
    public var hasConsent: Bool {
        get async throws { try await stored() != nil }
    }

    /// The days that wait for the next chance, in order.
    ///
    /// - Throws: ``RecurseCenterError/account(_:)`` when the vault cannot be read.
    public var waiting: [CalendarDate] {
        get async throws {
            let today = center.today
            return try await (stored()?.waiting ?? []).filter { !Self.isOver($0, today) }.sorted()
        }
    }

    /// Takes an event of a monitor. An entry into the fence checks in, others do nothing.
    ///
    /// - Returns: the visits that were created.
    /// - Throws: as ``entered(at:)``.
    @discardableResult
    public func receive(_ event: GeofenceEvent) async throws -> [HubVisit] {
        guard event.kind == .enter, event.region == fence else { return [] }
        return try await entered(at: event.since.timeIntervalSince1970)
    }

    /// Checks in for the day of an entry into the fence, and for days that wait.
    ///
    /// - Parameter seconds: when the fence was entered, since 1970. An entry of the future, or of more than a week ago, does nothing.
    /// - Returns: the visits that were created; none without the user's consent or when the day was sent already.
    /// - Throws: ``RecurseCenterError``, `CancellationError`. Where the service could not be asked, the day waits.
    @discardableResult
    public func entered(at seconds: Double) async throws -> [HubVisit] {
        let (day, today) = (CalendarDate(inNewYorkAt: seconds), center.today)
        guard seconds.isFinite, day <= today, !Self.isOver(day, today) else { return [] }
        try await change { record in
            guard record?.sent.contains(day) == false else { return }
            record?.waiting.insert(day)
            record?.forget(before: today)
        }
        return try await retry()
    }

    /// Checks in for the days that wait. Call it when the app becomes active or the network returns.
    ///
    /// - Returns: the visits that were created.
    /// - Throws: ``RecurseCenterError`` of the first day that failed, after the others were tried; `CancellationError`.
    @discardableResult
    public func retry() async throws -> [HubVisit] {
        lastTry = center.time.now()
        guard let record = try await stored() else { return [] }
        var visits: [HubVisit] = []
        var failures: [RecurseCenterError] = []
        for day in record.waiting.sorted() where !Self.isOver(day, center.today) {
            // Consent may have been withdrawn, or another process may have sent the day, while the day before was sent.
            guard let now = try await stored(), now.person == record.person, now.waiting.contains(day),
                inFlight.insert(day).inserted
            else { continue }
            defer { inFlight.remove(day) }
            do { visits.append(try await center.checkIn(record.person, on: day)) } catch let error as RecurseCenterError
            {
                failures.append(error)
                continue
            }
            let today = center.today
            try await change { record in
                record?.waiting.remove(day)
                record?.sent.insert(day)
                record?.forget(before: today)
            }
        }
        pause = Self.pause(after: failures, earlier: pause)
        if let failure = failures.first { throw failure }
        return visits
    }

    private static func pause(after failures: [RecurseCenterError], earlier: Double?) -> Double? {
        guard !failures.isEmpty else { return nil }
        guard failures.contains(where: { $0.mayPass }) else { return refusedPause }
        var pause = shortestPause
        if let earlier, earlier <= maximumPause { pause = min(earlier * 2, maximumPause) }
        for case .tooManyRequests(let wait?) in failures { pause = max(pause, wait / .seconds(1)) }
        return pause
    }

    /// Checks in for the days that wait, unless that was tried too lately.
    ///
    /// That is within a minute; after several failures within up to 15 minutes, or what the service has asked for; and where it
    /// has refused the visits, within six hours.
    ///
    /// Call it with each position: a network that comes back does not say so, and the next entry is tomorrow's.
    ///
    /// - Returns: the visits that were created.
    /// - Throws: as ``retry()``.
    @discardableResult
    public func retryIfDue() async throws -> [HubVisit] {
        let now = center.time.now()
        // A clock that was set back puts nothing off.
        if let lastTry, now >= lastTry, now - lastTry < pause ?? Self.shortestPause { return [] }
        return try await retry()
    }

    private static func isOver(_ day: CalendarDate, _ today: CalendarDate) -> Bool {
        today.daysSince1970 - day.daysSince1970 > lifetime
    }

    private func stored() async throws -> Record? {
        do { return try await vault.record(key).flatMap { Record($0) } } catch {
            throw RecurseCenterError.inVault(error)
        }
    }

    private func change(_ body: @Sendable (inout Record?) -> Void) async throws {
        do {
            try await vault.update(key) { locked in
                let contents = await locked.contents
                let before = contents.flatMap { Record($0) }
                var record = before
                body(&record)
                guard record != before || record == nil && contents != nil else { return }
                guard let record else { return try await locked.remove() }
                try await locked.replace(with: record.bytes)
            }
        } catch { throw RecurseCenterError.inVault(error) }
    }

    /// Who agreed, and which days wait or were sent. What was not written by this version counts as no consent.
    private struct Record: Sendable, Hashable {
        let person: PersonID
        var waiting: Set<CalendarDate> = []
        var sent: Set<CalendarDate> = []

        init(person: PersonID) { self.person = person }

        init?(_ bytes: [UInt8]) {
            guard let members = (try? JSONValue(parsing: bytes))?.object, members["version"]?.integer == 1,
                let person = members["person"]?.integer.flatMap({ PersonID($0) })
            else { return nil }
            self.person = person
            waiting = Self.days(members["waiting"])
            sent = Self.days(members["sent"])
        }

        var bytes: [UInt8] {
            func list(_ days: Set<CalendarDate>) -> JSONValue { .array(days.sorted().map { .string("\($0)") }) }
            let value = JSONValue.object([
                "version": .number("1"), "person": .number("\(person)"), "waiting": list(waiting), "sent": list(sent),
            ])
            return Array(value.json.utf8)
        }

        mutating func forget(before today: CalendarDate) {
            waiting = waiting.filter { !HubCheckIn.isOver($0, today) }
            sent = sent.filter { !HubCheckIn.isOver($0, today) }
        }

        private static func days(_ value: JSONValue?) -> Set<CalendarDate> {
            Set((value?.array ?? []).compactMap { $0.string.flatMap { CalendarDate($0) } })
        }
    }
}

extension RecurseCenterError {
    /// Whether the next try may succeed: the service did not refuse the request, or was not asked at all.
    fileprivate var mayPass: Bool {
        if case .account = self { return true }
        return isRetryable
    }

    fileprivate static func inVault(_ error: any Error) -> any Error {
        (error as? VaultError).map { account(.vault($0)) } ?? placing(error)
    }
}
