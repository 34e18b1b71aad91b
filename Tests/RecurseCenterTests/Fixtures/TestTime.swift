import Foundation
import Handshake
import Synchronization

/// A time that a test moves, and on which every pause is over at once; it tells how long the pauses were.
final class TestTime: Clock, Sendable {
    struct Instant: InstantProtocol {
        let offset: Duration
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
    }

    private struct State {
        var elapsed = Duration.zero
        var pauses: [Duration] = []
    }

    private let start: Double
    private let state = Mutex(State())

    /// - Parameter start: seconds since 1970; noon of the first of July 2025 in New York unless stated.
    init(_ start: Double = 1_751_385_600) {
        self.start = start
    }

    var now: Instant { state.withLock { Instant(offset: $0.elapsed) } }
    var minimumResolution: Duration { .zero }
    var pauses: [Duration] { state.withLock { $0.pauses } }

    var source: TimeSource {
        TimeSource(now: { self.start + self.now.offset / .seconds(1) }, clock: self)
    }

    func advance(by seconds: Double) {
        state.withLock { $0.elapsed += .seconds(seconds) }
    }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        state.withLock { state in
            state.pauses.append(deadline.offset - state.elapsed)
            state.elapsed = max(state.elapsed, deadline.offset)
        }
        await Task.yield()
    }
}

/// A folder that ends with the test.
final class TemporaryFolder {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "recurse-center-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The names in a folder below, sorted.
    func names(_ folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path + "/" + folder)) ?? []).sorted()
    }

    /// The permissions of what lies there.
    func mode(_ name: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path + "/" + name)
        return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
    }
}
