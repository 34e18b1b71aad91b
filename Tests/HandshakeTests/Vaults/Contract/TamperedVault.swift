import Handshake
import Testing

/// Expects the error that a record was changed by hand.
func expectDamage(_ body: () async throws -> some Any) async {
    let error = await #expect(throws: VaultError.self) { _ = try await body() }
    #expect(error?.code == "vault_damaged")
}

/// What holds of a vault in a database when its tables are changed behind its back.
struct TamperedVault {
    let vault: any Vault
    /// A condition for Alice's record beside Bob's.
    let alice: String
    /// Opens the same tables again.
    let open: () async throws -> any Vault
    /// Runs a statement behind the vault's back. `@` stands for the tables' schema.
    let edit: (String) async throws -> Void
    /// The numbers in the first column of a query.
    let look: (String) async throws -> [Int64]

    func rejectsChangedRecord(_ change: String) async throws {
        try await vault.put([1, 2, 3], under: .alice)
        try await vault.put([4, 5, 6], under: .bob)
        try await edit(change)
        await expectDamage { try await vault.record(.alice) }
        #expect(try await vault.remove(.alice))
    }

    func leavesOutChangedLabel(_ change: String) async throws {
        try await vault.put([1], under: .alice)
        try await vault.put([2], under: .bob)
        try await edit("UPDATE @.record SET \(change) WHERE \(alice)")
        try await expectListingOfBob()
    }

    private func expectListingOfBob() async throws {
        let listing = try await vault.keys(of: .account)
        #expect(listing.keys == [.bob] && listing.damaged.map(\.code) == ["vault_damaged"])
    }

    func rejectsOtherVersion() async throws {
        try await vault.put([1], under: .alice)
        try await vault.put([2], under: .bob)
        try await edit("UPDATE @.lease SET version = 9 WHERE name = (SELECT name FROM @.record WHERE \(alice))")
        await expectDamage { try await vault.record(.alice) }
        await expectDamage { try await vault.update(.alice) { _ in } }
        let both = try await vault.records([.alice, .bob])
        await expectDamage { try both[0].get() }
        #expect(try both[1].get() == [2])
        try await expectListingOfBob()
        #expect(try await vault.remove(.alice))
        #expect(try await vault.record(.alice) == nil)
        try await vault.put([3], under: .alice)
        #expect(try await vault.record(.alice) == [3])
        #expect(try await vault.record(.bob) == [2])
    }

    func outlivesLargestVersion(_ change: String) async throws {
        let other = try await open()
        for _ in 0..<2 {
            try await vault.put([1], under: .alice)
            #expect(try await other.record(.alice) == [1])
            try await edit("UPDATE @.lease SET \(change)")
            await expectDamage { try await vault.record(.alice) }
            #expect(try await vault.remove(.alice))
            #expect(try await vault.record(.alice) == nil)
        }
        try await vault.put([2], under: .alice)
        for opened in [vault, other] { #expect(try await opened.record(.alice) == [2]) }
    }

    func rejectsOldBody() async throws {
        try await vault.put([1], under: .alice)
        try await vault.put([1], under: .bob)
        try await edit("CREATE TABLE @.kept AS SELECT * FROM @.record WHERE \(alice)")
        try await vault.put([2], under: .alice)
        for change in ["body = (SELECT body FROM @.kept)", "version = 1"] {
            try await edit("UPDATE @.record SET \(change) WHERE \(alice)")
            await expectDamage { try await vault.record(.alice) }
        }
        #expect(try await vault.record(.bob) == [1])
    }

    func rejectsOldRecordWithLease() async throws {
        let tables = ["record", "lease"]
        try await vault.put([1], under: .alice)
        for table in tables { try await edit("CREATE TABLE @.old_\(table) AS SELECT * FROM @.\(table)") }
        let (reader, remover) = (try await open(), try await open())
        for contents in [[2], [3]] as [[UInt8]] { try await vault.put(contents, under: .alice) }
        #expect(try await reader.record(.alice) == [3])
        try await remover.remove(.alice)
        for table in tables {
            try await edit("DELETE FROM @.\(table)")
            try await edit("INSERT INTO @.\(table) SELECT * FROM @.old_\(table)")
        }
        for opened in [vault, reader, remover] {
            await expectDamage { try await opened.record(.alice) }
            await expectDamage { try await opened.update(.alice) { _ in } }
        }
        // Who has seen nothing newer notices nothing.
        #expect(try await open().record(.alice) == [1])
        #expect(try await vault.remove(.alice))
        #expect(try await look("SELECT version FROM @.lease") == [4])
        try await vault.put([5], under: .alice)
        for opened in [vault, reader, remover] { #expect(try await opened.record(.alice) == [5]) }
        for table in tables { try await edit("DELETE FROM @.\(table)") }
        try await vault.put([6], under: .alice)
        for opened in [vault, reader, remover] { #expect(try await opened.record(.alice) == [6]) }
    }

    /// - Parameter writes: how often each of two writers writes; each of six readers reads twice as often.
    func readsBesideWriters(writes: Int) async throws {
        let other = try await open()
        try await vault.put([], under: .alice)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in [vault, other] {
                group.addTask { for _ in 0..<writes { try await writer.put([1], under: .alice) } }
                for _ in 0..<3 { group.addTask { for _ in 0..<2 * writes { _ = try await writer.record(.alice) } } }
            }
            try await group.waitForAll()
        }
    }
}
