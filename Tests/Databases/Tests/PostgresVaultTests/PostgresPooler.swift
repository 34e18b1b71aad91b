import Foundation
import TestFixtures

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// PgBouncer in transaction mode before a server, with two connections: no client has a session of its own.
///
/// It ends with this value, and with the process.
final class PostgresPooler: Sendable {
    /// What tests share.
    static var shared: PostgresPooler { get async throws { try await starting.value } }
    private static let starting = Task {
        let server = try await PostgresServer.shared
        return try await PostgresServer.blocking { try PostgresPooler(before: server) }
    }

    /// The program; nil when it is not installed. `HANDSHAKE_PGBOUNCER` names one elsewhere.
    static let program: String? = {
        let named = ProcessInfo.processInfo.environment["HANDSHAKE_PGBOUNCER"]
        return [named, "/usr/sbin/pgbouncer"].compactMap(\.self).first {
            FileManager.default.isExecutableFile(atPath: $0)
        }
    }()

    private let folder: TemporaryFolder
    private let input = Pipe()

    /// How a client connects through it.
    var connection: String { "host=\(folder.path) port=6432 dbname=postgres user=postgres sslmode=disable" }

    init(before server: PostgresServer) throws {
        guard let program = Self.program else { throw PostgresServer.Failure(what: "PgBouncer is not installed") }
        folder = try TemporaryFolder()
        let settings = """
            [databases]
            postgres = host=\(server.socket) dbname=postgres user=postgres
            [pgbouncer]
            listen_addr =
            listen_port = 6432
            unix_socket_dir = \(folder.path)
            auth_type = any
            pool_mode = transaction
            default_pool_size = 2
            max_client_conn = 1000
            """
        try settings.write(toFile: folder.path + "/settings", atomically: false, encoding: .utf8)
        if geteuid() == 0, let user = getpwnam("postgres") {
            chown(folder.path, user.pointee.pw_uid, user.pointee.pw_gid)
        }
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        // SIGTERM would do nothing: a process that a test starts inherits a mask that blocks it.
        process.arguments =
            [
                "-c", "exec 3<&0; (read end <&3; kill -KILL $$) & exec \"$@\" < /dev/null 3<&-", "sh",
            ] + PostgresServer.asUser([program, "-q", folder.path + "/settings"])
        _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        process.standardInput = input
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        let socket = folder.path + "/.s.PGSQL.6432"
        for _ in 0..<2_000 where process.isRunning && !FileManager.default.fileExists(atPath: socket) { usleep(50_000) }
        guard FileManager.default.fileExists(atPath: socket) else {
            throw PostgresServer.Failure(what: "PgBouncer did not begin to listen")
        }
    }

    deinit { try? input.fileHandleForWriting.close() }
}
