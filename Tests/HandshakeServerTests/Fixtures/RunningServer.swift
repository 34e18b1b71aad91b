import Hummingbird
import Logging
import WireFixtures

/// A router listening on loopback.
struct RunningServer {
    let port: Int
    private let task: Task<Void, Never>

    static func start(_ router: Router<BasicRequestContext>) async throws -> RunningServer {
        let (ports, bound) = AsyncStream<Int>.makeStream()
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let application = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { bound.yield($0.localAddress?.port ?? 0) }, logger: logger)
        let task = Task {
            try? await application.run()
            bound.finish()
        }
        for await port in ports { return RunningServer(port: port, task: task) }
        throw WireClient.Failure(description: "the server did not start")
    }

    var origin: String { "http://127.0.0.1:\(port)" }

    func stop() async {
        cancel()
        await task.value
    }

    /// Cancels whatever it is at work on, and waits for nothing.
    func cancel() {
        task.cancel()
    }
}
