package import Handshake

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Crossings that wait for their upload, in a vault: durable when a function returns, for any number of processes.
///
/// Crossings stand in records of up to 50, oldest first; a record is removed as a whole when all of it is done. So a queue of any
/// length costs one small write for a crossing and one for a batch.
package struct CrossingQueue: Sendable {
    /// Crossings of one record of the vault.
    package struct Batch: Sendable, Hashable {
        let number: Int
        package let crossings: [AreaCrossing]
    }

    /// How many crossings a batch has at most.
    package static let batchSize = 50

    private let vault: any Vault
    private let account: String

    /// Opens the queue of an account.
    package init(in vault: any Vault, of account: String) {
        self.vault = vault
        self.account = account
    }

    /// Adds crossings at the end. Those that are in the last two batches already are not added again.
    ///
    /// - Throws: ``ConnectError/account(_:)`` when the vault cannot be written; what was added before stays.
    package func append(_ crossings: [AreaCrossing]) async throws {
        guard !crossings.isEmpty else { return }
        do {
            try await vault.update(VaultKey(.crossings, [account, "last"])) { last in
                var number = try await Self.number(last.contents)
                // A crash may have come between the two batches that took the same crossings.
                let earlier = number > 1 ? try Self.decode(try await vault.record(key(number - 1))) : []
                let known = Set(earlier.map(\.id))
                var rest = crossings.filter { !known.contains($0.id) }[...]
                while !rest.isEmpty {
                    let added = try await add(rest, to: number)
                    rest = rest.dropFirst(added)
                    guard !rest.isEmpty else { break }
                    number += 1
                    // Before the record exists: a crash in between leaves a number without crossings, never a record
                    // behind the last number.
                    try await last.replace(with: Array(String(number).utf8))
                }
            }
        } catch { throw ConnectError.placingVault(error) }
    }

    /// - Returns: how many of the crossings the batch took or had.
    private func add(_ crossings: ArraySlice<AreaCrossing>, to number: Int) async throws -> Int {
        try await vault.update(key(number)) { record in
            var stored = try await Self.decode(record.contents)
            var count = 0
            var hasChanged = false
            for crossing in crossings {
                if !stored.contains(where: { $0.id == crossing.id }) {
                    guard stored.count < Self.batchSize else { break }
                    stored.append(crossing)
                    hasChanged = true
                }
                count += 1
            }
            if hasChanged { try await record.replace(with: Self.encode(stored)) }
            return count
        }
    }

    /// What waits, oldest first.
    ///
    /// - Throws: ``ConnectError/account(_:)`` when the vault cannot be read or a record is damaged; damaged records stay.
    package func batches() async throws -> [Batch] {
        do {
            let listing = try await vault.keys(of: .crossings)
            if let damage = listing.damaged.first { throw damage }
            let numbers = listing.keys.compactMap { key in
                key.components.first == account && key.components.count == 2 ? Int(key.components[1]) : nil
            }
            var batches: [Batch] = []
            for number in numbers.sorted() {
                let crossings = try Self.decode(try await vault.record(key(number)))
                if !crossings.isEmpty { batches.append(Batch(number: number, crossings: crossings)) }
            }
            return batches
        } catch { throw ConnectError.placingVault(error) }
    }

    /// Every crossing that waits, oldest first.
    ///
    /// - Throws: as ``batches()``.
    package func crossings() async throws -> [AreaCrossing] { try await batches().flatMap(\.crossings) }

    /// Removes crossings of a batch that are done.
    func remove(_ crossings: [AreaCrossing], from batch: Batch) async throws {
        let done = Set(crossings.map(\.id))
        do {
            try await vault.update(key(batch.number)) { record in
                let stored = try await Self.decode(record.contents)
                let rest = stored.filter { !done.contains($0.id) }
                if rest.isEmpty {
                    try await record.remove()
                } else if rest.count < stored.count {
                    try await record.replace(with: Self.encode(rest))
                }
            }
        } catch { throw ConnectError.placingVault(error) }
    }

    /// Removes everything, damaged records too.
    func removeAll() async throws {
        do {
            for key in try await vault.keys(of: .crossings).keys where key.components.first == account {
                try await vault.remove(key)
            }
        } catch { throw ConnectError.placingVault(error) }
    }

    private func key(_ number: Int) -> VaultKey { VaultKey(.crossings, [account, String(number)]) }

    private static func number(_ bytes: [UInt8]?) throws -> Int {
        guard let bytes else { return 1 }
        guard let number = Int(String(decoding: bytes, as: UTF8.self)), (1...Int(Int32.max)).contains(number) else {
            throw VaultError.damaged(what: "the queue of crossings", reason: "its last number cannot be read")
        }
        return number
    }

    static func encode(_ crossings: [AreaCrossing]) throws -> [UInt8] {
        Array(try JSONEncoder().encode(AreaCrossing.Batch(crossings)))
    }

    /// - Throws: `VaultError.damaged` for what ``encode(_:)`` did not write.
    package static func decode(_ bytes: [UInt8]?) throws -> [AreaCrossing] {
        guard let bytes else { return [] }
        do { return try JSONDecoder().decode(AreaCrossing.Batch.self, from: Data(bytes)).crossings } catch {
            throw VaultError.damaged(what: "the queue of crossings", reason: "a batch cannot be read")
        }
    }
}

extension ConnectError {
    /// A failure of the vault in its place; a cancellation and this module's own errors stay what they are.
    static func placingVault(_ error: any Error) -> any Error {
        if let error = error as? VaultError { return ConnectError.account(.vault(error)) }
        return placing(error)
    }
}
