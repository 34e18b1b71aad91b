import Geofences
import Handshake
import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The records of an account in the vault besides the queue.
struct PlaceStore: Sendable {
    let vault: any Vault
    let account: String
    let random: RandomSource

    /// Where the user was, with the crossings found by that, which may not be in the queue yet.
    struct Progress: Sendable, Hashable, Codable {
        var state: GeofenceMonitor.State?
        var crossings: [AreaCrossing] = []
    }

    private var connectionsKey: VaultKey { VaultKey(.places, [account, "connections"]) }
    private var progressKey: VaultKey { VaultKey(.places, [account, "progress"]) }

    /// The connections. If none are stored, creates them with a random identifier of this installation.
    func connections() async throws -> WatchedConnections {
        if let stored = try await storedConnections() { return stored }
        return try await change { _ in }
    }

    /// The connections; nil before the first activation and after a deactivation.
    func storedConnections() async throws -> WatchedConnections? {
        do { return try await vault.record(connectionsKey).map { try Self.decode($0) } } catch {
            throw ConnectError.placingVault(error)
        }
    }

    /// Changes the connections against every task and process.
    ///
    /// - Returns: the connections as they are now.
    @discardableResult
    func change(_ body: @escaping @Sendable (inout WatchedConnections) -> Void) async throws -> WatchedConnections {
        guard let installation = AnonymousID(random: random)?.rawValue else {
            throw ConnectError.input(member: "random", problem: "the random source returned too few bytes")
        }
        do {
            return try await vault.update(connectionsKey) { record in
                let bytes = await record.contents
                let stored: WatchedConnections? = try bytes.map { try Self.decode($0) }
                var connections = stored ?? WatchedConnections(installation: installation)
                body(&connections)
                if connections != stored { try await record.replace(with: Array(JSONEncoder().encode(connections))) }
                return connections
            }
        } catch { throw ConnectError.placingVault(error) }
    }

    func progress() async throws -> Progress {
        do {
            return try await vault.record(progressKey).map { try Self.decode($0) } ?? Progress()
        } catch { throw ConnectError.placingVault(error) }
    }

    /// Stores where a user is, unless the user was forgotten or is another one now.
    ///
    /// ``removeAll()`` removes the connections first, so what is stored before that, it still removes.
    ///
    /// - Returns: whether it was stored.
    func save(_ progress: Progress, of owner: WatchedConnections.Owner?) async throws -> Bool {
        do {
            let bytes = Array(try JSONEncoder().encode(progress))
            return try await vault.update(progressKey) { record in
                guard let owner, try await storedConnections()?.owner == owner else { return false }
                try await record.replace(with: bytes)
                return true
            }
        } catch { throw ConnectError.placingVault(error) }
    }

    /// Removes crossings that are in the queue now from the progress.
    func removeFound(_ crossings: [AreaCrossing]) async throws {
        let queued = Set(crossings.map(\.id))
        do {
            try await vault.update(progressKey) { record in
                guard let bytes = await record.contents else { return }
                var progress: Progress = try Self.decode(bytes)
                progress.crossings.removeAll { queued.contains($0.id) }
                try await record.replace(with: Array(JSONEncoder().encode(progress)))
            }
        } catch { throw ConnectError.placingVault(error) }
    }

    func removeAll() async throws {
        do { try await vault.remove(connectionsKey) } catch { throw ConnectError.placingVault(error) }
        try await removeProgress()
    }

    func removeProgress() async throws {
        do { try await vault.remove(progressKey) } catch { throw ConnectError.placingVault(error) }
    }

    /// Makes the next synchronization ask whose the token is. Without a record it does so anyway.
    ///
    /// - Returns: whether there is a record.
    @discardableResult
    func noteSignIn() async throws -> Bool {
        do {
            guard try await vault.record(connectionsKey) != nil else { return false }
        } catch { throw ConnectError.placingVault(error) }
        try await change { $0.forgetToken() }
        return true
    }

    private static func decode<Value: Decodable>(_ bytes: [UInt8]) throws -> Value {
        do { return try JSONDecoder().decode(Value.self, from: Data(bytes)) } catch {
            throw VaultError.damaged(what: "the record of places", reason: "it cannot be read")
        }
    }
}
