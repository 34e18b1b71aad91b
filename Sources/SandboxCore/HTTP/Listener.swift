import Hummingbird
import Logging
import ServiceLifecycle

/// One service listening on one port.
struct Listener: Sendable {
    let port: Int
    private let task: Task<Void, Never>
    private let group: ServiceGroup

    /// For how long answers under way may take when the listener ends.
    private static let patience = Duration.milliseconds(500)

    /// Starts to listen.
    ///
    /// - Parameter didBind: called with the port before the first request can be answered.
    /// - Throws: ``SandboxError/cannotListen(host:port:reason:)``.
    static func open(
        host: String, port: Int, doorway: Doorway, didBind: @escaping @Sendable (Int) -> Void
    ) async throws(SandboxError) -> Listener {
        guard (0...65_535).contains(port) else {
            throw .cannotListen(host: host, port: port, reason: "a port is a number from 0 to 65535")
        }
        let (outcome, report) = AsyncStream<Result<Int, any Error>>.makeStream()
        let application = Application(
            responder: doorway,
            configuration: ApplicationConfiguration(address: .hostname(host, port: port), serverName: "Sandbox"),
            onServerRunning: { channel in
                let bound = channel.localAddress?.port ?? port
                didBind(bound)
                report.yield(.success(bound))
            },
            logger: quietLogger
        )
        var configuration = ServiceGroupConfiguration(services: [application], logger: quietLogger)
        configuration.maximumGracefulShutdownDuration = patience
        let group = ServiceGroup(configuration: configuration)
        let task = Task {
            do { try await group.run() } catch { report.yield(.failure(error)) }
            report.finish()
        }
        for await result in outcome {
            switch result {
            case .success(let bound): return Listener(port: bound, task: task, group: group)
            case .failure(let error): throw .cannotListen(host: host, port: port, reason: "\(error)")
            }
        }
        throw .cannotListen(host: host, port: port, reason: "the server ended before it listened")
    }

    /// Asks the server to end: no new connections, answers under way are finished, waiting ones are given up.
    ///
    /// It closes before anything is cancelled: a connection that is being accepted by a server that was cancelled would end the
    /// process.
    func cancel() {
        let group = group
        Task { await group.triggerGracefulShutdown() }
    }

    /// Returns when the port is free.
    func ended() async {
        await task.value
    }

    /// The sandbox reports through its request log; the server underneath says only what nobody should miss.
    private static var quietLogger: Logger {
        var logger = Logger(label: "Sandbox")
        logger.logLevel = .critical
        return logger
    }
}
