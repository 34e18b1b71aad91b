import Foundation
import GRDB
import Handshake
import SQLiteVault

/// Exclusive updates a second of the SQLite vault, beside SQLite transactions of the same size and a vault of files in the same run.
///
///     swift run -c release database-benchmark [SECONDS]
@main
struct DatabaseBenchmark {
    private static let contents = [UInt8](repeating: 7, count: 1500)
    private static let records = 1000

    static func main() async throws {
        let seconds = CommandLine.arguments.dropFirst().first.flatMap(Double.init) ?? 5
        let folder = NSTemporaryDirectory() + "database-benchmark-\(ProcessInfo.processInfo.processIdentifier)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }

        let bare = try bareDatabase(folder + "/bare.sqlite")
        _ = try SQLiteVault.migrate(folder + "/data/vault.sqlite", keyFile: folder + "/vault.key")
        let vault = try SQLiteVault(folder + "/data/vault.sqlite", keyFile: folder + "/vault.key")
        let files = try FileVault(directory: folder + "/files", keyFile: folder + "/files.key")
        for index in 0..<records {
            for vault in [vault, files] as [any Vault] { try await update(vault, index) }
        }
        print(
            "transactions or exclusive updates a second, \(contents.count) bytes, \(records) records, \(seconds) s a row\n"
        )
        try report("bare SQLite: begin, select, update, commit", times(seconds) { try transact(bare, $0) })
        for tasks in [1, 8] {
            try await report(
                "SQLiteVault, \(tasks) tasks", times(seconds, tasks: tasks) { try await update(vault, $0) })
            try await report("FileVault, \(tasks) tasks", times(seconds, tasks: tasks) { try await update(files, $0) })
        }
        try await report(
            "SQLiteVault, records read, 1 task", times(seconds, tasks: 1) { _ = try await vault.record(key($0)) })
    }

    private static func key(_ index: Int) -> VaultKey { VaultKey(.account, ["\(index % records)"]) }

    private static func update(_ vault: any Vault, _ index: Int) async throws {
        try await vault.update(key(index)) { record in
            _ = await record.contents
            try await record.replace(with: contents)
        }
    }

    private static func bareDatabase(_ path: String) throws -> DatabasePool {
        let pool = try DatabasePool(path: path)
        try pool.writeWithoutTransaction { db in
            try db.execute(
                sql: "PRAGMA synchronous = FULL; CREATE TABLE record (name BLOB PRIMARY KEY, body BLOB NOT NULL)")
            for index in 0..<records {
                try db.execute(
                    sql: "INSERT INTO record VALUES (?, ?)", arguments: [Data("\(index)".utf8), Data(contents)])
            }
        }
        return pool
    }

    private static func transact(_ pool: DatabasePool, _ index: Int) throws {
        let name = Data("\(index % records)".utf8)
        try pool.writeWithoutTransaction { db in
            try db.inTransaction(.immediate) {
                _ = try Data.fetchOne(
                    db.cachedStatement(sql: "SELECT body FROM record WHERE name = ?"), arguments: [name])
                try db.cachedStatement(sql: "UPDATE record SET body = ? WHERE name = ?")
                    .execute(arguments: [Data(contents), name])
                return .commit
            }
        }
    }

    private static func times(_ seconds: Double, _ body: (Int) throws -> Void) throws -> Double {
        let clock = ContinuousClock()
        let start = clock.now
        var count = 0
        while clock.now - start < .seconds(seconds) {
            try body(count)
            count += 1
        }
        return Double(count) / ((clock.now - start) / .seconds(1))
    }

    private static func times(
        _ seconds: Double, tasks: Int, _ body: @escaping @Sendable (Int) async throws -> Void
    ) async throws -> Double {
        let clock = ContinuousClock()
        let start = clock.now
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            for task in 0..<tasks {
                group.addTask {
                    var count = 0
                    while clock.now - start < .seconds(seconds) {
                        try await body(task + count * tasks)
                        count += 1
                    }
                    return count
                }
            }
            return try await group.reduce(0, +)
        }
        return Double(count) / ((clock.now - start) / .seconds(1))
    }

    private static func report(_ name: String, _ rate: Double) {
        print("\(name.padding(toLength: 48, withPad: " ", startingAt: 0)) \(Int(rate))")
    }
}
