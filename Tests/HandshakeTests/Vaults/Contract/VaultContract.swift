import Handshake
import Testing

/// A kind of vault that must keep the promises of `Vault`; `VaultContractTests` runs all of them against each.
///
/// Each test target that compiles this folder says in an extension which are ``all``. A vault under test measures its timeout of 240
/// seconds with the clock it is given, and every task that waits for a key sleeps on that clock.
struct VaultContract: Sendable, CustomTestStringConvertible {
    /// One place where records rest. Each opening is another handle to it.
    struct Storage: Sendable {
        let open: @Sendable () async throws -> any Vault
    }

    let testDescription: String
    /// Makes a new, empty storage, which is removed when neither it nor a handle to it is in use.
    let storage: @Sendable (any Clock<Duration>) async throws -> Storage

    static let timeout = Duration.seconds(240)

    /// A new vault on the machine's clock.
    func vault() async throws -> any Vault {
        try await storage(.continuous).open()
    }
}

extension Vault {
    /// Puts a record in place, whatever was there.
    func put(_ contents: [UInt8], under key: VaultKey) async throws {
        try await update(key) { try await $0.replace(with: contents) }
    }

    /// Adds one to a record that counts, and takes its time between reading and writing.
    func increment(_ key: VaultKey) async throws {
        try await update(key) { record in
            let count = await record.contents?.count ?? 0
            await Task.yield()
            try await record.replace(with: [UInt8](repeating: 1, count: count + 1))
        }
    }
}

extension Vault {
    /// Counts 5,000 on in Alice's record, in four tasks.
    func countOn() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<1250 {
                        try await update(.alice) { record in
                            let count = Self.count(await record.contents ?? []) + 1
                            try await record.replace(with: (0..<4).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) })
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// What Alice's record has counted to.
    var count: Int { get async throws { Self.count(try await record(.alice) ?? []) } }

    private static func count(_ contents: [UInt8]) -> Int { contents.reversed().reduce(0) { $0 << 8 | Int($1) } }

    /// Expects every listing to have these records once each, while others come and go.
    func expectListings(of names: [String], times: Int, while passing: Int) async throws {
        async let churn: Void = {
            for round in 0..<passing {
                let key = VaultKey(.delivery, ["passing \(round)"])
                try await put([], under: key)
                try await remove(key)
            }
        }()
        for _ in 0..<times {
            let listed = try await keys(of: .delivery).keys.map { $0.components[0] }.filter { !$0.hasPrefix("passing") }
            #expect(listed.count == names.count && Set(listed) == Set(names))
        }
        try await churn
    }
}

extension VaultKey {
    static let alice = VaultKey(.account, ["https://service.example", "client", "", "alice"])
    static let bob = VaultKey(.account, ["https://service.example", "client", "", "bob"])
}

/// What a test throws to see it again.
struct Marker: Error, Equatable {}
