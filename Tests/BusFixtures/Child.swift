import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A program that a test started; it ends at the latest with this value.
package final class Child: Sendable {
    /// A program that did not do what its test needs.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// What the program prints on both outputs, line by line.
    package let lines: AsyncStream<String>
    private let ended: AsyncStream<Int32>
    /// Nil once the program has ended and its number may be another's.
    private let number: RunningNumber

    /// Starts a program with nothing but its three streams.
    ///
    /// Not by Foundation's `Process`: with more than a thousand open files, as a run of all tests has, it reads behind the
    /// list of them, and crashes now and then.
    package init(
        _ tool: Tool, _ arguments: [String], environment: [String: String] = [:], input: String? = nil
    ) throws {
        guard let path = tool.path else { throw Failure(description: "\(tool.rawValue) is not installed") }
        let (output, feed) = (Pipe(), Pipe())
        let names = ["LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"].merging(environment) { $1 }
        let process = try Self.spawn(
            path, [path] + arguments, names.map { "\($0)=\($1)" },
            input: feed.fileHandleForReading.fileDescriptor, output: output.fileHandleForWriting.fileDescriptor)
        try output.fileHandleForWriting.close()
        try feed.fileHandleForReading.close()
        number = RunningNumber(process)
        lines = output.lines
        ended = number.wait()
        // Shorter than the pipe's buffer, so that this does not wait.
        try feed.fileHandleForWriting.write(contentsOf: Data((input ?? "").utf8))
        try feed.fileHandleForWriting.close()
    }

    private static func spawn(
        _ path: String, _ arguments: [String], _ environment: [String], input: Int32, output: Int32
    ) throws -> pid_t {
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_CLOEXEC_DEFAULT))
        #else
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (from, to) in [(input, Int32(0)), (output, 1), (output, 2)] {
            posix_spawn_file_actions_adddup2(&actions, from, to)
        }
        #if !canImport(Darwin)
        // A close of what is not open is no failure here.
        for descriptor in Int32(3)..<10_000 { posix_spawn_file_actions_addclose(&actions, descriptor) }
        #endif
        var words = arguments.map { strdup($0) } + [nil]
        var names = environment.map { strdup($0) } + [nil]
        defer { for word in words + names { free(word) } }
        var number = pid_t()
        let status = posix_spawn(&number, path, &actions, &attributes, &words, &names)
        guard status == 0 else { throw Failure(description: "\(path): \(String(cString: strerror(status)))") }
        return number
    }

    deinit {
        end()
    }

    /// The first line; a program that prints none has failed.
    package func firstLine() async throws -> String {
        for await line in lines { return line }
        throw Failure(description: "the program printed nothing")
    }

    /// The output of a program that ends by itself, and its status.
    package func finish() async -> (output: String, status: Int32) {
        var output = ""
        for await line in lines { output += line + "\n" }
        for await status in ended { return (output, status) }
        return (output, -1)
    }

    /// Kills the program. It inherits the signals that the test's threads block: only this one is certain.
    package func end() {
        number.kill()
    }

    /// Kills the program and returns when it has ended.
    package func stop() async {
        end()
        for await _ in ended {}
    }
}

/// The number of a program, as long as it is its own.
private final class RunningNumber: Sendable {
    private let number: Mutex<pid_t?>

    init(_ number: pid_t) {
        self.number = Mutex(number)
    }

    func kill() {
        number.withLock { number in
            if let number { _ = sendSignal(number, SIGKILL) }
        }
    }

    /// The exit status, once, when the program has ended; a thread of its own waits for it.
    func wait() -> AsyncStream<Int32> {
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        Thread.detachNewThread { [self] in
            guard let process = number.withLock(\.self) else { return continuation.finish() }
            var information = siginfo_t()
            // Not reaped yet: until then the number is not reused.
            while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) == -1, errno == EINTR {}
            var status: Int32 = 0
            number.withLock { number in
                _ = waitpid(process, &status, 0)
                number = nil
            }
            continuation.yield(status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F)
            continuation.finish()
        }
        return stream
    }
}

/// `kill`, whose name the class has taken.
private func sendSignal(_ process: pid_t, _ signal: Int32) -> Int32 {
    kill(process, signal)
}

extension Pipe {
    /// The lines that are written into this pipe, until it is closed. A thread of its own reads them and keeps the pipe.
    fileprivate var lines: AsyncStream<String> {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread { [self] in
            var rest = ""
            while true {
                let data = fileHandleForReading.availableData
                if data.isEmpty { break }
                rest += String(decoding: data, as: UTF8.self)
                var lines = rest.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
                rest = lines.removeLast()
                for line in lines { continuation.yield(line) }
            }
            if !rest.isEmpty { continuation.yield(rest) }
            continuation.finish()
        }
        return stream
    }
}
