#if os(Linux) || os(macOS)
#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Starts programs whose signals have their default meaning, whatever this process ignores or blocks.
package enum ProgramLaunch {
    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: its path. A name without a slash is looked up in `PATH`.
    ///   - arguments: all of them; the first is the program's name. None has a zero byte.
    ///   - environment: its environment.
    ///   - input: the file that it reads as its standard input.
    ///   - outputs: descriptors of this process, by the numbers that they have there.
    /// - Returns: the error number of `posix_spawn`, which is 0 when the program runs, and its process.
    package static func start(
        _ program: String, _ arguments: [String], environment: [String: String], input: String = "/dev/null",
        outputs: KeyValuePairs<Int32, Int32>
    ) -> (code: Int32, process: Int32) {
        #if canImport(Darwin)
        var (actions, attributes): (posix_spawn_file_actions_t?, posix_spawnattr_t?) = (nil, nil)
        #else
        var (actions, attributes) = (posix_spawn_file_actions_t(), posix_spawnattr_t())
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0)
        for (number, descriptor) in outputs { posix_spawn_file_actions_adddup2(&actions, descriptor, number) }
        var (none, standard) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigemptyset(&standard)
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD] { sigaddset(&standard, signal) }
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &standard)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))
        var process = pid_t()
        let code = withTexts(arguments) { arguments in
            withTexts(environment.map { "\($0)=\($1)" }) {
                posix_spawnp(&process, program, &actions, &attributes, arguments, $0)
            }
        }
        return (code, process)
    }

    /// Texts as C wants them, with a null pointer behind.
    private static func withTexts<Result>(
        _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = texts.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies + [nil])
    }
}
#endif
