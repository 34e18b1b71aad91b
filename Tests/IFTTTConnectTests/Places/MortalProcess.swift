import HTTPTypes
import Handshake
import OAuth
import Synchronization
import TestFixtures

@testable import IFTTTConnect

/// A process that dies: from one step on nothing it does has an effect.
final class Mortality: Sendable {
    struct Dead: Error {}

    private let state: Mutex<(step: Int, last: Int)>

    init(dyingAt last: Int) { state = Mutex((0, last)) }

    var isDead: Bool { state.withLock { $0.step >= $0.last } }
    var steps: Int { state.withLock { $0.step } }

    /// A moment between two effects, at which the process may die.
    func step() throws {
        let isAlive = state.withLock { state in
            guard state.step < state.last else { return false }
            state.step += 1
            return state.step < state.last
        }
        guard isAlive else { throw Dead() }
    }
}

/// A vault of a process that dies before or after any effect.
struct MortalVault: Vault {
    let base: any Vault
    let mortality: Mortality

    func record(_ key: VaultKey) async throws -> [UInt8]? {
        try mortality.step()
        return try await base.record(key)
    }

    func keys(of kind: VaultKey.Kind) async throws -> VaultListing {
        try mortality.step()
        return try await base.keys(of: kind)
    }

    func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        try mortality.step()
        return try await base.update(key) { try await body(MortalRecord(base: $0, mortality: mortality)) }
    }
}

struct MortalRecord: LockedRecord {
    let base: any LockedRecord
    let mortality: Mortality

    var contents: [UInt8]? { get async { await base.contents } }

    func replace(with contents: [UInt8]) async throws {
        try mortality.step()
        try await base.replace(with: contents)
        try mortality.step()
    }

    func remove() async throws {
        try mortality.step()
        try await base.remove()
        try mortality.step()
    }
}

/// The service, which takes each record once, as a process that dies sees it: it dies before a request leaves or before its answer comes.
final class CountingService: Sendable {
    /// What a record says, without its identifier.
    struct Content: Hashable {
        let subscription: String
        let kind: String
        let time: String
    }

    /// The contents of each record under its identifier, in the order of their arrival.
    let received = Mutex<[(id: String, content: Content)]>([])

    func transport(_ mortality: Mortality) -> Client { Client(service: self, mortality: mortality) }

    struct Client: Transport {
        let service: CountingService
        let mortality: Mortality

        func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
            try mortality.step()
            var response = ResponseMessage(head: HTTPResponse(status: .noContent))
            if request.head.method == .get {
                let text =
                    request.head.path == "/v2/me"
                    ? PlacesBench.user("edsger_i")
                    : PlacesBench.connection(["LOCATION_ENTER_OR_EXIT", "LOCATION_ENTER_OR_EXIT"])
                response = ResponseMessage(
                    head: HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"]),
                    content: Array(text.utf8))
            } else if case .bytes(let bytes) = request.content {
                service.take(bytes)
            }
            try mortality.step()
            return response
        }
    }

    private func take(_ bytes: [UInt8]) {
        for record in (try? JSONValue(parsing: bytes))?.array ?? [] {
            let texts = record.object ?? [:]
            let content = Content(
                subscription: texts["trigger_subscription_id"]?.string ?? "", kind: texts["event_type"]?.string ?? "",
                time: texts["occurred_at"]?.string ?? "")
            received.withLock { $0.append((texts["record_id"]?.string ?? "", content)) }
        }
    }
}
