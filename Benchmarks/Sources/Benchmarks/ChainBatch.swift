import Handshake
import OAuth
import Sandbox
import Sequencing

extension Benchmark {
    static let chainBatch = Benchmark(
        name: "chain-batch", summary: "200 app chains on one file, until all have ended",
        run: { _ in try await ChainBatch.run() })
}

/// The requests are counted in the sandbox's own log. A quarter of the chains each are ready after one, two, three and
/// four polls, so that several intervals pass with fewer and fewer open jobs.
private enum ChainBatch {
    private static let chains = 200
    private static let rounds = 15

    static func run() async throws -> [Figure] {
        let sandbox = try await Sandbox.start()
        let genome = try await signedIn(sandbox)
        guard let file = FileID("227001") else { throw Failure("the file has no identifier") }
        let calls = (3_000..<3_000 + chains).map { ChainCall(AppCode($0), on: file) }
        let rounds = try await samples(rounds) {
            sandbox.clearRequests()
            var intervals = -1.0  // the first step is the start
            let time = try await seconds {
                for try await step in genome.run(calls) {
                    intervals += 1
                    if step.isComplete, step.endedCount != chains { throw Failure("\(step.endedCount) have ended") }
                }
            }
            let paths = sandbox.requests(.sequencing).map(\.path)
            let starts = paths.count { $0.hasPrefix("/v2/StartApp") }
            return (time: time, starts: Double(starts), polls: Double(paths.count - starts) / intervals)
        }
        await sandbox.stop()
        return [
            Figure("requests that start them", "", .exactly(1), samples: rounds.map(\.starts)),
            Figure("poll requests an interval", "", .atMost(1), samples: rounds.map(\.polls)),
            Figure("all of it, with intervals of 20 ms", "ms", samples: rounds.map { $0.time * 1e3 }),
        ]
    }

    private static func signedIn(_ sandbox: Sandbox) async throws -> Sequencing {
        let origin = try EndpointURL(sandbox.sequencing.origin, security: .allowingInsecureLoopback)
        let service = Service.sequencing.at(origin)
        let handshake = try Handshake(Client(service: service, id: "my-genome-app"), vault: MemoryVault())
        let account = try await handshake.signIn(through: SandboxUserAgent(sandbox: sandbox))
        let interval = Duration.milliseconds(20)
        return Sequencing(account, polling: Polling(firstInterval: interval, maximumInterval: interval))
    }
}
