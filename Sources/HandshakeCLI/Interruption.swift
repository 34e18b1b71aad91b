import Dispatch
import Foundation
import Synchronization

/// Turns Ctrl-C and a request to terminate into the cancellation of what the command is doing.
enum Interruption {
    private static let received = Atomic<Int32>(0)

    /// Runs a command. When a signal comes, the command's task is cancelled and may clean up; a second signal ends the
    /// process at once.
    static func watch(_ body: @escaping @Sendable () async -> ExitStatus) async -> ExitStatus {
        let work = Task { await body() }
        let sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                guard received.exchange(number, ordering: .relaxed) == 0 else {
                    Terminal.showInput()
                    exit(128 + number)
                }
                work.cancel()
            }
            source.resume()
            return source
        }
        let status = await work.value
        for source in sources { source.cancel() }
        return received.load(ordering: .relaxed) == 0 ? status : ExitStatus(signal: received.load(ordering: .relaxed))
    }
}
