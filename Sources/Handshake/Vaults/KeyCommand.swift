#if os(Linux) || os(macOS)
import Dispatch
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

extension VaultMasterKey {
    /// The key that a program prints, so that any key management service can keep it.
    ///
    /// ```swift
    /// let key = try await VaultMasterKey.printed(by: ["pass", "show", "handshake-key"])
    /// let vault = try FileVault(directory: "\(data)/vault", masterKey: key)
    /// ```
    ///
    /// The program runs once a process, however often and concurrently the same one is asked for; a failure is not remembered. No shell reads
    /// its arguments. Its standard input is empty; what it writes to standard error goes where this process's does.
    ///
    /// - Parameters:
    ///   - command: the program, by its path or looked up in `PATH`, and its arguments. It prints 32 bytes, or the same as 64 hexadecimal
    ///     digits or 44 characters of Base64, and perhaps a line break.
    ///   - timeout: how long it may take; then it is killed.
    /// - Throws: ``VaultError/locked(_:)`` when there is no such program, when it fails, takes longer, or prints something else, which no
    ///   error repeats; `CancellationError`, after which the program still runs to its end or to the timeout.
    @concurrent
    public static func printed(
        by command: [String], timeout: Duration = .seconds(30)
    ) async throws -> VaultMasterKey {
        let command = KeyCommand(arguments: command)
        let run = KeyCommand.runs.withLock { runs in
            let run = runs[command] ?? KeyCommand.Run()
            runs[command] = run
            return run
        }
        return try await run.operation.join {
            if let key = run.key.withLock({ $0 }) { return key }
            let key = try await command.key(timeout: timeout)
            run.key.withLock { $0 = key }
            return key
        }
    }
}

/// A program that prints a vault's master key.
private struct KeyCommand: Sendable, Hashable {
    /// What the callers that ask for the same program share.
    final class Run: Sendable {
        let operation = SharedOperation<VaultMasterKey>()
        let key = Mutex<VaultMasterKey?>(nil)
    }

    static let runs = Mutex<[KeyCommand: Run]>([:])
    private static let outputLimit = 4096
    private static let pause: Int32 = 10

    let arguments: [String]

    /// What errors call it: without its arguments, which may be secrets.
    private var name: String { "the key command “\(arguments.first ?? "")”" }

    func key(timeout: Duration) async throws -> VaultMasterKey {
        var printed: [UInt8] = try await withCheckedThrowingContinuation { continuation in
            // It blocks its thread, which is why it gets one of its own.
            DispatchQueue(label: "handshake.vault.key").async {
                continuation.resume(with: Result { try output(before: .now.advanced(by: timeout), timeout) })
            }
        }
        defer { printed.resetBytes() }
        guard let key = VaultMasterKey(printed: printed) else {
            throw VaultError.locked("\(name) printed \(printed.count) bytes that are no key: \(VaultMasterKey.forms)")
        }
        return key
    }

    private func output(before deadline: ContinuousClock.Instant, _ timeout: Duration) throws(VaultError) -> [UInt8] {
        let child = try start()
        var bytes: [UInt8] = []
        do throws(VaultError) {
            while true {
                // In this order: what it printed before its end is read after the end was seen.
                let status = try child.status(name)
                let isOpen = child.read(into: &bytes, limit: Self.outputLimit)
                guard bytes.count <= Self.outputLimit else {
                    throw .locked("\(name) prints more than a key: \(VaultMasterKey.forms)")
                }
                if let status {
                    guard status == 0 else { throw .locked("\(name) failed (\(Self.text(status))); run it to see why") }
                    return bytes
                }
                guard ContinuousClock.now < deadline else {
                    throw .locked("\(name) did not end within \(timeout) and was stopped; run it to see why")
                }
                child.awaitOutput(isOpen: isOpen, milliseconds: Self.pause)
            }
        } catch {
            bytes.resetBytes()
            child.end()
            throw error
        }
    }

    /// What `wait(2)` says of a process that ended.
    private static func text(_ status: Int32) -> String {
        status & 0x7F == 0 ? "status \(status >> 8 & 0xFF)" : "signal \(status & 0x7F)"
    }

    private func start() throws(VaultError) -> Child {
        guard let program = arguments.first, !program.isEmpty, !arguments.contains(where: { $0.utf8.contains(0) })
        else {
            throw .locked("its key command names no program, or has a zero byte")
        }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw SystemFailure(code: errno).vaultError(at: "a pipe for \(name)") }
        let output = Descriptor(adopting: ends[0])
        let input = Descriptor(adopting: ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(output.number, F_SETFL, O_NONBLOCK)
        let (code, process) = ProgramLaunch.start(
            program, arguments, environment: ProcessInfo.processInfo.environment, outputs: [1: input.number])
        guard code == 0 else {
            throw .locked("\(name) could not be started (\(String(cString: strerror(code)))); check its name")
        }
        return Child(process: process, output: output)
    }
}

/// A program that runs, and the end of the pipe that it prints to.
private struct Child: ~Copyable {
    let process: pid_t
    let output: Descriptor

    /// What `wait(2)` says; nil while it runs.
    func status(_ name: String) throws(VaultError) -> Int32? {
        var status: Int32 = 0
        do throws(SystemFailure) {
            return try uninterrupted { waitpid(process, &status, WNOHANG) } == 0 ? nil : status
        } catch {
            throw .locked("whether \(name) succeeded cannot be known: this process ignores the end of its children")
        }
    }

    /// Reads what is there, up to a few bytes beyond the limit.
    ///
    /// - Returns: whether more can come.
    func read(into bytes: inout [UInt8], limit: Int) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 512)
        defer { buffer.resetBytes() }
        while bytes.count <= limit {
            let count = buffer.withUnsafeMutableBytes { buffer in
                #if canImport(Darwin)
                Darwin.read(output.number, buffer.baseAddress, buffer.count)
                #elseif canImport(Musl)
                Musl.read(output.number, buffer.baseAddress, buffer.count)
                #else
                Glibc.read(output.number, buffer.baseAddress, buffer.count)
                #endif
            }
            if count > 0 { bytes += buffer.prefix(count) } else { return count < 0 && errno != EIO }
        }
        return true
    }

    /// Waits until there is something to read, but not for long: the program may end without closing its output.
    func awaitOutput(isOpen: Bool, milliseconds: Int32) {
        var wanted = pollfd(fd: isOpen ? output.number : -1, events: Int16(POLLIN), revents: 0)
        _ = poll(&wanted, 1, milliseconds)
    }

    /// Kills the program, if it still runs.
    func end() {
        var status: Int32 = 0
        guard waitpid(process, &status, WNOHANG) == 0 else { return }
        kill(process, SIGKILL)
        _ = try? uninterrupted { waitpid(process, &status, 0) }
    }
}
#endif
