import Foundation
import Synchronization
import TestFixtures

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A PostgreSQL server of a test's own: its data in a temporary folder, reached by a Unix socket alone.
///
/// It ends with this value, and at the latest with the process, also when that is killed: it then reads the end of its standard input.
final class PostgresServer: Sendable {
    /// What every test may use that neither stops the server nor changes its settings.
    static var shared: PostgresServer { get async throws { try await starting.value } }
    private static let starting = Task { try await running() }

    /// The folder with the newest installed server's programs; nil when there is none.
    static let programs: String? = {
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        let folders = versions.sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }.map { "\(root)/\($0)/bin" }
        let others = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return (folders + others).first { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }
    }()

    static var isInstalled: Bool { programs != nil }

    struct Failure: Error {
        let what: String
    }

    /// Where a server's data lies, and what runs its programs there.
    struct Storage: Sendable {
        /// The folder of the data; nil for one of the server's own. It is empty, and the server's user owns it.
        var data: String?
        /// The same of its log of transactions.
        var log: String?
        /// What stands before each program.
        var command: [String] = []
        /// What stands before the path of each file of the data where this process reads it.
        var root = ""
    }

    private let folder: TemporaryFolder
    private let storage: Storage
    private let programs: String
    private let process = ServerProcess()
    private static let all = Mutex<[ObjectIdentifier: ServerProcess]>([:])

    /// Where it listens.
    var socket: String { folder.path }
    private var data: String { storage.data ?? folder.path + "/data" }

    private let isDurable: Bool
    private let settings: [String]

    /// How the server's administrator connects.
    var connection: String { connection(user: "postgres") }

    func connection(user: String, more: String = "") -> String {
        "host=\(socket) dbname=postgres user=\(user) sslmode=disable \(more)"
    }

    /// A new server, which is running.
    ///
    /// - Parameters:
    ///   - settings: as for ``init(isDurable:settings:storage:)``.
    ///   - storage: as for it.
    static func running(
        settings: [String] = testSettings, storage: Storage = Storage()
    ) async throws -> PostgresServer {
        try await blocking { try PostgresServer(settings: settings, storage: storage) }
    }

    static let testSettings = ["shared_buffers=32MB", "autovacuum=off"]

    /// Stops the server, and starts it again after `body`.
    ///
    /// - Parameter isImmediate: as after a crash.
    func restart(isImmediate: Bool, _ body: @Sendable () async throws -> Void = {}) async throws {
        try await Self.blocking { self.stop(isImmediate: isImmediate) }
        try await body()
        try await Self.blocking { try self.start() }
    }

    /// Runs what blocks on a thread of its own. Those of a Dispatch queue are the runtime's too: all other tests would stand still.
    static func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
        }
    }

    /// - Parameters:
    ///   - isDurable: whether what is committed would survive a crash of the machine, which takes time.
    ///   - settings: instead of those that suit tests.
    ///   - storage: where the data lies.
    ///   - primary: a running server that this one is to be the standby of; nil for a server of its own.
    init(
        isDurable: Bool = false, settings: [String] = testSettings, storage: Storage = Storage(),
        standbyOf primary: PostgresServer? = nil
    ) throws {
        self.isDurable = isDurable
        self.settings = settings
        self.storage = storage
        guard let programs = Self.programs else { throw Failure(what: "PostgreSQL is not installed") }
        self.programs = programs
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: storage.data == nil ? data : folder.path, withIntermediateDirectories: true)
        if geteuid() == 0, let user = getpwnam("postgres") {
            let own = [folder.path] + (storage.data == nil ? [data] : [])
            for path in own { chown(path, user.pointee.pw_uid, user.pointee.pw_gid) }
        }
        if storage.data == nil { chmod(data, 0o700) }
        // A log that has a place of its own has small files.
        let log = storage.log.map { ["--waldir=\($0)", "--wal-segsize=1"] } ?? []
        if let primary {
            let copy = ["-h", primary.socket, "-U", "postgres", "-w", "-R", "-X", "stream", "-c", "fast", "--no-sync"]
            try run("pg_basebackup", copy + ["-D", data], limit: ["timeout", "100"])
        } else {
            let options = ["--no-sync", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-D", data]
            try run("initdb", options + log)
            // The role `secretive` needs a password.
            let rules = "local all secretive scram-sha-256\nlocal all all trust\nlocal replication all trust\n"
            try rules.write(toFile: storage.root + data + "/pg_hba.conf", atomically: false, encoding: .utf8)
        }
        try start()
        Self.all.withLock { all in
            if all.isEmpty {
                atexit { for process in PostgresServer.all.withLock({ Array($0.values) }) { process.stop() } }
            }
            all[ObjectIdentifier(process)] = process
        }
    }

    deinit {
        // The thread may be one of the runtime's, so that the server ends on another one, and its folder after it.
        let (process, folder) = (process, folder)
        Thread.detachNewThread {
            process.stop()
            _ = Self.all.withLock { $0.removeValue(forKey: ObjectIdentifier(process)) }
            withExtendedLifetime(folder) {}
        }
    }

    /// Starts the server, and returns when it takes connections: after a crash, when it has read its log again, which may take minutes.
    func start() throws {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        let settings =
            [
                "listen_addresses=", "unix_socket_directories=\(socket)", "max_connections=300",
                "fsync=\(isDurable ? "on" : "off")",
                "log_min_messages=fatal",
            ] + self.settings
        let server = ([programs + "/postgres", "-D", data] + settings.flatMap { ["-c", $0] })
        // The process becomes the server. A part of the shell stays, and ends the server when this process says so, or ends.
        process.arguments =
            [
                "-c",
                "exec 3<&0; (read end <&3; case $end in now) kill -QUIT $$;; *) kill -INT $$;; esac) & exec \"$@\" < /dev/null 3<&-",
                "sh",
            ] + storage.command + Self.asUser(server)
        let input = Pipe()
        process.standardInput = input
        process.standardOutput = FileHandle.nullDevice
        let log = folder.path + "/log"
        _ = FileManager.default.createFile(atPath: log, contents: nil)
        process.standardError = FileHandle(forWritingAtPath: log)
        // Otherwise the shell has its own other end, and never reads the end of this process.
        _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        try process.run()
        self.process.started(process)
        try run("pg_isready", ["-q", "-h", socket, "-U", "postgres"], attempts: 10_000)
    }

    /// Stops the server.
    ///
    /// - Parameter isImmediate: as after a crash, without an orderly end.
    func stop(isImmediate: Bool = false) { process.stop(isImmediate: isImmediate) }

    /// - Parameter limit: what stands before the command, and ends it in time.
    private func run(_ program: String, _ arguments: [String], attempts: Int = 1, limit: [String] = []) throws {
        for attempt in 1...attempts {
            let process = Process()
            let command = storage.command + limit + Self.asUser([programs + "/" + program] + arguments)
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = command
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            if process.terminationStatus == 0 { return }
            guard attempt < attempts, self.process.isRunning else { break }
            usleep(50_000)
        }
        let log = try? String(contentsOfFile: folder.path + "/log", encoding: .utf8)
        throw Failure(what: "\(program) failed. \(log ?? "")")
    }

    /// The server refuses to run for root.
    static func asUser(_ command: [String]) -> [String] {
        guard geteuid() == 0 else { return command }
        return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] + command
    }
}

/// A server's process, while there is one.
private final class ServerProcess: Sendable {
    private let process = Mutex<Process?>(nil)

    var isRunning: Bool { process.withLock { $0?.isRunning == true } }

    func started(_ process: Process) { self.process.withLock { $0 = process } }

    /// Ends the process, and returns when it has ended, also when another thread has begun to end it.
    func stop(isImmediate: Bool = false) {
        process.withLock { process in
            defer { process = nil }
            guard let process, let input = process.standardInput as? Pipe else { return }
            try? input.fileHandleForWriting.write(contentsOf: Data(isImmediate ? "now\n".utf8 : "end\n".utf8))
            try? input.fileHandleForWriting.close()
            process.waitUntilExit()
        }
    }
}
