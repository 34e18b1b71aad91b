import Foundation
import GRDB
import Handshake
import OAuth
import PostgresVault
import SQLiteVault

/// Exclusive updates a second of the vaults in databases, beside transactions of the same size and a vault of files in the same run.
///
///     swift run -c release database-benchmark [SECONDS] [postgres]
///
/// With `postgres` only PostgreSQL is measured. Beside each of its rates is the processor time of an update in this process: on a machine with
/// other work it says more than the rate.
@main
struct DatabaseBenchmark {
    private static let contents = [UInt8](repeating: 7, count: 1500)
    private static let records = 1000

    static func main() async throws {
        let seconds = CommandLine.arguments.dropFirst().first.flatMap(Double.init) ?? 5
        let folder = NSTemporaryDirectory() + "database-benchmark-\(ProcessInfo.processInfo.processIdentifier)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        guard CommandLine.arguments.dropFirst(2).first != "postgres" else { return try await postgres(seconds, folder) }

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
        try await postgres(seconds, folder)
    }

    /// The same with a PostgreSQL server of its own, whose commits reach the storage, beside its own benchmark program.
    private static func postgres(_ seconds: Double, _ folder: String) async throws {
        guard PostgresServer.isInstalled else { return print("PostgreSQL is not installed") }
        let server = try PostgresServer(isDurable: true)
        var options = PostgresVault.Options()
        options.connections = 8
        try await PostgresVault.migrate(server.connection, keyFolder: folder + "/keys")
        let vault = try await PostgresVault.open(server.connection, keyFolder: folder + "/keys", options: options)
        for index in 0..<records { try await update(vault, index) }
        try server.prepareBenchmark(records: records, bytes: contents.count, folder)
        var bare: [Double] = []
        for mode in ["prepared", "extended"] {
            bare.append(try server.benchmark(mode, seconds, folder))
            report("pgbench: begin, select for update, update, commit, 8 connections, \(mode)", bare.last ?? 0)
        }
        for tasks in [1, 8, 32] {
            let start = clock()
            let rate = try await times(seconds, tasks: tasks) { try await update(vault, $0) }
            // POSIX fixes the unit at a millionth of a second.
            let time = Double(clock() - start) / (rate * seconds)
            let shares = bare.map { "\(Int(rate / $0 * 100)) %" }.joined(separator: " and ")
            report("PostgresVault, 8 connections, \(tasks) tasks (\(shares) of pgbench)", rate)
            show("PostgresVault, processor time of an update, \(tasks) tasks: \(Int(time)) µs here")
            try await report(
                "PostgresVault, the same with a release of its own",
                times(seconds, tasks: tasks) { try await update(vault, $0, concludes: false) })
        }
        try await report(
            "PostgresVault, records read, 8 tasks", times(seconds, tasks: 8) { _ = try await vault.record(key($0)) })
        try await wakeUps(
            vault, try await PostgresVault.open(server.connection, keyFolder: folder + "/keys", options: options))
        try await freshTokens(vault)
        server.stop()
    }

    /// What the access token of an account costs that is at hand and whose token lives.
    private static func freshTokens(_ vault: PostgresVault) async throws {
        let client = Client(
            service: .recurseCenter, id: "app", redirect: .uri(try RedirectURI("com.example.app:/callback")))
        let now = Date().timeIntervalSince1970
        let account = try await Handshake(client, vault: vault, transport: Unreachable()).adopt(
            Grant(
                accessToken: Secret("token"), expiresAt: now + 86_400, issuedAt: now, refreshToken: Secret("refresh"),
                scopes: []))
        let count = 1_000_000
        let start = clock()
        for _ in 0..<count { _ = try await account.accessToken() }
        // POSIX fixes the unit at a millionth of a second.
        show("PostgresVault, a fresh token of a warm account: \(Double(clock() - start) / Double(count)) µs")
    }

    /// How long a waiter of another vault waits after a holder's body has returned.
    private static func wakeUps(_ vault: PostgresVault, _ other: PostgresVault) async throws {
        let clock = ContinuousClock()
        var waits: [Duration] = []
        for _ in 0..<60 {
            let (held, isHeld) = AsyncStream<Void>.makeStream()
            async let released = vault.update(key(0)) { _ in
                isHeld.finish()
                // The other one waits by then, and looks for itself seldom.
                try await Task.sleep(for: .milliseconds(Int.random(in: 200...300)))
                return clock.now
            }
            for await _ in held {}
            let taken = try await other.update(key(0)) { _ in clock.now }
            waits.append(try await released.duration(to: taken))
        }
        waits.sort()
        let (middle, worst) = (waits[waits.count / 2] / .milliseconds(1), waits[waits.count - 1] / .milliseconds(1))
        show("PostgresVault, wait after a release: p50 \(middle) ms, worst \(worst) ms of \(waits.count)")
    }

    private static func key(_ index: Int) -> VaultKey { VaultKey(.account, ["\(index % records)"]) }

    private static func update(_ vault: any Vault, _ index: Int, concludes: Bool = true) async throws {
        try await vault.update(key(index)) { record in
            _ = await record.contents
            if concludes {
                try await record.conclude(with: contents)
            } else {
                try await record.replace(with: contents)
            }
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

    /// Prints a line when it is known, also into a file.
    private static func show(_ line: String) {
        print(line)
        fflush(nil)
    }

    private static func report(_ name: String, _ rate: Double) {
        show("\(name.padding(toLength: 80, withPad: " ", startingAt: 0)) \(Int(rate))")
    }
}

extension PostgresServer {
    fileprivate func prepareBenchmark(records: Int, bytes: Int, _ folder: String) throws {
        let fill = """
            CREATE TABLE bench (id integer PRIMARY KEY, body bytea NOT NULL) WITH (fillfactor = 70);
            ALTER TABLE bench ALTER body SET STORAGE PLAIN;
            INSERT INTO bench SELECT i, decode(repeat('07', \(bytes)), 'hex') FROM generate_series(1, \(records)) i;
            """
        _ = try output(of: "psql", ["-q", "-h", socket, "-U", "postgres", "-c", fill, "postgres"])
        let script = """
            \\set id random(1, \(records))
            BEGIN;
            SELECT body FROM bench WHERE id = :id FOR UPDATE;
            UPDATE bench SET body = set_byte(body, 0, :client_id) WHERE id = :id;
            COMMIT;
            """
        try script.write(toFile: folder + "/bench.sql", atomically: true, encoding: .utf8)
    }

    /// Transactions a second of `pgbench`.
    fileprivate func benchmark(_ mode: String, _ seconds: Double, _ folder: String) throws -> Double {
        let rate = try benchmark(mode, transactions: 100, folder)
        return try benchmark(mode, transactions: max(100, Int(rate * seconds / 8)), folder)
    }

    /// By a number of transactions: its own limit of time is a signal, which programs started by Foundation have blocked.
    private func benchmark(_ mode: String, transactions: Int, _ folder: String) throws -> Double {
        let text = try output(
            of: "pgbench",
            [
                "-h", socket, "-U", "postgres", "-n", "-c", "8", "-j", "2", "-t", "\(transactions)", "-M", mode,
                "-f", folder + "/bench.sql", "postgres",
            ])
        let line = text.split(separator: "\n").first { $0.hasPrefix("tps = ") }
        guard let rate = line.flatMap({ Double($0.dropFirst(6).prefix { $0.isNumber || $0 == "." }) }) else {
            throw Failure(what: "pgbench printed no rate: \(text)")
        }
        return rate
    }

    private func output(of program: String, _ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: (Self.programs ?? "") + "/" + program)
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }
}

/// Nothing is sent while the token lives.
private struct Unreachable: Transport {
    func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        throw TransportError.unreachable(host: "", reason: "nothing is sent here")
    }
}
