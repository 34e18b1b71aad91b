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
    static let shared = Result { try PostgresServer() }

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

    private let folder: TemporaryFolder
    private let programs: String
    private let running: Mutex<Process?>
    private static let all = Mutex<[ObjectIdentifier: @Sendable () -> Void]>([:])

    /// Where it listens.
    var socket: String { folder.path }
    private var data: String { folder.path + "/data" }

    private let isDurable: Bool
    private let settings: [String]

    /// How the server's administrator connects.
    var connection: String { connection(user: "postgres") }

    func connection(user: String, more: String = "") -> String {
        "host=\(socket) dbname=postgres user=\(user) sslmode=disable \(more)"
    }

    /// A new server, which is running. It is made on a thread that may block.
    ///
    /// - Parameter settings: as for ``init(isDurable:settings:)``.
    static func running(settings: [String] = testSettings) async throws -> PostgresServer {
        try await blocking { try PostgresServer(settings: settings) }
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

    private static func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value
    {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try body() }) }
        }
    }

    /// - Parameters:
    ///   - isDurable: whether what is committed would survive a crash of the machine, which takes time.
    ///   - settings: instead of those that suit tests.
    init(isDurable: Bool = false, settings: [String] = testSettings) throws {
        self.isDurable = isDurable
        self.settings = settings
        guard let programs = Self.programs else { throw Failure(what: "PostgreSQL is not installed") }
        self.programs = programs
        folder = try TemporaryFolder()
        running = Mutex(nil)
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
        if geteuid() == 0, let user = getpwnam("postgres") {
            for path in [folder.path, data] { chown(path, user.pointee.pw_uid, user.pointee.pw_gid) }
        }
        chmod(data, 0o700)
        try run("initdb", ["--no-sync", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-D", data])
        // Whoever is called so needs a password.
        let rules = "local all secretive scram-sha-256\nlocal all all trust\n"
        try rules.write(toFile: data + "/pg_hba.conf", atomically: false, encoding: .utf8)
        try start()
        let stop: @Sendable () -> Void = { [weak self] in self?.stop() }
        Self.all.withLock { all in
            if all.isEmpty { atexit { for stop in PostgresServer.all.withLock({ Array($0.values) }) { stop() } } }
            all[ObjectIdentifier(self)] = stop
        }
    }

    deinit {
        stop()
        _ = Self.all.withLock { $0.removeValue(forKey: ObjectIdentifier(self)) }
    }

    /// Starts the server, and returns when it takes connections.
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
            ] + Self.asUser(server)
        let input = Pipe()
        process.standardInput = input
        process.standardOutput = FileHandle.nullDevice
        let log = folder.path + "/log"
        _ = FileManager.default.createFile(atPath: log, contents: nil)
        process.standardError = FileHandle(forWritingAtPath: log)
        // Otherwise the shell has its own other end, and never reads the end of this process.
        _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        try process.run()
        running.withLock { $0 = process }
        try run("pg_isready", ["-q", "-h", socket, "-U", "postgres"], attempts: 100)
    }

    /// Stops the server.
    ///
    /// - Parameter isImmediate: as after a crash, without an orderly end.
    func stop(isImmediate: Bool = false) {
        let process = running.withLock { running in
            defer { running = nil }
            return running
        }
        guard let process, let input = process.standardInput as? Pipe else { return }
        try? input.fileHandleForWriting.write(contentsOf: Data(isImmediate ? "now\n".utf8 : "end\n".utf8))
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    private func run(_ program: String, _ arguments: [String], attempts: Int = 1) throws {
        for attempt in 1...attempts {
            let process = Process()
            let command = Self.asUser([programs + "/" + program] + arguments)
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = command
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            if process.terminationStatus == 0 { return }
            guard attempt < attempts else { break }
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
