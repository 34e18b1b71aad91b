import Foundation
import Sandbox

extension Benchmark {
    static let sandboxStart = Benchmark(
        name: "sandbox-start", summary: "from Sandbox.start() until all three services listen",
        run: { _ in try await SandboxStart.run() })
}

enum SandboxStart {
    static func run() async throws -> [Figure] {
        let first = try await samples(15) {
            try await blocking { try ChildPart.startSandbox.numbers()[0] }
        }
        let later = try await samples(25) {
            let start = monotonicSeconds()
            let sandbox = try await Sandbox.start()
            let time = monotonicSeconds() - start
            await sandbox.stop()
            return time * 1e3
        }
        return [
            Figure("the first of a process", "ms", .atMost(50), samples: first),
            Figure("any later one", "ms", .atMost(50), samples: later),
        ]
    }

    /// The part of a child: prints the milliseconds of its first start.
    static func playChild() async throws {
        let start = monotonicSeconds()
        let sandbox = try await Sandbox.start()
        print((monotonicSeconds() - start) * 1e3)
        await sandbox.stop()
    }
}
