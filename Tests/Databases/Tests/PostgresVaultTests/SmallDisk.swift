#if os(Linux)
import Foundation
import TestFixtures

#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A file system of a test's own with little room, in memory. Only programs that run on it see it.
///
/// It lies in a namespace of a process that waits for the end of this one, so that nothing is left of it, also when this process is killed.
final class SmallDisk: Sendable {
    /// Whether this process may make one.
    static let isPossible: Bool = {
        guard geteuid() == 0, getpwnam("postgres") != nil, let disk = try? SmallDisk(megabytes: 1) else { return false }
        return (try? disk.fill()) != nil
    }()

    private let folder: TemporaryFolder
    private let process = Process()
    private let input = Pipe()
    private let ballast: String

    /// Where it is for those who see it. The server's user owns it.
    let path: String

    init(megabytes: Int) throws {
        folder = try TemporaryFolder()
        path = folder.path + "/disk"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        // For what lies beside the disk.
        if let user = getpwnam("postgres") { chown(folder.path, user.pointee.pw_uid, user.pointee.pw_gid) }
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "unshare", "--mount", "sh", "-c",
            "mount -t tmpfs -o size=\(megabytes)m,mode=0755 none \"$0\" && mkdir -m 0700 \"$0/data\" && chown postgres: \"$0/data\" && echo; read end",
            path,
        ]
        (process.standardInput, process.standardOutput) = (input, output)
        process.standardError = FileHandle.nullDevice
        // Otherwise the process has its own other end, and never reads the end of this one.
        _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        try process.run()
        ballast = "/proc/\(process.processIdentifier)/root" + path + "/ballast"
        try output.fileHandleForWriting.close()
        guard output.fileHandleForReading.availableData == Data("\n".utf8) else {
            throw PostgresServer.Failure(what: "no file system can be mounted")
        }
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// For a server whose tables, or whose log of transactions, lie on it. The others lie beside it.
    func storage(ofLog isLog: Bool) -> PostgresServer.Storage {
        let (here, beside) = (path + "/data", folder.path + "/beside")
        return PostgresServer.Storage(
            data: isLog ? beside : here, log: isLog ? here : beside,
            command: ["nsenter", "--mount", "--target", "\(process.processIdentifier)"],
            root: "/proc/\(process.processIdentifier)/root")
    }

    /// Leaves no room.
    func fill() throws {
        let file = open(ballast, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        guard file >= 0 else { throw PostgresServer.Failure(what: "the disk cannot be filled") }
        defer { close(file) }
        let bytes = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let written = write(file, bytes, bytes.count)
            if written >= 0 { continue }
            guard errno == ENOSPC else { throw PostgresServer.Failure(what: "the disk cannot be filled") }
            return
        }
    }

    /// Makes room again.
    func clear() throws { try FileManager.default.removeItem(atPath: ballast) }
}
#endif
