import Handshake
import TestFixtures
import Testing

@Suite("The contract of every vault", .heavy)
struct VaultContractTests {
    @Test("E6: an absent record is nil, and an empty vault lists nothing", arguments: VaultContract.all)
    func absent(contract: VaultContract) async throws {
        let vault = try await contract.vault()
        #expect(try await vault.record(.alice) == nil)
        for kind in VaultKey.Kind.allCases {
            let listing = try await vault.keys(of: kind)
            #expect(listing.keys.isEmpty && listing.damaged.isEmpty)
        }
        try await vault.update(.alice) { #expect(await $0.contents == nil) }
        #expect(try await vault.record(.alice) == nil)
    }

    @Test("a replaced record is read back, by every handle", arguments: VaultContract.all)
    func replaced(contract: VaultContract) async throws {
        let storage = try await contract.storage(.continuous)
        let vault = try await storage.open()
        try await vault.put([1, 2, 3], under: .alice)
        try await vault.put([4], under: .alice)
        #expect(try await vault.record(.alice) == [4])
        #expect(try await storage.open().record(.alice) == [4])
        #expect(try await storage.open().keys(of: .account).keys == [.alice])
    }

    @Test(
        "several records are read in the order of their keys, absent and repeated ones too",
        arguments: VaultContract.all)
    func several(contract: VaultContract) async throws {
        let vault = try await contract.vault()
        let keys = (0..<70).map { VaultKey(.delivery, ["\($0)"]) }
        for (number, key) in keys.enumerated() where number != 3 { try await vault.put([UInt8(number)], under: key) }
        let read = try await vault.records(keys + [keys[0]]).map { try $0.get() }
        var expected: [[UInt8]?] = (0..<70).map { [$0] }
        expected[3] = nil
        #expect(read == expected + [[0]])
    }

    @Test("a journal is read back as a replacement is, and not handed out immediately", arguments: VaultContract.all)
    func journal(contract: VaultContract) async throws {
        let vault = try await contract.vault()
        try await vault.update(.alice) { try await $0.journal([1]) }
        #expect(try await vault.record(.alice) == [1])
        #expect(try await vault.claimUnfinished(of: .account, except: [])?.keys ?? [] == [])
    }

    @Test(
        "what a body concludes with is stored, also for a waiter, and every use afterwards is refused",
        arguments: VaultContract.all)
    func concluded(contract: VaultContract) async throws {
        let storage = try await contract.storage(.continuous)
        let (vault, other) = (try await storage.open(), try await storage.open())
        let waiter = try await vault.update(.alice) { record in
            try await record.replace(with: [1])
            let waiter = Task { try await other.increment(.alice) }
            try await record.conclude(with: [2, 3])
            #expect(await record.contents == [2, 3])
            for _ in 1...2 {
                let errors = [
                    await #expect(throws: VaultError.self) { try await record.replace(with: [4]) },
                    await #expect(throws: VaultError.self) { try await record.journal([4]) },
                    await #expect(throws: VaultError.self) { try await record.conclude(with: [4]) },
                    await #expect(throws: VaultError.self) { try await record.remove() },
                    await #expect(throws: VaultError.self) { try await record.confirm(for: .seconds(1)) },
                ]
                #expect(errors.allSatisfy { $0?.code == "vault_denied" })
            }
            return waiter
        }
        try await waiter.value
        #expect(try await storage.open().record(.alice)?.count == 3)
    }

    @Test("a removed record is absent and listed no more; removing it again is no error", arguments: VaultContract.all)
    func removed(contract: VaultContract) async throws {
        let storage = try await contract.storage(.continuous)
        let vault = try await storage.open()
        try await vault.put([1], under: .alice)
        try await vault.put([2], under: .bob)
        for _ in 1...2 {
            try await vault.update(.alice) { record in
                try await record.remove()
                #expect(await record.contents == nil)
            }
        }
        #expect(try await storage.open().record(.alice) == nil)
        #expect(try await storage.open().keys(of: .account).keys == [.bob])
    }

    @Test("removing a record unread tells whether there was one", arguments: VaultContract.all)
    func removedUnread(contract: VaultContract) async throws {
        let storage = try await contract.storage(.continuous)
        let vault = try await storage.open()
        try await vault.put([1], under: .alice)
        try await vault.put([2], under: .bob)
        #expect(try await vault.remove(.alice))
        #expect(try await !vault.remove(.alice))
        #expect(try await storage.open().record(.alice) == nil)
        #expect(try await storage.open().keys(of: .account).keys == [.bob])
    }

    @Test("nothing is removed while it is locked", arguments: VaultContract.all)
    func removedAfterwards(contract: VaultContract) async throws {
        let clock = ManualClock()
        let storage = try await contract.storage(clock)
        let (vault, other) = (try await storage.open(), try await storage.open())
        let error = try await vault.update(.alice) { record in
            let removal = Task { try await other.remove(.alice) }
            await clock.sleepers(1)
            try await record.replace(with: [1])
            clock.advance(by: VaultContract.timeout)
            return await #expect(throws: VaultError.self) { try await removal.value }
        }
        #expect(error?.code == "vault_busy")
        #expect(try await storage.open().record(.alice) == [1])
    }

    @Test("a listing has the keys of one kind", arguments: VaultContract.all)
    func kinds(contract: VaultContract) async throws {
        let vault = try await contract.vault()
        for kind in VaultKey.Kind.allCases {
            for name in ["a", "b", "c"] { try await vault.put([], under: VaultKey(kind, [name])) }
        }
        for kind in VaultKey.Kind.allCases {
            let listing = try await vault.keys(of: kind)
            #expect(Set(listing.keys) == Set(["a", "b", "c"].map { VaultKey(kind, [$0]) }))
            #expect(listing.keys.count == 3)
        }
    }

    @Test("E2: 64 tasks that count in one record lose nothing", arguments: VaultContract.all)
    func tasks(contract: VaultContract) async throws {
        let vault = try await contract.vault()
        try await count(tasks: 64, times: 5, in: [vault])
        #expect(try await vault.record(.alice)?.count == 320)
    }

    @Test("E2: tasks on two handles that count in one record lose nothing", arguments: VaultContract.all)
    func handles(contract: VaultContract) async throws {
        let storage = try await contract.storage(.continuous)
        let handles = [try await storage.open(), try await storage.open()]
        try await count(tasks: 32, times: 5, in: handles)
        #expect(try await handles[0].record(.alice)?.count == 160)
    }

    @Test("a held key holds up no other key and no reader", arguments: VaultContract.all)
    func independence(contract: VaultContract) async throws {
        let storage = try await contract.storage(.continuous)
        let (vault, other) = (try await storage.open(), try await storage.open())
        try await vault.put([1], under: .alice)
        try await vault.update(.alice) { record in
            for index in 0..<100 { try await vault.put([2], under: VaultKey(.signIn, ["\(index)"])) }
            try await other.put([3], under: .bob)
            #expect(try await vault.record(.alice) == [1])
            #expect(try await other.keys(of: .account).keys.count == 2)
            try await record.replace(with: [4])
            #expect(try await other.record(.alice) == [4])
        }
    }

    @Test("a cancelled waiter leaves, and the next is served", arguments: VaultContract.all)
    func cancelledWaiter(contract: VaultContract) async throws {
        let clock = ManualClock()
        let vault = try await contract.storage(clock).open()
        let release = Gate()
        let (first, second) = try await vault.update(.alice) { _ in
            let first = Task { try await vault.put([1], under: .alice) }
            await clock.sleepers(1)
            let second = Task { try await vault.put([2], under: .alice) }
            await clock.sleepers(2)
            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.value }
            release.open()
            return (first, second)
        }
        await release.wait()
        try await second.value
        #expect(first.isCancelled)
        #expect(try await vault.record(.alice) == [2])
    }

    @Test("a task that is cancelled already does not run its body", arguments: VaultContract.all)
    func cancelledBefore(contract: VaultContract) async throws {
        let vault = try await contract.vault()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await vault.put([1], under: .alice)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await vault.record(.alice) == nil)
    }

    @Test("a body that throws leaves the old record, its own error, and a free key", arguments: VaultContract.all)
    func throwing(contract: VaultContract) async throws {
        let vault = try await contract.vault()
        try await vault.put([1], under: .alice)
        await #expect(throws: Marker()) { try await vault.update(.alice) { _ in throw Marker() } }
        #expect(try await vault.record(.alice) == [1])
        try await vault.put([2], under: .alice)
    }

    @Test("a replacement stays when its body throws or is cancelled afterwards", arguments: VaultContract.all)
    func replacementStays(contract: VaultContract) async throws {
        let vault = try await contract.vault()
        await #expect(throws: Marker()) {
            try await vault.update(.alice) { record in
                try await record.replace(with: [1])
                throw Marker()
            }
        }
        #expect(try await vault.record(.alice) == [1])
        try await Task {
            try await vault.update(.alice) { record in
                withUnsafeCurrentTask { $0?.cancel() }
                try await record.replace(with: [2])
            }
        }.value
        #expect(try await vault.record(.alice) == [2])
    }

    @Test("readers see a record before or after a replacement, never between", arguments: VaultContract.all)
    func whole(contract: VaultContract) async throws {
        let storage = try await contract.storage(.continuous)
        let vault = try await storage.open()
        try await vault.put(pattern(0), under: .alice)
        try await withThrowingTaskGroup(of: Void.self) { group in
            let isOver = Gate()
            for _ in 0..<2 {
                let reader = try await storage.open()
                group.addTask {
                    while !isOver.isOpen {
                        let contents = try #require(try await reader.record(.alice))
                        #expect(contents == pattern(contents[0]))
                    }
                }
            }
            for round in 1...60 { try await vault.put(pattern(UInt8(round)), under: .alice) }
            isOver.open()
            try await group.waitForAll()
        }
    }

    @Test("a body sees what it replaced, and may do so again", arguments: VaultContract.all)
    func twice(contract: VaultContract) async throws {
        let vault = try await contract.vault()
        let result = try await vault.update(.alice) { record in
            try await record.replace(with: [1])
            #expect(await record.contents == [1])
            try await record.remove()
            try await record.replace(with: [2, 3])
            #expect(try await vault.record(.alice) == [2, 3])
            return await record.contents
        }
        #expect(result == [2, 3])
        #expect(try await vault.record(.alice) == [2, 3])
    }

    @Test("a record is of no use after its body, and changes nothing then", arguments: VaultContract.all)
    func escaped(contract: VaultContract) async throws {
        let vault = try await contract.vault()
        let record = try await vault.update(.alice) { record in
            try await record.replace(with: [1])
            return record
        }
        await #expect(throws: VaultError.self) { try await record.replace(with: [2]) }
        await #expect(throws: VaultError.self) { try await record.remove() }
        #expect(try await vault.record(.alice) == [1])
    }

    @Test("a waiter is refused as busy when its timeout ends, and the key is well", arguments: VaultContract.all)
    func busy(contract: VaultContract) async throws {
        let clock = ManualClock()
        let storage = try await contract.storage(clock)
        let vault = try await storage.open()
        try await vault.update(.alice) { record in
            for handle in [vault, try await storage.open()] {
                let waiter = Task { try await handle.put([1], under: .alice) }
                await clock.sleepers(1)
                clock.advance(by: VaultContract.timeout)
                let error = await #expect(throws: VaultError.self) { try await waiter.value }
                #expect(error?.code == "vault_busy")
            }
            try await record.replace(with: [2])
        }
        #expect(try await vault.record(.alice) == [2])
        try await vault.put([3], under: .alice)
        #expect(try await vault.record(.alice) == [3])
    }

    @Test("keys that read alike are different keys", arguments: VaultContract.all)
    func confusion(contract: VaultContract) async throws {
        let vault = try await contract.vault()
        let keys = [
            VaultKey(.account, ["a", "bc"]), VaultKey(.account, ["ab", "c"]), VaultKey(.account, ["abc"]),
            VaultKey(.account, ["a", "b", "c"]), VaultKey(.account, ["abc", ""]), VaultKey(.account, ["", "abc"]),
            VaultKey(.account, []), VaultKey(.account, [""]), VaultKey(.signIn, ["abc"]), VaultKey(.account, ["ABC"]),
            VaultKey(.account, ["abc "]), VaultKey(.account, ["abc\0"]), VaultKey(.account, ["../../abc"]),
            VaultKey(.account, ["caf\u{E9}"]), VaultKey(.account, ["cafe\u{301}"]), VaultKey(.account, ["👩‍🔬 Ω"]),
        ]
        for (index, key) in keys.enumerated() { try await vault.put([UInt8(index)], under: key) }
        for (index, key) in keys.enumerated() { #expect(try await vault.record(key) == [UInt8(index)], "\(key)") }
        let listed = try await vault.keys(of: .account).keys + vault.keys(of: .signIn).keys
        #expect(Set(listed.map(utf8)) == Set(keys.map(utf8)))
        #expect(listed.count == keys.count)
    }

    @Test(
        "contents of any size and any bytes are kept",
        arguments: VaultContract.all, [0, 1, 15, 16, 17, 4096, 65_537, 1 << 20])
    func sizes(contract: VaultContract, size: Int) async throws {
        let vault = try await contract.vault()
        let contents = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 131 ^ $0 >> 8) }
        try await vault.put(contents, under: .alice)
        #expect(try await vault.record(.alice) == contents)
        try await vault.update(.alice) { #expect(await $0.contents == contents) }
    }

    private func count(tasks: Int, times: Int, in handles: [any Vault]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<tasks {
                let vault = handles[task % handles.count]
                group.addTask { for _ in 0..<times { try await vault.increment(.alice) } }
            }
            try await group.waitForAll()
        }
    }

    private func pattern(_ byte: UInt8) -> [UInt8] {
        [UInt8](repeating: byte, count: 20_000 + Int(byte) * 100)
    }

    private func utf8(_ key: VaultKey) -> [[UInt8]] {
        [Array(key.kind.rawValue.utf8)] + key.components.map { Array($0.utf8) }
    }
}
