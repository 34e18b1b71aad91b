import Foundation
import Handshake
import TestFixtures
import Testing

@Suite("Copying and counting vaults", .heavy)
struct VaultCopyTests {
    private let folder: VaultFolder
    private let files: FileVault

    init() async throws {
        folder = try VaultFolder()
        files = try folder.open()
        for (kind, name, size) in [(.account, "a", 10), (.account, "b", 20), (.signIn, "c", 5)]
            as [(VaultKey.Kind, String, Int)]
        {
            try await files.put([UInt8](repeating: 1, count: size), under: VaultKey(kind, [name]))
        }
    }

    @Test("a copy has every record, and a second one finds all of them there")
    func whole() async throws {
        let target = MemoryVault()
        let first = try await files.copyRecords(to: target)
        #expect(first.copied == 3 && first.present == 0 && first.isComplete)
        let second = try await files.copyRecords(to: target)
        #expect(second.copied == 0 && second.present == 3 && second.isComplete)
        for kind in VaultKey.Kind.allCases {
            for key in try await files.keys(of: kind).keys {
                #expect(try await target.record(key) == files.record(key))
            }
        }
        #expect(try await files.inventory().records == 3)
    }

    @Test("a copy that failed or was cancelled on the way is completed by the next", arguments: [true, false])
    func resumed(isCancelled: Bool) async throws {
        let target = FailingVault(after: 1, isCancelled: isCancelled)
        if isCancelled {
            await #expect(throws: CancellationError.self) { try await files.copyRecords(to: target) }
        } else {
            let report = try await files.copyRecords(to: target)
            #expect(report.copied == 1 && !report.isComplete && !report.failures.isEmpty)
        }
        let report = try await files.copyRecords(to: target.base)
        #expect(report.copied == 2 && report.present == 1 && report.isComplete)
    }

    @Test("two vaults are one when what one of them stores is in the other, and nothing is left of the look")
    func same() async throws {
        let (one, other) = (MemoryVault(), MemoryVault())
        #expect(try await one.isSame(as: one))
        #expect(try await !one.isSame(as: other))
        #expect(try await one.inventory().records == 0)
        #expect(try await other.inventory().records == 0)
    }

    @Test("a look whether two vaults are one that is interrupted is no answer, and leaves no record")
    func interruptedLook() async throws {
        let vault = InterruptedVault()
        let look = Task { try await vault.isSame(as: vault) }
        await #expect(throws: CancellationError.self) { try await look.value }
        #expect(try await vault.base.inventory().records == 0)
    }

    @Test("what a look whether two vaults are one could not remove expires, and is removed with the sign-ins that did")
    func lostLook() async throws {
        let server = StrictAccounts()
        // It takes one update, and no removal.
        let vault = FailingVault(after: 1, isCancelled: false)
        await #expect(throws: VaultError.self) { try await vault.isSame(as: vault, time: server.time) }
        #expect(try await vault.base.inventory().records == 1)
        let handshake = try server.app(vault.base)
        #expect(try await handshake.removeExpiredSignIns() == 0)
        server.clock.advance(by: .seconds(3_601))
        #expect(try await handshake.removeExpiredSignIns() == 1)
        #expect(try await vault.base.inventory().records == 0)
    }

    @Test("a copy asks for names a page at a time, and never for all of them")
    func pages() async throws {
        let source = PagedVault(base: files)
        let told = Shared<[Int]>([])
        let report = try await source.copyRecords(to: MemoryVault()) { part in told.change { $0.append(part.copied) } }
        #expect(told.value == [1, 2, 3])
        #expect(report.copied == 3 && report.isComplete)
        #expect(source.pages.value == 3)
    }

    @Test("a record that differs is reported and left, and replaced only when the caller says so")
    func different() async throws {
        let target = MemoryVault()
        let key = VaultKey(.account, ["a"])
        try await target.put([9], under: key)
        let report = try await files.copyRecords(to: target)
        #expect(report.different == [key] && report.copied == 2 && !report.isComplete)
        #expect(try await target.record(key) == [9])
        #expect(try await files.copyRecords(to: target, replacing: true).isComplete)
        #expect(try await target.record(key)?.count == 10)
    }

    @Test("a record that is not read back as it was written is a failure")
    func readBack() async throws {
        let report = try await files.copyRecords(to: ForgetfulVault())
        #expect(
            report.copied == 0
                && report.failures.map(\.code) == ["vault_unavailable", "vault_unavailable", "vault_unavailable"])
    }

    @Test("a report counts all records that differ or failed, and has the first 1,000 of each")
    func bounded() async throws {
        let (source, target) = (MemoryVault(), MemoryVault())
        for number in 0..<1_001 {
            let key = VaultKey(.account, ["\(number)"])
            try await source.put([1], under: key)
            try await target.put([2], under: key)
        }
        let different = try await source.copyRecords(to: target)
        #expect(different.differentCount == 1_001 && different.different.count == 1_000 && !different.isComplete)
        let failed = try await source.copyRecords(to: ForgetfulVault())
        #expect(failed.failureCount == 1_001 && failed.failures.count == 1_000 && !failed.isComplete)
    }

    @Test("a record is held while it is copied, so a refresh before it is copied too and one after it waits")
    func held() async throws {
        let key = VaultKey(.account, ["a"])
        let target = MemoryVault()
        let clock = ManualClock()
        let source = try folder.open(clock: clock)
        let copying = try await files.update(key) { record in
            let copying = Task { try await source.copyRecords(to: target) }
            let isWaiting = Shared(false)
            Task {
                await clock.sleepers(1)
                isWaiting.change { $0 = true }
            }
            // Until the copy waits for this record, or has it.
            while !isWaiting.value, try await target.record(key) == nil { await Task.yield() }
            try await record.replace(with: [7])
            return copying
        }
        clock.advance(by: .milliseconds(10))
        #expect(try await copying.value.isComplete)
        #expect(try await target.record(key) == [7])
    }

    @Test("a damaged record is reported once, by count and copy, and the others are there")
    func damaged() async throws {
        let path = try await folder.put([3], under: .alice)
        try Files.write([UInt8](repeating: 0, count: 60), to: path)
        let inventory = try await files.inventory()
        #expect(inventory.records == 3 && inventory.bytes == 35 && inventory.failureCount == 1)
        #expect(inventory.failures.map(\.code) == ["vault_damaged"])
        let report = try await files.copyRecords(to: MemoryVault())
        #expect(report.copied == 3 && report.failures.map(\.code) == ["vault_damaged"])
    }

    @Test("a count tells records, bytes and the largest of each kind that there is")
    func counted() async throws {
        let counts = try await files.inventory().counts
        #expect(counts.map(\.kind) == [.account, .signIn])
        #expect(
            counts.map(\.records) == [2, 1] && counts.map(\.bytes) == [30, 5] && counts.map(\.largest) == [20, 5])
    }
}

/// A vault that fails, or whose task is cancelled, after some updates.
private struct FailingVault: ForwardingVault {
    let base = MemoryVault()
    private let left: Shared<Int>
    private let isCancelled: Bool

    init(after count: Int, isCancelled: Bool) {
        left = Shared(count)
        self.isCancelled = isCancelled
    }

    func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        let isOver = left.change { left in
            left -= 1
            return left < 0
        }
        guard !isOver else {
            throw isCancelled ? CancellationError() : VaultError.unavailable("\(key.components)") as any Error
        }
        return try await base.update(key, body)
    }
}

/// A vault whose caller is cancelled when it reads a record.
private struct InterruptedVault: ForwardingVault {
    let base = MemoryVault()

    func record(_ key: VaultKey) async throws -> [UInt8]? {
        Self.cancelCaller()
        try Task.checkCancellation()
        return try await base.record(key)
    }

    func remove(_ key: VaultKey) async throws -> Bool {
        try Task.checkCancellation()
        return try await base.remove(key)
    }

    private static func cancelCaller() { withUnsafeCurrentTask { $0?.cancel() } }
}

/// A vault that says it wrote, and did not.
private struct ForgetfulVault: Vault {
    func record(_ key: VaultKey) async throws -> [UInt8]? { nil }

    func keys(of kind: VaultKey.Kind) async throws -> VaultListing { VaultListing(keys: []) }

    func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        try await MemoryVault().update(key, body)
    }
}
