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
    /// A damaged record is left as it is; what follows goes behind it.
    ///
    /// - Throws: ``ConnectError/account(_:)`` when the vault cannot be written; what was added before stays.
    package func append(_ crossings: [AreaCrossing]) async throws {
        guard !crossings.isEmpty else { return }
        do {
            for key in counters.dropLast() {
                do { return try await append(crossings, counting: key) } catch VaultError.damaged { continue }
            }
            try await append(crossings, counting: counters[counters.count - 1])
        } catch { throw ConnectError.placingVault(error) }
    }

    /// - Throws: `VaultError.damaged` only for the counter.
    private func append(_ crossings: [AreaCrossing], counting counter: VaultKey) async throws {
        try await vault.update(counter) { last in
            let stored = try await Self.number(last.contents)
            var number = if let stored { stored } else { try await firstNumber(counting: counter) }
            // A crash may have come between the two batches that took the same crossings.
            let known = number > 1 ? Set(try await read(number - 1).crossings.map(\.id)) : []
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
    }

    /// - Returns: how many of the crossings the batch took or had; none when its record is damaged.
    private func add(_ crossings: ArraySlice<AreaCrossing>, to number: Int) async throws -> Int {
        do {
            return try await vault.update(key(number)) { record in
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
        } catch VaultError.damaged { return 0 }
    }

    /// What waits, oldest first, and what cannot be read.
    ///
    /// - Throws: ``ConnectError/account(_:)`` when the vault cannot be read; for a damaged record it does not.
    package func contents() async throws -> (batches: [Batch], damaged: [VaultError]) {
        do {
            var (batches, damaged): ([Batch], [VaultError]) = ([], [])
            for number in try await numbers() {
                let (crossings, damage) = try await read(number)
                if !crossings.isEmpty { batches.append(Batch(number: number, crossings: crossings)) }
                if let damage { damaged.append(damage) }
            }
            return (batches, damaged)
        } catch { throw ConnectError.placingVault(error) }
    }

    /// Every crossing that waits and can be read, oldest first.
    ///
    /// - Throws: as ``contents()``.
    package func crossings() async throws -> [AreaCrossing] { try await contents().batches.flatMap(\.crossings) }

    /// The numbers of the batches, in order. A listing leaves damaged records out, so with any damage in the vault each number that
    /// was given is in here.
    private func numbers() async throws -> [Int] {
        let listing = try await vault.keys(of: .crossings)
        let listed = Set(Self.numbers(of: account, in: listing))
        guard !listing.damaged.isEmpty else { return listed.sorted() }
        var last: Int? = listed.max() ?? 0
        for counter in counters {
            do {
                guard let number = try await Self.number(vault.record(counter)) else { continue }
                last = last.map { max($0, number) }
            } catch VaultError.damaged { last = nil }
        }
        let end = last ?? max(listed.max() ?? 0, Self.maximumSearched)
        return listed.union((end - Self.maximumSearched..<end).lazy.map { $0 + 1 }.filter { $0 > 0 }).sorted()
    }

    private static func numbers(of account: String, in listing: VaultListing) -> [Int] {
        listing.keys.compactMap { key in
            key.components.first == account && key.components.count == 2 ? Int(key.components[1]) : nil
        }
    }

    /// Where a new counter begins: after a damaged one at the last batch that can be read.
    private func firstNumber(counting counter: VaultKey) async throws -> Int {
        guard counter != counters[0] else { return 1 }
        return Self.numbers(of: account, in: try await vault.keys(of: .crossings)).max() ?? 1
    }

    private func read(_ number: Int) async throws -> (crossings: [AreaCrossing], damage: VaultError?) {
        do {
            return (try Self.decode(try await vault.record(key(number))), nil)
        } catch let error as VaultError {
            guard case .damaged = error else { throw error }
            return ([], error)
        }
    }

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
    package func removeAll() async throws {
        do {
            for number in try await numbers() { try await remove(number) }
            for counter in counters { try await vault.remove(counter) }
        } catch { throw ConnectError.placingVault(error) }
    }

    /// Removes what cannot be read.
    ///
    /// - Returns: how many batches that were.
    func removeDamaged() async throws -> Int {
        do {
            var count = 0
            for number in try await numbers() where try await read(number).damage != nil {
                try await vault.remove(key(number))
                count += 1
            }
            return count
        } catch { throw ConnectError.placingVault(error) }
    }

    /// Without a look first, many numbers that were never used would each take a lock.
    private func remove(_ number: Int) async throws {
        do {
            guard try await vault.record(key(number)) != nil else { return }
        } catch VaultError.damaged {}
        try await vault.remove(key(number))
    }

    /// The records that may count the batches: another one for each that is damaged.
    private var counters: [VaultKey] {
        [VaultKey(.crossings, [account, "last"])]
            + (1...8).map { VaultKey(.crossings, [account, "last", String($0)]) }
    }

    /// How many numbers are looked at for damaged records.
    private static let maximumSearched = 10_000

    private func key(_ number: Int) -> VaultKey { VaultKey(.crossings, [account, String(number)]) }

    private static func number(_ bytes: [UInt8]?) throws -> Int? {
        guard let bytes else { return nil }
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
