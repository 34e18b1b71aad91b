import Handshake
import Synchronization
import Testing

@Suite("Records of several parts")
struct LargeRecordTests {
    private let vault = PausingVault()
    private var record: LargeRecord { LargeRecord(in: vault, .circle, ["community", "circle", "table"]) }

    /// More than two parts.
    private static func content(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 2_000_000) }

    private func count() async throws -> Int { try await vault.keys(of: .circle).keys.count }

    @Test("a content of several parts is read as it was written, and the parts of the one before are removed")
    func whole() async throws {
        #expect(try await record.contents() == nil)
        try await record.replace(with: Self.content(1))
        #expect(try await record.contents() == Self.content(1))
        #expect(try await count() == 4)
        try await record.replace(with: [1, 2, 3])
        #expect(try await record.contents() == [1, 2, 3])
        #expect(try await count() == 2)
        try await record.replace(with: [])
        #expect(try await record.contents() == [])
        #expect(try await count() == 1)
    }

    @Test("CI22: a content of more parts than are read is refused before anything is written, and the old one stays")
    func tooLong() async throws {
        try await record.replace(with: [1, 2, 3])
        let error = await #expect(throws: VaultError.self) {
            try await record.replace(with: [UInt8](repeating: 0, count: 64 * 900 * 1_024 + 1))
        }
        #expect(error?.code == "vault_denied")
        #expect(try await record.contents() == [1, 2, 3])
        #expect(try await count() == 2)
    }

    @Test("CI22: a content is read whole until the next one is written whole")
    func reader() async throws {
        try await record.replace(with: Self.content(1))
        vault.beforeSecondPart { [record] in
            let seen = try await record.contents()
            #expect(seen == Self.content(1))
        }
        try await record.replace(with: Self.content(2))
        #expect(try await record.contents() == Self.content(2))
        #expect(try await count() == 4)
    }

    @Test("CI22: two writers take turns: the last one's content stays, and nothing of the other one's")
    func writers() async throws {
        try await record.replace(with: [1, 2, 3])
        let second = Mutex<Task<Void, any Error>?>(nil)
        vault.beforeSecondPart { [record, vault] in
            let before = vault.updates
            second.withLock { $0 = Task { try await record.replace(with: Self.content(2)) } }
            while vault.updates == before { await Task.yield() }
        }
        try await record.replace(with: Self.content(1))
        try await second.withLock(\.self)?.value
        #expect(try await record.contents() == Self.content(2))
        #expect(try await count() == 4)
    }

    @Test("CI22: what a process has left that was killed while it wrote is removed by the next content")
    func strays() async throws {
        let name = ["community", "circle", "table"]
        for key in [name + ["7", "0"], ["community", "other", "table", "7", "0"]] {
            try await vault.replace(VaultKey(.circle, key), with: [9])
        }
        try await record.replace(with: [1, 2, 3])
        #expect(try await vault.keys(of: .circle).keys.count { $0.components.starts(with: name) } == 2)
        #expect(try await count() == 3, "another record's parts stay")
    }

    @Test("CI22: a content that could not be written whole leaves no part, and the old one stays")
    func failure() async throws {
        try await record.replace(with: [1, 2, 3])
        let full = LargeRecord(in: FullVault(base: vault.base), .circle, ["community", "circle", "table"])
        await #expect(throws: VaultError.unavailable("the disk is full")) {
            try await full.replace(with: Self.content(1))
        }
        #expect(try await record.contents() == [1, 2, 3])
        #expect(try await count() == 2)
    }
}

/// A vault in which something happens before a second part is written, once.
private final class PausingVault: ForwardingVault {
    let base = MemoryVault()
    private let pause = Mutex<(@Sendable () async throws -> Void)?>(nil)
    private let count = Mutex(0)

    /// How many updates of a description were begun.
    var updates: Int { count.withLock(\.self) }

    func beforeSecondPart(_ body: @escaping @Sendable () async throws -> Void) { pause.withLock { $0 = body } }

    func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        if key.components.last == "table" { count.withLock { $0 += 1 } }
        if key.components.last == "1" {
            let other = pause.withLock { pause in
                defer { pause = nil }
                return pause
            }
            try await other?()
        }
        return try await base.update(key, body)
    }
}

/// A vault that takes no second part.
private struct FullVault: ForwardingVault {
    let base: MemoryVault

    func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        if key.components.last == "1" { throw VaultError.unavailable("the disk is full") }
        return try await base.update(key, body)
    }
}
