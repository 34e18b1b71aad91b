#if CommandLine
import Dispatch
import Foundation
import Synchronization

/// Turns Ctrl-C and a request to terminate into the cancellation of the running command.
///
/// A signal is recorded from ``record()`` on, however early it comes: the handler writes to a pipe, and what is in the pipe
/// waits until ``watch(_:)`` reads it.
enum Interruption {
    /// A bit for each signal that came. Two that come together may be handled in either order, so none counts as the first.
    private static let received = Atomic<UInt32>(0)
    private static let count = Atomic<Int>(0)
    private static let writingEnd = Atomic<Int32>(-1)
    private static let readingEnd = Atomic<Int32>(-1)

    /// Begins to record signals. Until then a signal ends the process, as it does by default.
    static func record() {
        var ends: [Int32] = [-1, -1]
        // Without a pipe the default stays: a signal ends the process.
        guard pipe(&ends) == 0 else { return }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        // A handler may only use what was initialized before it runs.
        _ = (received.load(ordering: .relaxed), count.load(ordering: .relaxed))
        readingEnd.store(ends[0], ordering: .relaxed)
        writingEnd.store(ends[1], ordering: .relaxed)
        for number in [SIGINT, SIGTERM] { signal(number) { Interruption.note($0) } }
    }

    /// Runs a command. The first signal cancels the command's task, which may clean up; a second one ends the process.
    static func watch(_ body: @escaping @Sendable () async -> ExitStatus) async -> ExitStatus {
        let work = Task { await body() }
        let descriptor = readingEnd.load(ordering: .relaxed)
        guard descriptor >= 0 else { return await work.value }
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .global())
        source.setEventHandler {
            var bytes = [UInt8](repeating: 0, count: 64)
            _ = read(descriptor, &bytes, bytes.count)
            if count.load(ordering: .relaxed) > 1 {
                Terminal.showInput()
                _exit(128 + (number ?? SIGTERM))
            }
            work.cancel()
        }
        source.resume()
        let status = await work.value
        source.cancel()
        return number.map { ExitStatus(signal: $0) } ?? status
    }

    /// The signal that the exit status names; nil while there was none.
    private static var number: Int32? {
        let bits = received.load(ordering: .relaxed)
        return [SIGINT, SIGTERM].first { bits & 1 << UInt32(truncatingIfNeeded: $0) != 0 }
    }

    /// The signal handler: only what is safe in one.
    private static func note(_ number: Int32) {
        let error = errno
        received.bitwiseOr(1 << UInt32(truncatingIfNeeded: number), ordering: .relaxed)
        count.wrappingAdd(1, ordering: .relaxed)
        var byte = UInt8(1)
        _ = write(writingEnd.load(ordering: .relaxed), &byte, 1)
        errno = error
    }
}
#endif
