import Foundation
import Handshake
import TestFixtures
import Testing

@testable import PostgresVault

@Suite(
    "Rotating the key of a PostgreSQL vault", .heavy, .ownThreads, .serialized,
    .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct PostgresRotationTests {
    private static let names = (0..<20).map(String.init)
    private let folder: PostgresFolder
    private let place: PostgresPlace
    private let vault: PostgresVault

    init() async throws {
        folder = try await PostgresFolder()
        place = folder.place
        vault = try await folder.vault()
        for name in Self.names { try await vault.put(Array(name.utf8), under: VaultKey(.account, [name])) }
    }

    @Test("a rotation seals every record with a new key and retires the old one, which nothing needs any more")
    func rotated() async throws {
        for number in Int64(2)...3 {
            let former = vault.keyIdentifier
            let rotation = try await vault.rotateKey()
            #expect(rotation.key == number && rotation.resealed == 20 && rotation.isComplete && !rotation.isResumed)
            #expect(rotation.retired == [number - 1])
            #expect(try await folder.look("SELECT DISTINCT key FROM @.record") == [number])
            try FileManager.default.removeItem(atPath: "\(place.keys)/\(former).key")
        }
        for opened in [vault, try await place.open()] {
            try await expectAll(in: opened)
            try await opened.put([1], under: .alice)
            #expect(try await opened.record(.alice) == [1])
        }
    }

    @Test("a vault that was opened before a rotation reads, lists and writes with the new key")
    func openBefore() async throws {
        let (reader, lister) = (try await place.open(), try await place.open())
        let (writer, maker) = (try await place.open(), try await place.open())
        _ = try await vault.rotateKey()
        #expect(try await reader.record(VaultKey(.account, ["7"])) == Array("7".utf8))
        #expect(try await lister.keys(of: .account).keys.count == 20)
        try await writer.put([9], under: VaultKey(.account, ["7"]))
        try await maker.put([9], under: .alice)
        #expect(try await folder.look("SELECT DISTINCT key FROM @.record") == [2])
        #expect(try await reader.record(.alice) == [9])
    }

    @Test("a record that does not open keeps its key in use, and the next rotation leaves it all the same")
    func damaged() async throws {
        let one = "(SELECT min(name::text)::uuid FROM @.record)"
        try await folder.edit("UPDATE @.record SET body = label WHERE name = \(one)")
        let first = try await vault.rotateKey()
        #expect(first.resealed == 19 && first.retired.isEmpty && first.failures.map(\.code) == ["vault_damaged"])
        let second = try await vault.rotateKey()
        #expect(second.key == 3 && second.resealed == 19 && second.retired == [2] && !second.isComplete)
        try await folder.edit("DELETE FROM @.record WHERE name = \(one)")
        let third = try await vault.rotateKey()
        #expect(third.isResumed && third.retired == [1] && third.isComplete)
    }

    @Test("the caller has the name of a new key before the vault names it, and of one that a rotation goes on with")
    func named() async throws {
        let (folder, place, named) = (folder, place, Shared<[VaultIdentifier]>([]))
        // It keeps the first rotation from being completed.
        let one = "(SELECT min(name::text)::uuid FROM @.record)"
        try await folder.edit("UPDATE @.record SET body = label WHERE name = \(one)")
        _ = try await vault.rotateKey { key in
            let count = try await folder.look("SELECT count(*) FROM @.key")
            #expect(count == [1] && FileManager.default.fileExists(atPath: "\(place.keys)/\(key).key"))
            named.change { $0.append(key) }
        }
        let first = vault.keyIdentifier
        _ = try await vault.rotateKey { key in named.change { $0.append(key) } }
        #expect(named.value == [first, first, vault.keyIdentifier])
    }

    @Test("a new key that the caller refuses is named nowhere, and goes")
    func refused() async throws {
        await #expect(throws: CancellationError.self) {
            try await vault.rotateKey { _ in throw CancellationError() }
        }
        #expect(try await folder.look("SELECT count(*) FROM @.key") == [1])
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.keys) == ["\(vault.keyIdentifier).key"])
        try await expectAll(in: vault)
    }

    @Test("VL37: the hold of a rotation is renewed for as long as it runs, beyond the limit of an update")
    func long() async throws {
        let rotator = try await place.open(bodyLimit: .zero)
        let rotation = try await rotator.rotateKey { _ in _ = await rotator.holds.renew() }
        #expect(rotation.key == 2 && rotation.isComplete)
    }

    @Test("a rotation whose hold another process took seals no further record, and the next one completes it")
    func lostHold() async throws {
        // Each look renews what is held.
        let timing = LeaseTiming(unchecked: .seconds(45), renewal: .zero, observation: .seconds(12))
        let (folder, rotator) = (folder, try await place.open(timing: timing))
        let error = await #expect(throws: VaultError.self) {
            try await rotator.rotateKey { _ in
                try await folder.edit("UPDATE @.lease SET fence = fence + 1 WHERE holder IS NOT NULL")
                _ = await rotator.holds.renew()
            }
        }
        #expect(error.map { "\($0)".contains("lost its hold") } == true)
        #expect(try await folder.look("SELECT DISTINCT key FROM @.record") == [1])
        // The process that took it has released it.
        try await folder.edit("UPDATE @.lease SET holder = NULL")
        #expect(try await vault.rotateKey().isResumed)
        try await expectAll(in: vault)
    }

    @Test("a vault whose key the caller has opens with that key alone, and keeps it")
    func given() async throws {
        let (given, key) = (try await PostgresFolder().place, VaultMasterKey.random())
        #expect(try await PostgresVault.migrate(given.connection, masterKey: key, options: given.options))
        #expect(try await !PostgresVault.migrate(given.connection, masterKey: .random(), options: given.options))
        let opened = try await PostgresVault.open(given.connection, masterKey: key, options: given.options)
        try await opened.put([1], under: .alice)
        let error = await #expect(throws: VaultError.self) { try await opened.rotateKey() }
        #expect(error?.code == "vault_denied")
        let again = try await PostgresVault.open(given.connection, masterKey: key, options: given.options)
        #expect(try await again.record(.alice) == [1])
        let other = await #expect(throws: VaultError.self) {
            try await PostgresVault.open(given.connection, masterKey: .random(), options: given.options)
        }
        #expect(other?.code == "vault_locked")
    }

    @Test("VL46: rotation under writers and kill -9: all records open")
    func killed() async throws {
        let harness = KillHarness(path: place.journal)
        for round in 0..<4 {
            async let writer: Void = writeInAnotherProcess(place)
            async let rotator: Void = rotateInAnotherProcess(place, isKilled: round % 2 == 0)
            _ = await (writer, rotator)
            try await harness.check(round: round, in: place.open(timing: PostgresPlace.shortTiming))
            try await expectAll(in: place.open(timing: PostgresPlace.shortTiming))
        }
        let opened = try await place.open(timing: PostgresPlace.shortTiming)
        var rotation = try await opened.rotateKey()
        if rotation.isResumed { rotation = try await opened.rotateKey() }
        #expect(rotation.isComplete)
        #expect(try await folder.look("SELECT DISTINCT key FROM @.record") == [rotation.key])
        #expect(try await folder.look("SELECT count(*) FROM @.key WHERE state = 'old'") == [0])
        try await expectAll(in: place.open(timing: PostgresPlace.shortTiming))
    }

    /// The vault on a machine that has the keys of now, and gets no others.
    private func onOtherMachine() async throws -> PostgresVault {
        try FileManager.default.copyItem(atPath: place.keys, toPath: place.parent + "/other")
        return try await PostgresVault.open(
            place.connection, keyFolder: place.parent + "/other", options: place.options, clock: .continuous,
            timing: .standard)
    }

    @Test("an answer is stored with the old key where the new one has not arrived, and the rotation finds it")
    func keyOnTheWay() async throws {
        let (vault, folder) = (vault, folder)
        let other = try await onOtherMachine()
        let rotating = try await other.update(.alice) { record in
            try await record.replace(with: [1])
            let rotating = Task { try await vault.rotateKey() }
            while try await folder.look("SELECT count(*) FROM @.key WHERE state = 'old'") != [1] { await Task.yield() }
            // A first write may wait for the key.
            let error = await #expect(throws: VaultError.self) { try await other.put([3], under: .bob) }
            #expect(error?.code == "vault_locked")
            try await record.replace(with: [2])
            return rotating
        }
        #expect(try await rotating.value.isComplete)
        #expect(try await vault.record(.alice) == [2])
    }

    @Test("an answer that could not be stored is stored with the old key at the next attempt too")
    func keyOnTheWayLater() async throws {
        let (vault, folder) = (vault, folder)
        let other = try await onOtherMachine()
        let rotating = Shared<Task<VaultKeyRotation, any Error>?>(nil)
        let error = await #expect(throws: VaultError.self) {
            try await other.update(.alice) { record in
                try await record.replace(with: [1])
                rotating.change { $0 = Task { try await vault.rotateKey() } }
                while try await folder.look("SELECT count(*) FROM @.key WHERE state = 'old'") != [1] {
                    await Task.yield()
                }
                // No vault takes it: it is too long.
                try await record.replace(with: [UInt8](repeating: 0, count: 2 << 20))
            }
        }
        #expect(error?.code == "vault_denied")
        try await other.put([2], under: .alice)
        #expect(try await rotating.value?.value.isComplete == true)
        #expect(try await vault.record(.alice) == [2])
    }

    @Test("a copy to files and back has every record")
    func copied() async throws {
        let files = try FileVault(directory: place.parent + "/files", keyFile: place.parent + "/files.key")
        let report = try await vault.copyRecords(to: files)
        #expect(report.isComplete && report.copied == 20)
        for name in Self.names { try await vault.remove(VaultKey(.account, [name])) }
        let back = try await files.copyRecords(to: vault)
        #expect(back.isComplete && back.copied == 20)
        try await expectAll(in: vault)
        #expect(try await vault.inventory().records == 20)
    }

    private func expectAll(in vault: PostgresVault) async throws {
        for name in Self.names { #expect(try await vault.record(VaultKey(.account, [name])) == Array(name.utf8)) }
        let listing = try await vault.keys(of: .account)
        #expect(listing.keys.count >= Self.names.count && listing.damaged.isEmpty)
    }
}

private func writeInAnotherProcess(_ place: PostgresPlace) async {
    await #expect(processExitsWith: .signal(SIGKILL)) { [place = place as PostgresPlace] in
        let harness = KillHarness(path: place.journal)
        let vault = try await place.open(timing: PostgresPlace.shortTiming)
        try await harness.work(in: vault) { killAtRandom(countingUpTo: 20_000_000) }
    }
}

private func rotateInAnotherProcess(_ place: PostgresPlace, isKilled: Bool) async {
    await #expect(processExitsWith: .signal(SIGKILL)) {
        [place = place as PostgresPlace, isKilled = isKilled as Bool] in
        if isKilled { killAtRandom(countingUpTo: 20_000_000) }
        _ = try await place.open(timing: PostgresPlace.shortTiming).rotateKey()
        kill(getpid(), SIGKILL)
    }
}
