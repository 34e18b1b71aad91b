import HTTPTypes
import Handshake
import IFTTTConnect
import Logging
import OAuth
import ServiceLifecycle
import Synchronization
import TestFixtures

@testable import HandshakeServer

/// IFTTT's end of `POST /v2/sdk/events`, told by the test what to answer: no request leaves the process.
final class EventInbox: Transport {
    /// What arrived in one request.
    struct Request: Sendable {
        let anonymousID: String?
        let hasToken: Bool
        /// The `object_id` of each event.
        let objects: [String]
        /// When it arrived, by the test's clock.
        let at: Duration
    }

    private struct State {
        var statuses: [Int]
        var requests: [Request] = []
        var isHeld = false
        var held: [CheckedContinuation<Void, Never>] = []
        /// Whether a test has run out of time.
        var isOver = false
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state: Mutex<State>
    private let clock: ManualClock

    /// - Parameters:
    ///   - statuses: what is answered, in order; the last one is given for ever.
    ///   - clock: what tells when a request arrives.
    init(_ statuses: Int..., clock: ManualClock = ManualClock()) {
        self.clock = clock
        state = Mutex(State(statuses: statuses.isEmpty ? [204] : statuses))
    }

    var requests: [Request] { state.withLock { $0.requests } }

    /// Lets nothing be answered until ``release()``.
    func hold() { state.withLock { $0.isHeld = true } }

    func release() {
        let held = state.withLock { state in
            defer { (state.isHeld, state.held) = (false, []) }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }

    /// Returns when so many requests have arrived, or when the test is cancelled.
    func received(_ count: Int) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isThere = state.withLock { state in
                    guard state.requests.count < count, !state.isOver else { return true }
                    state.watchers.append((count, continuation))
                    return false
                }
                if isThere { continuation.resume() }
            }
        } onCancel: {
            let watchers = state.withLock { state in
                defer { (state.isOver, state.watchers) = (true, []) }
                return state.watchers
            }
            for watcher in watchers { watcher.continuation.resume() }
        }
    }

    func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        let status = try take(request)
        await withCheckedContinuation { continuation in
            let isHeld = state.withLock { state in
                if state.isHeld { state.held.append(continuation) }
                return state.isHeld
            }
            if !isHeld { continuation.resume() }
        }
        return ResponseMessage(head: HTTPResponse(status: .init(code: status)))
    }

    private func take(_ request: RequestMessage) throws -> Int {
        guard case .bytes(let bytes) = request.content else { throw Absent() }
        let events = try requireValue(try JSONValue(parsing: bytes).object?["events"]?.array)
        let fields = request.head.headerFields
        let arrived = Request(
            anonymousID: HTTPField.Name("IFTTT-SDK-Anonymous-Id").flatMap { fields[$0] },
            hasToken: fields[.authorization] != nil,
            objects: events.map { $0.object?["properties"]?.object?["object_id"]?.string ?? "" },
            at: clock.now.offset)
        let (status, watchers) = state.withLock { state in
            state.requests.append(arrived)
            let count = state.requests.count
            defer { state.watchers.removeAll { $0.count <= count } }
            let status = state.statuses.count > 1 ? state.statuses.removeFirst() : state.statuses[0]
            return (status, state.watchers.filter { $0.count <= count })
        }
        for watcher in watchers { watcher.continuation.resume() }
        return status
    }
}

extension ConnectAnalytics {
    /// Counting into an inbox.
    static func counting(
        in vault: any Vault, to inbox: EventInbox, hosts: Hosts = .production,
        clock: any Clock<Duration> = ManualClock(),
        now: @escaping @Sendable () -> Double = { 1_735_689_600 }
    ) -> ConnectAnalytics {
        ConnectAnalytics(
            in: vault, appName: "Garden App",
            through: .init(hosts: hosts, transport: inbox, time: TimeSource(now: now, clock: clock)), log: World.log)
    }

    /// Counts events that are told apart by a number.
    func record(_ numbers: Range<Int>, for user: String) async throws {
        let id = try ConnectionID("aB3dE5fG")
        for number in numbers { await record(.aboutClicked(id, button: "\(number)"), for: user) }
    }

    /// Runs as a service from its start to a graceful shutdown.
    func runAndShutDown() async throws {
        let group = ServiceGroup(configuration: .init(services: [self], logger: World.log))
        let running = Task { try await group.run() }
        await group.triggerGracefulShutdown()
        try await running.value
    }
}

/// A vault in which one record, or all of a kind, can neither be read nor written.
struct VaultWithout: Vault {
    let kind: VaultKey.Kind
    /// The record; nil for all of the kind.
    var key: VaultKey?
    var vault = MemoryVault()

    func record(_ key: VaultKey) async throws -> [UInt8]? {
        try check(key)
        return try await vault.record(key)
    }

    func keys(of kind: VaultKey.Kind) async throws -> VaultListing {
        if key == nil { try check(VaultKey(kind, [])) }
        return try await vault.keys(of: kind)
    }

    func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        try check(key)
        return try await vault.update(key, body)
    }

    private func check(_ key: VaultKey) throws {
        if key.kind == kind, self.key == nil || key == self.key { throw VaultError.busy("the test") }
    }
}
