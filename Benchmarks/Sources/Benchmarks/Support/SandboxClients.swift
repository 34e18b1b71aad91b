import HTTPTypes
import Handshake
import OAuth
import Sandbox
import Synchronization

/// Signs in as the sandbox's first user, without a browser.
struct SandboxUserAgent: Browser {
    let sandbox: Sandbox

    func show(_ page: SignInPage) async throws -> String? {
        try await sandbox.approve(page.url)
    }
}

/// The Recurse Center of a sandbox: short, rotating refresh tokens and an API at the same origin.
enum RecurseCenterAtSandbox {
    static func client(origin: String) throws -> Client {
        let base = try EndpointURL(origin, security: .allowingInsecureLoopback)
        return Client(service: .recurseCenter.at(base), id: "recurse-public")
    }

    /// What the benchmarks ask of the API.
    static func request(origin: String) throws -> RequestMessage {
        RequestMessage(.get, try EndpointURL(origin + "/api/v1/profiles/me", security: .allowingInsecureLoopback))
    }
}

/// The machine's calendar clock, moved forward as a benchmark asks, so that a token expires without waiting.
final class MovedClock: Sendable {
    private let offset = Atomic<Int>(0)

    /// Moves the clock forward, in seconds.
    func advance(by seconds: Int) {
        offset.add(seconds, ordering: .relaxed)
    }

    var source: TimeSource {
        TimeSource(
            now: { TimeSource.system.now() + Double(self.offset.load(ordering: .relaxed)) }, clock: ContinuousClock())
    }
}
