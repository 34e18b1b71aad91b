import Foundation
import Handshake
import TestFixtures

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The built `handshake` with an empty home of its own, which goes with this value.
final class Command: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let folder: String
    var home: String { folder + "/home" }

    init() throws {
        folder = FileManager.default.temporaryDirectory.path + "/handshake-command-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: folder + "/home", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// The program under test: `$HANDSHAKE_BIN`, else the one that was built together with the tests.
    static func binary() throws -> String {
        var candidates = [ProcessInfo.processInfo.environment["HANDSHAKE_BIN"]].compactMap(\.self)
        var place = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        // The test bundle of macOS is a folder of folders.
        for _ in 0..<4 {
            candidates.append(place.appendingPathComponent("handshake").path)
            place.deleteLastPathComponent()
        }
        candidates.append(FileManager.default.currentDirectoryPath + "/.build/debug/handshake")
        let isProgram = { (path: String) in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
                && FileManager.default.isExecutableFile(atPath: path)
        }
        guard let path = candidates.first(where: isProgram) else {
            throw Failure(description: "handshake is not built: \(candidates)")
        }
        return path
    }

    /// Starts the command.
    ///
    /// - Parameter standardInput: the path of what it reads instead of `input`.
    func start(
        _ arguments: [String], input: String = "", environment: [String: String] = [:], program: String? = nil,
        standardInput: String? = nil
    ) throws -> RunningCommand {
        var all = [
            "HANDSHAKE_HOME": home, "HOME": folder, "LANG": "C.UTF-8", "TERM": "dumb",
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
        ]
        for name in ["LD_LIBRARY_PATH", "TSAN_OPTIONS", "TZ"] {
            all[name] = ProcessInfo.processInfo.environment[name]
        }
        all.merge(environment) { $1 }
        let inputFile = folder + "/input-\(UUID().uuidString)"
        try Data(input.utf8).write(to: URL(fileURLWithPath: inputFile))
        return try RunningCommand(
            try program ?? Self.binary(), arguments, input: standardInput ?? inputFile,
            environment: all.filter { !$0.value.isEmpty }, of: self)
    }

    /// Runs the command to its end.
    func run(
        _ arguments: String..., input: String = "", environment: [String: String] = [:]
    ) async throws -> FinishedCommand {
        try await start(arguments, input: input, environment: environment).finish()
    }

    /// Runs the command with a `--timeout` that ends it after something has happened, as when a request reached a server.
    ///
    /// On a busy machine the time may be over before. The command is then run again, with twice the time.
    ///
    /// - Parameters:
    ///   - standardInput: the path of what it reads instead of `input`.
    ///   - count: how often it has happened. It grows.
    func runIntoTimeout(
        _ arguments: [String], input: String? = nil, standardInput: String? = nil, counting count: () -> Int
    ) async throws -> FinishedCommand {
        var seconds = 2
        while true {
            let before = count()
            let done = try await start(
                arguments + ["--timeout", "\(seconds)"], input: input ?? "", standardInput: standardInput
            ).finish()
            guard count() == before, seconds < 256 else { return done }
            seconds *= 2
        }
    }

    /// Runs the command, and interrupts it when something has happened, as when a request reached a server.
    func runInterrupted(_ arguments: [String], when hasHappened: () -> Bool) async throws -> FinishedCommand {
        let running = try start(arguments)
        let hasEnded = Flag()
        let ending = Task<FinishedCommand, Never> {
            defer { hasEnded.set() }
            return await running.finish()
        }
        while !hasEnded.isSet, !hasHappened() { await Task.yield() }
        if !hasEnded.isSet { running.send(SIGINT) }
        return await ending.value
    }

    /// Signs in the sandbox's client that has a key, without a user.
    func signIn(by grant: String, at sandbox: SandboxProcess, _ options: String...) async throws -> FinishedCommand {
        try await start(
            [
                "login", "robot", "--grant", grant, "--issuer", try sandbox.origin("standard"), "--client-id",
                "sandbox-key", "--scope", "api", "--json",
            ] + options
        ).finish()
    }

    /// Makes a program in the folder beside the home.
    func program(_ name: String, _ bytes: Data) throws -> String {
        let path = folder + "/" + name
        try writeProgram(bytes, to: path)
        return path
    }

    /// Makes a program from the text of a script.
    func program(_ name: String, _ script: String) throws -> String { try program(name, Data(script.utf8)) }

    /// Makes a file in the folder beside the home, with mode 0600 unless stated.
    func file(_ name: String, _ text: String, mode: Int = 0o600) throws -> String {
        let path = folder + "/" + name
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }
}

/// What a command left behind.
struct FinishedCommand: Sendable, CustomStringConvertible {
    enum Ending: Sendable, Hashable {
        case status(Int32)
        case signal(Int32)
    }

    let ending: Ending
    let stdout: String
    let stderr: String

    var description: String { "\(ending)\nstdout: \(stdout)\nstderr: \(stderr)" }

    /// The JSON object on the last line of standard output.
    var json: [String: Any] { Self.object(stdout) }

    /// The error object on the last line of standard error.
    var error: [String: Any] { Self.object(stderr)["error"] as? [String: Any] ?? [:] }

    private static func object(_ text: String) -> [String: Any] {
        let last = text.split(separator: "\n").last.map(String.init) ?? ""
        return (try? JSONSerialization.jsonObject(with: Data(last.utf8))) as? [String: Any] ?? [:]
    }
}

/// A command at work. A class, because it ends the process when it is dropped.
final class RunningCommand: Sendable {
    let process: pid_t
    /// Keeps the home until the process has ended: it would make the folder again.
    private let command: Command
    private let output: Int32
    private let errors: Int32
    private let hasEnded = Flag()

    /// Signals have their default meaning in the process, however these tests were started.
    fileprivate init(
        _ path: String, _ arguments: [String], input: String, environment: [String: String], of command: Command
    ) throws {
        self.command = command
        var (out, err): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
        guard pipe(&out) == 0, pipe(&err) == 0 else { throw Command.Failure(description: "no pipe") }
        for end in out + err { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let (status, process) = ProgramLaunch.start(
            path, [path] + arguments, environment: environment, input: input, outputs: [1: out[1], 2: err[1]])
        close(out[1])
        close(err[1])
        (self.process, output, errors) = (process, out[0], err[0])
        guard status == 0 else { throw Command.Failure(description: "\(path) does not start: \(status)") }
    }

    deinit {
        if !hasEnded.isSet, process > 0 {
            kill(process, SIGKILL)
            var status: Int32 = 0
            waitpid(process, &status, 0)
        }
        close(output)
        close(errors)
    }

    func send(_ signal: Int32) {
        kill(process, signal)
    }

    /// Returns when the process has used this much processor time, or has written, closed its output or ended.
    ///
    /// Polls the system, and leaves the processor to the process in between: there is no event to wait for.
    func hasUsed(_ cost: Duration) async {
        await aside { [self] in
            var standardOutput = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            while let used = processorTime(of: process), used < cost, poll(&standardOutput, 1, 0) == 0 { sched_yield() }
        }
    }

    /// The next line of standard output; nil when the command closed it. The line's end is not part of it.
    func line() async -> String? {
        await aside { [output] in
            var bytes: [UInt8] = []
            var byte: UInt8 = 0
            while read(output, &byte, 1) == 1 {
                if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
                bytes.append(byte)
            }
            return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Waits for the end.
    func finish() async -> FinishedCommand {
        async let stdout = aside { [output] in Self.rest(of: output) }
        async let stderr = aside { [errors] in Self.rest(of: errors) }
        let (out, err) = await (stdout, stderr)
        let status = await aside { [process] in
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0 && errno == EINTR {}
            return status
        }
        hasEnded.set()
        let ending: FinishedCommand.Ending =
            status & 0x7F == 0 ? .status((status >> 8) & 0xFF) : .signal(status & 0x7F)
        return FinishedCommand(ending: ending, stdout: out, stderr: err)
    }

    private static func rest(of descriptor: Int32) -> String {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += chunk[..<count]
        }
    }
}

/// Runs what blocks on a thread of its own: the threads that tasks share must not wait for a process.
func aside<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: body()) }
    }
}
