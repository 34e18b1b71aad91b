import Dispatch
import Foundation

/// A process that this one started, with pipes to its standard input and from its standard output.
///
/// Its functions block; call them by ``blocking(_:)`` where other tasks must go on.
final class ChildProcess {
    let id: pid_t
    private let input: Int32
    private let output: Int32
    private var unread: [UInt8] = []

    /// How a process ended.
    struct Ending: Sendable {
        /// The exit status; nil when a signal ended it.
        let status: Int32?
        /// The most memory that was resident, in bytes. Never less than what its parent had resident when it was started.
        let peakResident: Int
    }

    /// Starts a program.
    ///
    /// - Parameter environment: nil passes our own on.
    init(_ path: String, _ arguments: [String], environment: [String: String]? = nil) throws {
        var toChild: [Int32] = [0, 0]
        var fromChild: [Int32] = [0, 0]
        guard pipe(&toChild) == 0, pipe(&fromChild) == 0 else { throw Failure("no pipe can be made") }
        for end in toChild + fromChild { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        id = try Self.spawn(path, arguments, environment, input: toChild[0], output: fromChild[1])
        close(toChild[0])
        close(fromChild[1])
        input = toChild[1]
        output = fromChild[0]
    }

    deinit {
        close(input)
        close(output)
    }

    /// Runs a program to its end without input and with its output discarded, and measures wall-clock time.
    static func run(
        _ path: String, _ arguments: [String], environment: [String: String]? = nil
    ) throws -> (seconds: Double, ending: Ending) {
        let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(nothing) }
        let start = monotonicSeconds()
        let id = try spawn(path, arguments, environment, input: nothing, output: nothing)
        let ending = reap(id)
        return (monotonicSeconds() - start, ending)
    }

    /// This program's own file, for starting it once more in another part.
    static let ourselves: String = {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    }()

    /// The next line of its output without its end; nil at the end of all.
    func readLine() -> String? {
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                defer { unread.removeFirst(end + 1) }
                return String(decoding: unread[..<end], as: UTF8.self)
            }
            guard readMore() else { return nil }
        }
    }

    /// All of its output that was not read before, line by line. A last line without an end is left out.
    func readLines() -> [String] {
        while readMore() {}
        let lines = unread.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
        return lines.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Writes a line to its input.
    func write(_ line: String) {
        _ = (line + "\n").withCString { Foundation.write(input, $0, strlen($0)) }
    }

    /// Ends it at whatever point it is (`SIGKILL`).
    func kill() {
        Foundation.kill(id, SIGKILL)
    }

    /// Waits for its end.
    func wait() -> Ending {
        Self.reap(id)
    }

    private func readMore() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var count: Int
        repeat { count = read(output, &buffer, buffer.count) } while count < 0 && errno == EINTR
        guard count > 0 else { return false }
        unread += buffer.prefix(count)
        return true
    }

    private static func spawn(
        _ path: String, _ arguments: [String], _ environment: [String: String]?, input: Int32, output: Int32
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        var words = ([path] + arguments).map { strdup($0) } + [nil]
        let variables = environment ?? ProcessInfo.processInfo.environment
        var settings = variables.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in words + settings { free(text) } }
        var id: pid_t = 0
        let failure = posix_spawn(&id, path, &actions, nil, &words, &settings)
        guard failure == 0 else { throw Failure("\(path) cannot be started: \(String(cString: strerror(failure)))") }
        return id
    }

    private static func reap(_ id: pid_t) -> Ending {
        var status: Int32 = 0
        var usage = rusage()
        while wait4(id, &status, 0, &usage) < 0 && errno == EINTR {}
        let hasExited = status & 0x7F == 0
        return Ending(status: hasExited ? status >> 8 & 0xFF : nil, peakResident: usage.ru_maxrss * 1024)
    }
}

/// Runs what blocks on a thread of its own kind, so that it takes none from the tasks it may be waiting for.
func blocking<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: .init(catching: body)) }
    }
}
