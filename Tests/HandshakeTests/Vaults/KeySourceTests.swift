import Foundation
import Handshake
import TestFixtures
import Testing

/// Keys that neither the vault's own file nor a key store keeps.
@Suite("Keys from a command or a credential", .heavy)
struct KeySourceTests {
    private static let key = (0..<32).map { UInt8($0 * 5 + 3) }
    private static let digits = key.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    private static let base64 = Data(key).base64EncodedString()
    private let temporary: TemporaryFolder
    private var folder: String { temporary.path }

    init() throws { temporary = try TemporaryFolder() }

    private func file(_ name: String, _ bytes: [UInt8], mode: Int = 0o600) throws -> String {
        let path = "\(folder)/\(name)"
        try Files.make(bytes, at: path)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    /// The error, whose text holds nothing of what was printed.
    private func expectLocked(
        _ printed: String = "", _ body: () async throws -> VaultMasterKey
    ) async -> String {
        let error = await #expect(throws: VaultError.self) { _ = try await body() }
        #expect(error?.code == "vault_locked")
        let text = error.map { "\($0)" } ?? ""
        if !printed.isEmpty { #expect(!text.contains(printed), "\(text)") }
        return text
    }

    static let forms: [[UInt8]] =
        [key, Array(digits.utf8), Array("\(digits)\n".utf8), Array("\(digits.uppercased())\r\n".utf8)]
        + [Array(base64.utf8), Array("\(base64)\n".utf8)]

    static let noKeys: [[UInt8]] = [
        [], key + [10], Array(key.dropLast()), Array("\(digits)00".utf8), Array("\(digits)\n\n".utf8),
        Array(String(repeating: "g", count: 64).utf8), Array(String(repeating: "é", count: 32).utf8),
        Array(String(repeating: "A", count: 44).utf8), Array(String(repeating: "-", count: 44).utf8),
        [UInt8](repeating: 0xFF, count: 64),
    ]

    #if os(Linux) || os(macOS)
    @Test("a key is taken from a program in each of its forms, and opens what it sealed", arguments: forms)
    func printed(form: [UInt8]) async throws {
        let path = try file("printed", form)
        let key = try await VaultMasterKey.printed(by: ["cat", path])
        #expect(key.reveal() == Self.key)
        let directory = folder + "/vault"
        let vault = try FileVault(directory: directory, masterKey: key)
        try await vault.put([1], under: .alice)
        #expect(try await FileVault(directory: directory, masterKey: key).record(.alice) == [1])
        let error = #expect(throws: VaultError.self) {
            try FileVault(directory: directory, masterKey: .random())
        }
        #expect(error?.code == "vault_locked")
    }

    @Test("E9: what is no key is refused, and no error repeats it", arguments: noKeys)
    func notPrinted(form: [UInt8]) async throws {
        let path = try file("printed", form)
        let printed = String(decoding: form.prefix(20), as: UTF8.self)
        _ = await expectLocked(printed) { try await VaultMasterKey.printed(by: ["cat", path]) }
        let credential = await expectLocked(printed) {
            try VaultMasterKey.credential(named: "printed", environment: ["CREDENTIALS_DIRECTORY": folder])
        }
        #expect(credential.contains("printed"))
    }

    @Test("a program runs once a process, and again after a failure")
    func once() async throws {
        let (log, key) = (folder + "/runs", try file("key", Self.key))
        let command = ["sh", "-c", "echo run >> \"$0\"; cat \"$1\"", log, key]
        try FileManager.default.moveItem(atPath: key, toPath: key + ".away")
        _ = await expectLocked { try await VaultMasterKey.printed(by: command) }
        try FileManager.default.moveItem(atPath: key + ".away", toPath: key)
        try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<20 { group.addTask { try await VaultMasterKey.printed(by: command).reveal() } }
            for try await found in group { #expect(found == Self.key) }
        }
        #expect(try await VaultMasterKey.printed(by: command).reveal() == Self.key)
        #expect(try String(contentsOfFile: log, encoding: .utf8) == "run\nrun\n")
    }

    @Test("no shell reads the arguments, and the program's input is empty")
    func noShell() async throws {
        let path = try file("$(printf a); b", Self.key)
        #expect(try await VaultMasterKey.printed(by: ["cat", path]).reveal() == Self.key)
        let empty = ["sh", "-c", "test -z \"$(cat)\" && cat \"$0\"", path]
        #expect(try await VaultMasterKey.printed(by: empty).reveal() == Self.key)
    }

    @Test("a program that fails, is not there or is no program locks the vault, and its arguments stay unsaid")
    func failures() async throws {
        let key = try file("key", Self.key)
        let failed = await expectLocked("secret-argument") {
            try await VaultMasterKey.printed(by: ["sh", "-c", "cat \"$0\"; exit 3", key, "secret-argument"])
        }
        #expect(failed.contains("“sh” failed (status 3)"), "\(failed)")
        let killed = await expectLocked { try await VaultMasterKey.printed(by: ["sh", "-c", "kill -9 $$"]) }
        #expect(killed.contains("signal 9"), "\(killed)")
        for command in [[], [""], [folder + "/none"], [key], ["cat", "a\0b"]] {
            _ = await expectLocked { try await VaultMasterKey.printed(by: command) }
        }
    }

    @Test("a program that does not end is stopped, and one that prints more than a key is refused")
    func endless() async throws {
        let pid = folder + "/pid"
        var started: pid_t?
        // On a busy machine a program may not even begin in so short a time.
        for milliseconds in [500, 5_000, 30_000] where started == nil {
            let text = await expectLocked {
                try await VaultMasterKey.printed(
                    by: ["sh", "-c", "echo $$ > \"$0\"; echo ready; exec sleep 60 2>/dev/null", pid],
                    timeout: .milliseconds(milliseconds))
            }
            #expect(text.contains("did not end"), "\(text)")
            started = (try? String(contentsOfFile: pid, encoding: .utf8)).flatMap { pid_t($0.dropLast()) }
        }
        #expect(kill(try #require(started), 0) != 0)
        let endless = await expectLocked {
            // Not without end: it would come to the timeout only when the bound is gone.
            try await VaultMasterKey.printed(by: ["head", "-c", "8192", "/dev/zero"], timeout: .seconds(600))
        }
        #expect(endless.contains("more than a key"), "\(endless)")
    }

    @Test("a program whose child keeps its output open ends with the program")
    func inherited() async throws {
        let (pid, key) = (folder + "/pid", try file("key", Self.key))
        let command = ["sh", "-c", "sleep 600 & echo $! > \"$0\"; cat \"$1\"", pid, key]
        defer {
            let text = (try? String(contentsOfFile: pid, encoding: .utf8)) ?? ""
            if let number = pid_t(text.dropLast()) { kill(number, SIGKILL) }
        }
        #expect(try await VaultMasterKey.printed(by: command, timeout: .seconds(600)).reveal() == Self.key)
    }
    #endif

    @Test(
        "a credential of the service is taken, also one that only the system may write",
        arguments: [0o600, 0o440, 0o400])
    func credential(mode: Int) throws {
        _ = try file("vault-key", Self.key, mode: mode)
        let key = try VaultMasterKey.credential(named: "vault-key", environment: ["CREDENTIALS_DIRECTORY": folder])
        #expect(key.reveal() == Self.key)
    }

    @Test(
        "E5: a credential that others may read or write, with a second name or behind a link is denied",
        arguments: 0..<5)
    func denied(case number: Int) throws {
        let path = try file("vault-key", Self.key)
        switch number {
        case 0: try FileManager.default.setAttributes([.posixPermissions: 0o620], ofItemAtPath: path)
        case 4: try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: path)
        case 1: try FileManager.default.linkItem(atPath: path, toPath: path + "2")
        case 2:
            try FileManager.default.moveItem(atPath: path, toPath: path + "2")
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path + "2")
        default: try FileManager.default.setAttributes([.posixPermissions: 0o770], ofItemAtPath: folder)
        }
        let error = #expect(throws: VaultError.self) {
            try VaultMasterKey.credential(named: "vault-key", environment: ["CREDENTIALS_DIRECTORY": folder])
        }
        #expect(error?.code == "vault_denied")
    }

    @Test("a credential that is not there names the unit's setting; one outside its folder is refused")
    func absent() async throws {
        let missing = await expectLocked {
            try VaultMasterKey.credential(named: "vault-key", environment: ["CREDENTIALS_DIRECTORY": folder])
        }
        #expect(missing.contains("LoadCredentialEncrypted=vault-key"))
        for environment in [[:], ["CREDENTIALS_DIRECTORY": ""], ["CREDENTIALS_DIRECTORY": "."]] as [[String: String]] {
            let text = await expectLocked {
                try VaultMasterKey.credential(named: "vault-key", environment: environment)
            }
            #expect(text.contains("CREDENTIALS_DIRECTORY"))
        }
        for name in ["", ".", "..", "../key", "a/b", "a\0b"] {
            #expect(throws: VaultError.self) {
                try VaultMasterKey.credential(named: name, environment: ["CREDENTIALS_DIRECTORY": folder])
            }
        }
    }
}
