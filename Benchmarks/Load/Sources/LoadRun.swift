import Foundation
import Handshake
import OAuth
import PostgresVault
import Synchronization
import TestFixtures

#if canImport(Glibc)
import Glibc
#endif

/// The run that starts everything, kills some of it, and counts.
struct LoadRun {
    let options: Load.Options

    init(_ options: Load.Options) { self.options = options }

    /// Runs, prints what was found, and returns the exit status: 1 when a session was lost,
    /// a token used twice, an account refreshed twice for one expiry, or a token ended that keepers had to refresh.
    func run() async throws -> Int32 {
        let folder = try TemporaryFolder()
        let server = try PostgresServer(
            isDurable: true, settings: ["shared_buffers=512MB", "autovacuum=on", "max_wal_size=4GB"])
        defer { server.stop() }
        let keys = folder.path + "/keys"
        try await PostgresVault.migrate(server.connection, keyFolder: keys)
        let socket = folder.path + "/tokens"
        let tokens = try Child([
            "server", socket, "\(options.accounts)", "\(options.life)", "\(options.forgive)", "\(options.keepers)",
        ])
        defer { tokens.kill() }
        for await _ in tokens.lines { break }
        var place = LoadApp.Place(
            connection: server.connection, keys: keys, socket: socket, accounts: options.accounts, life: options.life,
            connections: options.connections, cut: options.cut)
        place.delay = try await seed(place, server)
        var lapsed: Int?
        if options.keepers > 0 {
            lapsed = try await keep(place)
        } else {
            if options.alone > 0 { try await measure(Line(alone: options.alone), place, server) }
            for count in options.processes { try await measure(Line(count, options), place, server) }
        }
        let lost = try await verify(try await place.handshake())
        // Asked after the last look, which has seen the rest.
        let verdict = LoadVerdict(lost: lost, counts: try await Self.counts(at: socket), lapsed: lapsed)
        for line in verdict.lines { say(line) }
        return verdict.status
    }

    /// What the service has seen.
    private static func counts(at socket: String) async throws -> TokenServer.Counts {
        let text = await (try LoadTransport(to: socket)).ask("S -")
        return try JSONDecoder().decode(TokenServer.Counts.self, from: Data(text.utf8))
    }

    /// Stores the accounts, and lets their first tokens begin to live.
    ///
    /// - Returns: how many seconds passed between the time that the tokens are stored with and the beginning of their lives.
    private func seed(_ place: LoadApp.Place, _ server: PostgresServer) async throws -> Double {
        let handshake = try await place.handshake()
        let (clock, now) = (ContinuousClock(), TimeSource.system.now())
        let start = clock.now
        let next = Guarded(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    while true {
                        let index = next.withLock { next in
                            defer { next += 1 }
                            return next
                        }
                        guard index < options.accounts else { return }
                        let life = TokenServer.firstLife(of: index, options.life, isKept: options.keepers > 0)
                        let grant = Grant(
                            accessToken: Secret("\(index).0"), expiresAt: now + life, issuedAt: now,
                            refreshToken: Secret("\(index).0"), scopes: [])
                        _ = try await handshake.adopt(grant, as: "\(index)")
                    }
                }
            }
            try await group.waitForAll()
        }
        let seconds = (clock.now - start) / .seconds(1)
        let bytes = try server.number(
            "SELECT pg_total_relation_size('handshake.record') + pg_total_relation_size('handshake.lease')")
        say(
            "\(options.accounts) accounts stored in \(Int(seconds)) s (\(Int(Double(options.accounts) / seconds)) a second); "
                + "\(bytes / max(options.accounts, 1)) bytes an account in PostgreSQL")
        // What storing has left to the server would otherwise be done during the first line.
        for work in ["VACUUM ANALYZE", "CHECKPOINT"] { _ = try server.number(work) }
        _ = await (try LoadTransport(to: place.socket)).ask("B -")
        return TimeSource.system.now() - now
    }

    /// Processes that use accounts for some time.
    struct Line {
        let processes: Int
        /// Of each process.
        let tasks: Int
        let seconds: Double
        /// Seconds between two kills; 0 for none.
        let kill: Double
        let restarts: Int

        init(_ processes: Int, _ options: Load.Options) {
            self.processes = processes
            tasks = max(1, 32 / processes)
            (seconds, kill, restarts) = (options.seconds, options.kill, options.restarts)
        }

        /// One task of one process, whose requests wait for nothing but their own work.
        init(alone seconds: Double) {
            (processes, tasks, kill, restarts) = (1, 1, 0, 0)
            self.seconds = seconds
        }

        /// What is printed of it; Benchmarks/scale reads it.
        func text(_ told: LoadWorker.Told, seconds: Double, kills: Int) -> String {
            let requests = Int(Double(told.requests) / seconds)
            let refreshes = Int(Double(told.refreshes) / seconds)
            return "\(processes) processes, \(tasks) tasks each: \(requests) requests a second, "
                + "those without a refresh \(Self.quantiles(of: told.times)); "
                + "\(refreshes) refreshes a second, requests with one \(Self.quantiles(of: told.refreshTimes)); "
                + "\(kills) processes killed, \(restarts) restarts; ended \(told.ended); failures \(told.failures)"
        }

        private static func quantiles(of times: [Int]) -> String {
            func text(_ share: Double) -> String {
                let time = LoadWorker.Told.quantile(share, of: times)
                return time.isFinite ? "\((time * 100).rounded() / 100)" : "–"
            }
            return "p50 \(text(0.5)) ms, p99 \(text(0.99)) ms"
        }
    }

    /// Lets processes use accounts, and kills one of them now and then.
    private func measure(_ line: Line, _ place: LoadApp.Place, _ server: PostgresServer) async throws {
        var place = place
        place.tasks = line.tasks
        let workers = Guarded<[Child]>([])
        let told = Guarded(LoadWorker.Told())
        let kills = Guarded(0)
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            func add() throws {
                let child = try Child("worker", place)
                workers.withLock { $0.append(child) }
                group.addTask {
                    for await line in child.lines {
                        guard let more = try? JSONDecoder().decode(LoadWorker.Told.self, from: Data(line.utf8)) else {
                            continue
                        }
                        told.withLock { $0.add(more) }
                    }
                }
            }
            for _ in 0..<line.processes { try add() }
            var (sinceKill, restarts) = (0.0, 0)
            for second in 1...max(1, Int(line.seconds)) {
                try await Task.sleep(for: .seconds(1))
                sinceKill += 1
                if line.kill > 0, sinceKill >= line.kill {
                    sinceKill = 0
                    let killed = workers.withLock { $0.remove(at: Int.random(in: $0.indices)) }
                    killed.kill()
                    kills.withLock { $0 += 1 }
                    try add()
                }
                if restarts < line.restarts, second == Int(line.seconds) * (restarts + 1) / (line.restarts + 1) {
                    restarts += 1
                    // As after a crash, and in order.
                    try await server.restart(isImmediate: restarts % 2 == 1)
                }
            }
            for child in workers.withLock({ $0 }) { child.kill() }
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        say(line.text(told.withLock { $0 }, seconds: seconds, kills: kills.withLock { $0 }))
    }

    /// Lets keepers alone refresh all accounts, and kills one of them now and then.
    ///
    /// - Returns: how many tokens ended meanwhile. The service is asked before the accounts are used once more, which refreshes them.
    private func keep(_ place: LoadApp.Place) async throws -> Int {
        var running: [Child] = []
        var reports: [Task<String, Never>] = []
        func add() throws {
            let child = try Child("keeper", place)
            running.append(child)
            reports.append(
                Task {
                    var last = "nothing"
                    for await line in child.lines { last = line }
                    return last
                })
        }
        for _ in 0..<options.keepers { try add() }
        for second in 1...max(1, Int(options.seconds)) {
            try await Task.sleep(for: .seconds(1))
            if options.kill > 0, second % max(1, Int(options.kill)) == 0 {
                running.removeFirst().kill()
                try add()
            }
        }
        let lapsed = try await Self.counts(at: place.socket).lapsed
        for keeper in running { keeper.kill() }
        for (number, report) in reports.enumerated() { say("keeper \(number + 1): \(await report.value)") }
        say("\(lapsed) tokens ended before a keeper had refreshed them")
        return lapsed
    }

    /// Uses accounts once more, and counts those that have no session any more.
    private func verify(_ handshake: Handshake) async throws -> Int {
        let lost = Guarded<[String: Int]>([:])
        let sample =
            options.accounts <= 20_000
            ? Array(0..<options.accounts) : (0..<20_000).map { _ in .random(in: 0..<options.accounts) }
        let next = Guarded(0)
        await withDiscardingTaskGroup { group in
            for _ in 0..<32 {
                group.addTask {
                    while true {
                        let index = next.withLock { next in
                            defer { next += 1 }
                            return next
                        }
                        guard index < sample.count else { return }
                        do {
                            guard let account = try await handshake.account("\(sample[index])") else {
                                lost.withLock { $0["absent", default: 0] += 1 }
                                continue
                            }
                            _ = try await account.send(.get, "me")
                        } catch {
                            let code = (error as? HandshakeError)?.code ?? "\(type(of: error))"
                            lost.withLock { $0[code, default: 0] += 1 }
                        }
                    }
                }
            }
        }
        let failures = lost.withLock { $0 }
        say("\(sample.count) accounts used once more: \(failures.isEmpty ? "every one alive" : "\(failures)")")
        return failures.values.reduce(0, +)
    }
}

/// A process of this program.
final class Child: Sendable {
    private let process: Mutex<Process>
    /// What it prints. It can be read once.
    let lines: AsyncStream<String>

    convenience init(_ role: String, _ place: LoadApp.Place) throws {
        try self.init([role, String(decoding: JSONEncoder().encode(place), as: UTF8.self)])
    }

    init(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        self.process = Mutex(process)
        let (lines, continuation) = AsyncStream<String>.makeStream()
        self.lines = lines
        let descriptor = pipe.fileHandleForReading.fileDescriptor
        Thread.detachNewThread {
            var reader = LineReader(descriptor)
            while let lines = reader.next() { for line in lines { continuation.yield(line) } }
            continuation.finish()
            withExtendedLifetime(pipe) {}
        }
    }

    func kill() {
        process.withLock { process in
            _ = Glibc.kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
    }
}

extension PostgresServer {
    /// The number that a query gives.
    func number(_ sql: String) throws -> Int {
        let process = Process()
        process.executableURL = URL(filePath: (Self.programs ?? "") + "/psql")
        process.arguments = ["-h", socket, "-U", "postgres", "-Atc", sql, "postgres"]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Int(String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    }
}
