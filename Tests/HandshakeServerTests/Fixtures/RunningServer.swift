import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle
import TestFixtures

/// A router listening on loopback.
struct RunningServer {
    let port: Int
    private let task: Task<Void, Never>
    private let group: ServiceGroup

    /// - Parameter services: what runs in one group with it, behind it.
    static func start<Context: InitializableFromSource<ApplicationRequestContextSource> & RequestContext>(
        _ router: Router<Context>, beside services: [any ServiceLifecycle.Service] = []
    ) async throws -> RunningServer {
        let (ports, bound) = AsyncStream<Int>.makeStream()
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let application = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { bound.yield($0.localAddress?.port ?? 0) }, logger: logger)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(services: [application] + services, logger: logger))
        let task = Task {
            try? await group.run()
            bound.finish()
        }
        for await port in ports { return RunningServer(port: port, task: task, group: group) }
        throw WireClient.Failure(description: "the server did not start")
    }

    var origin: String { "http://127.0.0.1:\(port)" }

    /// Closes, however long it takes, and cancels nothing: a connection that is being accepted by a server that was cancelled
    /// would end the process.
    func stop() async {
        await beginStopping()
        await task.value
    }

    func beginStopping() async { await group.triggerGracefulShutdown() }

    /// Cancels whatever it is at work on, and waits for nothing.
    func cancel() {
        task.cancel()
    }
}

/// The context of a request, with the sender's address.
struct CircleContext: RemoteAddressRequestContext {
    var coreContext: CoreRequestContextStorage
    let remoteAddress: SocketAddress?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        remoteAddress = source.channel.remoteAddress
    }
}
