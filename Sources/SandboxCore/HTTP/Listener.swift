#if Sandbox
import Crypto
import Foundation
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import NIOSSL
import ServiceLifecycle

/// One service listening on one port.
struct Listener: Sendable {
    let port: Int
    private let task: Task<Void, Never>
    private let group: ServiceGroup

    /// How long responses that have begun may take when the listener ends.
    private static let shutdownTimeout = Duration.milliseconds(500)

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - usesTLS: whether it listens by TLS, and asks for the certificates of clients.
    ///   - didBind: called with the port before the first request can be answered.
    /// - Throws: ``SandboxError/cannotListen(host:port:reason:)``.
    static func open(
        host: String, port: Int, usesTLS: Bool, responder: some HTTPResponder<Connection>,
        didBind: @escaping @Sendable (Int) -> Void
    ) async throws(SandboxError) -> Listener {
        guard (0...65_535).contains(port) else {
            throw .cannotListen(host: host, port: port, reason: "a port is a number from 0 to 65535")
        }
        let server: HTTPServerBuilder
        do {
            server = usesTLS ? try mutualTLS() : .http1()
        } catch {
            throw .cannotListen(host: host, port: port, reason: "its certificate cannot be used")
        }
        let (outcome, report) = AsyncStream<Result<Int, any Error>>.makeStream()
        let application = Application(
            responder: responder, server: server,
            configuration: ApplicationConfiguration(address: .hostname(host, port: port), serverName: "Sandbox"),
            onServerRunning: { channel in
                let bound = channel.localAddress?.port ?? port
                didBind(bound)
                report.yield(.success(bound))
            },
            logger: quietLogger
        )
        var configuration = ServiceGroupConfiguration(services: [application], logger: quietLogger)
        configuration.maximumGracefulShutdownDuration = shutdownTimeout
        let group = ServiceGroup(configuration: configuration)
        let task = Task {
            do { try await group.run() } catch { report.yield(.failure(error)) }
            report.finish()
        }
        for await result in outcome {
            switch result {
            case .success(let bound): return Listener(port: bound, task: task, group: group)
            case .failure(let error): throw .cannotListen(host: host, port: port, reason: reason(error))
            }
        }
        throw .cannotListen(host: host, port: port, reason: "the server ended before it listened")
    }

    /// HTTP by TLS that asks each client for a certificate and goes on with any, also without one.
    private static func mutualTLS() throws -> HTTPServerBuilder {
        let authority = CertificateAuthority.shared
        let issued = authority.issueServer()
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(try NIOSSLCertificate(bytes: issued.certificate, format: .der))],
            privateKey: .privateKey(
                try NIOSSLPrivateKey(bytes: Array(issued.key.pemRepresentation.utf8), format: .pem)))
        configuration.certificateVerification = .optionalVerification
        configuration.trustRoots = .certificates([
            try NIOSSLCertificate(bytes: authority.certificate, format: .der)
        ])
        // A certificate that no authority has issued is a client's too (RFC 8705 section 2.2): the endpoints decide.
        return try .tls(
            .http1(),
            configuration: TLSChannelConfiguration(
                tlsConfiguration: configuration,
                customVerificationCallback: { _, promise in promise.succeed(.certificateVerified) }))
    }

    /// Why the system refused, in words of its own or plainer ones.
    private static func reason(_ error: any Error) -> String {
        guard let error = error as? IOError else { return "the address does not exist" }
        return switch error.errnoCode {
        case EADDRINUSE: "another program uses the port"
        case EACCES: "you may not use this port"
        case EADDRNOTAVAIL: "the address is not one of this machine"
        default: String(cString: strerror(error.errnoCode))
        }
    }

    /// Stops the server: it accepts no new connections, finishes responses in progress, cancels waiting ones.
    ///
    /// It closes before it cancels: accepting a connection in a cancelled server would end the
    /// process.
    func cancel() {
        let group = group
        Task { await group.triggerGracefulShutdown() }
    }

    /// Returns when the port is free.
    func ended() async {
        await task.value
    }

    /// The sandbox has its own request log; the server underneath logs only critical events.
    private static var quietLogger: Logger {
        var logger = Logger(label: "Sandbox")
        logger.logLevel = .critical
        return logger
    }
}
#endif
