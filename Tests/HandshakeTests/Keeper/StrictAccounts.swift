import Foundation
import HTTPTypes
import OAuth
import Synchronization
import TestFixtures

@testable import Handshake

/// Many accounts at a server that rotates refresh tokens and notices reuse, on a clock that a test advances. It is a transport.
final class StrictAccounts: Transport {
    static let life = 3_600.0
    private static let start = 1_800_000_000.0

    struct Refresh: Sendable {
        let name: String
        let time: Double
    }

    private struct State {
        /// How often each account's token was rotated.
        var rotations: [String: Int] = [:]
        var reused: [String] = []
        var refreshes: [Refresh] = []
        var running = 0
        var mostRunning = 0
        var answer: (@Sendable (_ name: String, _ number: Int) async -> ResponseMessage?)?
        var requests = 0
    }

    let clock = ManualClock()
    private let state = Mutex(State())

    var now: Double { Self.start + clock.now.offset / .seconds(1) }
    var time: TimeSource { TimeSource(now: { self.now }, clock: clock) }
    var refreshes: [Refresh] { state.withLock { $0.refreshes } }
    var reused: [String] { state.withLock { $0.reused } }
    var requests: Int { state.withLock { $0.requests } }
    var mostRunning: Int { state.withLock { $0.mostRunning } }

    /// Answers in place of the server's own, by account and the number of the request; nil leaves it to the server.
    func answer(_ body: (@Sendable (_ name: String, _ number: Int) async -> ResponseMessage?)?) {
        state.withLock { $0.answer = body }
    }

    func client(_ service: String = "strict") throws -> Client {
        let metadata = AuthorizationServerMetadata(
            issuer: try Issuer("https://\(service).example"),
            tokenEndpoint: try EndpointURL("https://\(service).example/token"))
        let service = try Service(name: service, authorizationServer: .described(metadata), defaultScopes: [])
        return Client(service: service, id: "app", redirect: .uri(try RedirectURI("com.example.app:/callback")))
    }

    func app(_ vault: any Vault, _ clients: Client...) throws -> Handshake {
        let client = try clients.first ?? self.client()
        guard clients.count > 1 else { return try Handshake(client, vault: vault, transport: self, time: time) }
        return try Handshake(client, clients[1], vault: vault, transport: self, time: time)
    }

    /// Stores accounts as a sign-in would have.
    ///
    /// - Parameter age: how many seconds ago the sign-in was.
    func store(
        _ names: [String], in vault: any Vault, client: Client? = nil, age: Double = 0, life: Double? = life
    ) async throws {
        let client = try client ?? self.client()
        for name in names {
            let record = AccountRecord(
                id: AccountID(client, name: name),
                grant: Grant(
                    accessToken: Secret("access-\(name).0"), expiresAt: life.map { now - age + $0 },
                    issuedAt: now - age,
                    refreshToken: Secret("\(name).0"), scopes: []),
                state: .signedIn, refreshMethod: .refreshToken, generation: 0)
            let bytes = try record.stored()
            try await vault.update(record.id.vaultKey) { try await $0.replace(with: bytes) }
        }
    }

    /// Lets time pass until a condition holds.
    ///
    /// - Parameters:
    ///   - keepers: whose refreshes time does not overtake, however slow the machine is.
    ///   - tasks: how many tasks of each of them sleep.
    func pass(
        _ step: Duration = .seconds(1), waitingFor keepers: [RunningKeeper] = [], tasks: Int = 2,
        until isOver: () -> Bool
    ) async {
        // One task looks and advances: time that passes before it has looked brings more than was waited for.
        while !isOver() {
            if keepers.allSatisfy(\.isIdle) { clock.advance(by: step, ifAsleep: max(1, tasks * keepers.count)) }
            await Task.yield()
        }
    }

    func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        guard case .bytes(let bytes) = request.content, request.head.path == "/token" else { return .json(404, [:]) }
        let form = String(decoding: bytes, as: UTF8.self)
        let token = form.split(separator: "&").first { $0.hasPrefix("refresh_token=") }?.dropFirst(14) ?? ""
        let parts = token.split(separator: ".")
        let (name, number) = (String(parts.first ?? ""), Int(parts.last ?? "") ?? -1)
        let (answer, count) = state.withLock { state in
            state.requests += 1
            state.running += 1
            state.mostRunning = max(state.mostRunning, state.running)
            return (state.answer, state.requests)
        }
        defer { state.withLock { $0.running -= 1 } }
        if let other = await answer?(name, count) { return other }
        let now = now
        return state.withLock { state in
            guard state.rotations[name, default: 0] == number else {
                state.reused.append(name)
                return .json(400, ["error": "invalid_grant"])
            }
            state.rotations[name] = number + 1
            state.refreshes.append(Refresh(name: name, time: now))
            return .json(
                200,
                [
                    "access_token": "access-\(name).\(number + 1)", "token_type": "Bearer",
                    "expires_in": Int(Self.life), "refresh_token": "\(name).\(number + 1)",
                ])
        }
    }
}

/// A keeper that runs beside a test, and what it has told.
final class RunningKeeper: Sendable {
    let keeper: Keeper
    private let task: Task<Void, Never>
    private let reader: Task<Void, Never>
    private let told = Shared<[KeeperEvent]>([])

    init(_ keeper: Keeper) {
        self.keeper = keeper
        let (events, told) = (keeper.events, told)
        reader = Task { for await event in events { told.change { $0.append(event) } } }
        task = Task { await keeper.run() }
    }

    var events: [KeeperEvent] { told.value }

    /// After how many seconds each failed attempt is repeated.
    var failures: [Double] {
        events.compactMap { if case .failed(_, let at) = $0.change { at - $0.time } else { nil } }
    }

    /// Whether no account is being refreshed.
    var isIdle: Bool {
        keeper.lanes.withLock { Array($0.values) }.allSatisfy { lane in lane.state.withLock { $0.running == 0 } }
    }

    /// Returns when an event has come for which `isIt` holds.
    func first(_ isIt: @Sendable (KeeperEvent) -> Bool) async -> KeeperEvent? {
        while !Task.isCancelled {
            if let event = events.first(where: isIt) { return event }
            await Task.yield()
        }
        return nil
    }

    func stop() async {
        task.cancel()
        await task.value
        reader.cancel()
    }
}

extension KeeperEvent {
    var pausedUntil: Double? { if case .paused(_, let until) = change { until } else { nil } }
    var isResumed: Bool { change == .resumed }
}
