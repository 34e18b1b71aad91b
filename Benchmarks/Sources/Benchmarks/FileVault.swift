import Foundation
import Handshake
import VaultContents

extension Benchmark {
    static let fileVault = Benchmark(
        name: "file-vault", summary: "a file vault with 100,000 accounts (or --accounts N), each of 600 bytes",
        run: { options in
            try await VaultReading.fill(options.folder, accounts: options.accounts)
            return try await VaultReading.run(options) + (try await VaultKilling.run(options))
        })
}

/// Opening a vault and reading every record once, each time in a process that does nothing else.
enum VaultReading {
    private static let processes = 7

    /// Makes the vault. Tasks overlap their waits for the storage.
    static func fill(_ folder: String, accounts: Int) async throws {
        note("filling a vault with \(accounts) accounts")
        let vault = try VaultContents.vault(in: folder)
        let tasks = 32
        let time = try await seconds {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<tasks {
                    group.addTask {
                        for number in stride(from: task, to: accounts, by: tasks) {
                            let bytes = VaultContents.bytes(number, sequence: 0)
                            try await vault.update(VaultContents.key(number)) { try await $0.replace(with: bytes) }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        note("filled in \(Int(time)) s, \(Int(Double(accounts) / time)) durable updates a second by \(tasks) tasks")
    }

    static func run(_ options: Options) async throws -> [Figure] {
        let plain = ChildPart.readFiles(folder: options.folder)
        let runs = try await samples(processes) {
            (
                vault: try await blocking { try readVault(options) },
                files: try await blocking { try plain.numbers() }[0]
            )
        }
        return [
            Figure("open", "ms", .atMost(300), samples: runs.map { $0.vault[0] * 1e3 }),
            Figure("cold reads, decrypted", "a second", .atLeast(20_000), samples: runs.map { $0.vault[1] }),
            Figure("the same files, read and not decrypted", "a second", samples: runs.map(\.files)),
            Figure("at most resident", "MB", .atMost(25), samples: runs.map { $0.vault[3] / 1e6 }),
            Figure("resident before opening", "MB", samples: runs.map { $0.vault[2] / 1e6 }),
        ]
    }

    /// Runs the program beside this one that only opens and reads, and takes the numbers that it prints.
    private static func readVault(_ options: Options) throws -> [Double] {
        let reader = URL(filePath: ChildProcess.ourselves).deletingLastPathComponent().path() + "vault-reader"
        let child = try ChildProcess(reader, [options.folder, "\(options.accounts)"])
        let numbers = child.readLine()?.split(separator: " ").compactMap { Double($0) } ?? []
        guard child.wait().status == 0, numbers.count == 4 else { throw Failure("vault-reader failed") }
        return numbers
    }

    /// The part of a child: prints the files read a second.
    static func readFiles(folder: String) throws {
        let root = folder + "/vault/"
        var paths: [String] = []
        for shard in try FileManager.default.contentsOfDirectory(atPath: root) where shard.utf8.count == 2 {
            paths += try FileManager.default.contentsOfDirectory(atPath: root + shard).map { root + shard + "/" + $0 }
        }
        paths.shuffle()
        var buffer = [UInt8](repeating: 0, count: 4096)
        let start = monotonicSeconds()
        for path in paths {
            let file = open(path, O_RDONLY | O_CLOEXEC)
            guard file >= 0, read(file, &buffer, buffer.count) > 600 else { throw Failure("\(path) cannot be read") }
            close(file)
        }
        print(Double(paths.count) / (monotonicSeconds() - start))
    }
}
