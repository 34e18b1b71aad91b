#if os(Linux)
import Foundation
import TestFixtures
import Testing

#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A process of a test that stops itself, and says its number in the place's journal.
///
/// Neither side waits without an end: a process that does not stop, or that is not let go on, ends with the test that waits for it.
extension PostgresPlace {
    /// Stops the process that calls it, until ``whileStopped(within:_:)`` in another one lets it go on.
    func stop() {
        sayNumber()
        // For this thread, which goes no further: one for the process may come to another thread first.
        raise(SIGSTOP)
    }

    /// Writes the process's number for ``whileStopped(within:_:)``, and bounds its life.
    fileprivate func sayNumber() {
        // For a process that no one waits for any more. A stopped one gets it when it goes on, or is killed.
        alarm(240)
        try? "\(getpid())".write(toFile: journal, atomically: true, encoding: .utf8)
    }

    /// Runs a body while the other process is stopped, and lets that one go on. When the body fails it is killed, and its test
    /// fails with it.
    ///
    /// - Parameter limit: how long the process may take until it has stopped.
    func whileStopped(within limit: Duration = .seconds(120), _ body: () async throws -> Void) async throws {
        let process = try await stoppedProcess(within: limit)
        do {
            try await body()
        } catch {
            kill(process, SIGKILL)
            throw error
        }
        kill(process, SIGCONT)
    }

    private func stoppedProcess(within limit: Duration) async throws -> pid_t {
        let end = ContinuousClock.now + limit
        while true {
            let number = (try? String(contentsOfFile: journal, encoding: .utf8)).flatMap { pid_t($0) }
            if let number {
                let status = (try? String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8)) ?? ""
                if status.contains(") T ") { return number }
            }
            guard ContinuousClock.now < end, !Task.isCancelled else {
                if let number { kill(number, SIGKILL) }
                throw NeverStopped()
            }
            try? await Task.sleep(for: .milliseconds(10))
        }
    }

    /// The other process has not stopped in time.
    struct NeverStopped: Error {}
}

@Suite("Tests that stop a process", .heavy, .ownThreads, .serialized, .timeLimit(.minutes(10)))
struct StoppedProcessTests {
    private static func place(_ folder: String) -> PostgresPlace {
        PostgresPlace(connection: "", schema: "", parent: folder)
    }

    private static func withFolder(_ body: (PostgresPlace) async throws -> Void) async throws {
        let path = FileManager.default.temporaryDirectory.path + "/stopped-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await body(place(path))
    }

    @Test("a process that does not stop is not waited for without an end")
    func neverStops() async throws {
        try await Self.withFolder { place in
            await #expect(throws: PostgresPlace.NeverStopped.self) {
                try await place.whileStopped(within: .milliseconds(50)) {}
            }
        }
    }

    @Test("a process that says its number and runs on is killed")
    func runsOn() async throws {
        try await Self.withFolder { place in
            async let other: Void = runInAnotherProcess(place)
            while !FileManager.default.fileExists(atPath: place.journal) {
                try await Task.sleep(for: .milliseconds(10))
            }
            await #expect(throws: PostgresPlace.NeverStopped.self) {
                try await place.whileStopped(within: .milliseconds(50)) {}
            }
            await other
        }
    }

    @Test("a stopped process is killed when what was to happen meanwhile fails")
    func failing() async throws {
        try await Self.withFolder { place in
            async let other: Void = stopInAnotherProcess(place)
            await #expect(throws: CancellationError.self) {
                try await place.whileStopped { throw CancellationError() }
            }
            await other
        }
    }
}

private func runInAnotherProcess(_ place: PostgresPlace) async {
    await #expect(processExitsWith: .signal(SIGKILL)) { [place = place as PostgresPlace] in
        place.sayNumber()
        while true { pause() }
    }
}

private func stopInAnotherProcess(_ place: PostgresPlace) async {
    await #expect(processExitsWith: .signal(SIGKILL)) { [place = place as PostgresPlace] in place.stop() }
}
#endif
