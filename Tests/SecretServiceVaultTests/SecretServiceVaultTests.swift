import BusFixtures
import DBus
import DesktopServices
import Foundation
import Handshake
import SecretServiceVault
import TestFixtures
import Testing

/// The keyring is gnome-keyring, on a bus of its own.
@Suite(
    "The vault whose key the keyring keeps", .heavy,
    .enabled(if: Tool.areInstalled(.busDaemon, .keyring), "dbus-daemon or gnome-keyring-daemon is not installed"))
struct SecretServiceVaultTests {
    private let key = VaultKey(.registration, ["example"])

    private func open(_ bus: BusDaemon, _ name: String = "vault") async throws -> FileVault {
        try await SecretServiceVault.open(
            directory: bus.folder + "/" + name, on: try Address.list(bus.addressText), promptTime: nil)
    }

    @Test("BE-26: what was kept is there again after the keyring was unlocked again, and the key is in no file")
    func reopened() async throws {
        let bus = try await BusDaemon()
        let first = try await bus.startKeyring(password: "test-password")
        let vault = try await open(bus)
        try await vault.update(key) { try await $0.replace(with: [1, 2, 3]) }
        await first.stop()
        let second = try await bus.startKeyring(password: "test-password")
        #expect(try await open(bus).record(key) == [1, 2, 3])
        second.end()
        let files = FileManager.default.enumerator(atPath: bus.folder + "/vault")?.compactMap { $0 as? String } ?? []
        #expect(files.contains("vault.json"))
        #expect(!files.contains { $0.contains("key") })
    }

    @Test("BE-26: a locked keyring is an error, and nothing is made or lost")
    func locked() async throws {
        let bus = try await BusDaemon()
        let first = try await bus.startKeyring(password: "test-password")
        try await open(bus).update(key) { try await $0.replace(with: [1]) }
        await first.stop()
        let second = try await bus.startKeyring(password: "wrong")
        await #expect {
            try await open(bus)
        } throws: { error in
            if case VaultError.locked = error { true } else { false }
        }
        await #expect(throws: VaultError.self) { try await open(bus, "another") }
        #expect(!FileManager.default.fileExists(atPath: bus.folder + "/another"))
        await second.stop()
        let third = try await bus.startKeyring(password: "test-password")
        #expect(try await open(bus).record(key) == [1])
        third.end()
    }

    @Test("BE-26: a keyring without a default collection cannot be used, and the key is not said to be lost")
    func noCollection() async throws {
        let bus = try await BusDaemon()
        let keyring = try await bus.startKeyring(password: "test-password")
        try await open(bus).update(key) { try await $0.replace(with: [1]) }
        await keyring.stop()
        let service = try await bus.connect()
        let presence = try await service.presence(of: "org.freedesktop.secrets")
        for try await owner in presence where owner == .absent { break }
        let path = Argument("path", .objectPath)
        let paths = ValueType.array(.objectPath)
        let closed = ExportedInterface(
            "org.freedesktop.Secret.Service",
            methods: [
                ExportedMethod(
                    "OpenSession", takes: [Argument("algorithm", .string), Argument("input", .variant)],
                    returns: [Argument("output", .variant), path]
                ) { call in
                    guard call.arguments.first == "plain" else { throw RemoteError(.notSupported, "no cipher") }
                    return [.variant(""), .objectPath("/org/freedesktop/secrets/session/1")]
                },
                ExportedMethod(
                    "SearchItems", takes: [Argument("attributes", .dictionary(key: .string, value: .string))],
                    returns: [Argument("unlocked", paths), Argument("locked", paths)]
                ) { _ in [[ObjectPath]().value, [ObjectPath]().value] },
                ExportedMethod("ReadAlias", takes: [Argument("name", .string)], returns: [path]) { _ in
                    [.objectPath("/")]
                },
            ])
        try service.export([closed], at: "/org/freedesktop/secrets")
        #expect(try await service.requestName("org.freedesktop.secrets"))
        await #expect {
            try await open(bus)
        } throws: { error in
            guard case VaultError.locked(let reason) = error else { return false }
            return reason.contains("no default collection")
        }
        service.close()
    }

    @Test("BE-26: a key that a locked keyring keeps is not said to be removed")
    func keptWhileLocked() async throws {
        let bus = try await BusDaemon()
        let first = try await bus.startKeyring(password: "test-password")
        let keys = try SecretServiceKeys(environment: ["DBUS_SESSION_BUS_ADDRESS": bus.addressText], promptTime: nil)
        let identifier = VaultIdentifier.random()
        try await keys.store(VaultMasterKey.random(), of: identifier, label: "Example")
        await first.stop()
        let second = try await bus.startKeyring(password: "wrong")
        defer { second.end() }
        await #expect {
            try await keys.remove(identifier)
        } throws: { error in
            if case VaultError.locked = error { true } else { false }
        }
    }

    @Test("a keyring that lost the key says so, and no new key is made over the old records")
    func lost() async throws {
        let bus = try await BusDaemon()
        let keyring = try await bus.startKeyring(password: "test-password")
        defer { keyring.end() }
        _ = try await open(bus)
        _ = try await bus.run(.secretTool, ["clear", "application", "handshake"])
        await #expect {
            try await open(bus)
        } throws: { error in
            if case VaultError.locked(let reason) = error { reason.contains("does not have the key") } else { false }
        }
    }

    @Test("processes that create the same vault concurrently all get the same one, and one key stays")
    func race() async throws {
        let bus = try await BusDaemon()
        let keyring = try await bus.startKeyring(password: "test-password")
        defer { keyring.end() }
        try await withThrowingTaskGroup { group in
            for number in 0..<8 {
                group.addTask {
                    let vault = try await open(bus)
                    try await vault.update(VaultKey(.registration, ["\(number)"])) {
                        try await $0.replace(with: [UInt8(number)])
                    }
                }
            }
            try await group.waitForAll()
        }
        let vault = try await open(bus)
        for number in 0..<8 {
            #expect(try await vault.record(VaultKey(.registration, ["\(number)"])) == [UInt8(number)])
        }
        let kept = try await bus.run(.secretTool, ["search", "--all", "application", "handshake"])
        #expect(kept.split(separator: "\n").count { $0.hasPrefix("label") } == 1)
    }

    @Test("a copy to files with a key of their own, and from them to another vault of the keyring, has every record")
    func copied() async throws {
        let bus = try await BusDaemon()
        let keyring = try await bus.startKeyring(password: "test-password")
        defer { keyring.end() }
        let (vault, other) = (try await open(bus), try await open(bus, "other"))
        let keys = (0..<20).map { VaultKey(.registration, ["\($0)"]) }
        for (number, key) in keys.enumerated() {
            try await vault.update(key) { try await $0.replace(with: [UInt8(number)]) }
        }
        let files = try FileVault(directory: bus.folder + "/files", keyFile: bus.folder + "/files.key")
        #expect(try await vault.copyRecords(to: files).copied == 20)
        #expect(try await files.copyRecords(to: other).copied == 20)
        for (number, key) in keys.enumerated() { #expect(try await other.record(key) == [UInt8(number)]) }
    }

    @Test("without a keyring nothing is made, and the error says what to do")
    func noKeyring() async throws {
        let bus = try await BusDaemon()
        await #expect {
            try await open(bus)
        } throws: { error in
            if case VaultError.unavailable = error { true } else { false }
        }
        #expect(!FileManager.default.fileExists(atPath: bus.folder + "/vault"))
    }

    @Test("a key that was given does not print")
    func secrets() {
        let key = VaultMasterKey.random()
        let digits = key.reveal().map(String.init).joined(separator: ", ")
        var dumped = ""
        dump(key, to: &dumped)
        for text in ["\(key)", String(reflecting: key)] { #expect(!text.contains(digits)) }
        // A dump has each byte in a line of its own.
        #expect(dumped.split(separator: "\n").count == 1, "\(dumped)")
    }
}
