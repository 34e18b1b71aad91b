#if os(Linux)
import NIOCore
import NIOPosix
import NIOSSL

/// A server on loopback with an untrusted certificate. Its key protects nothing and is no secret.
struct UntrustedServer {
    let port: Int
    private let channel: any Channel

    static func start() async throws -> UntrustedServer {
        let configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8)).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem)))
        let context = try NIOSSLContext(configuration: configuration)
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return UntrustedServer(port: channel.localAddress?.port ?? 0, channel: channel)
    }

    func stop() async throws {
        try await channel.close()
    }

    private static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBnDCCAUGgAwIBAgIUIfvfe6gsr/uASfnChgKKiRN8vXIwCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTA0MTI0OVoYDzIxMjYxMDI4
        MDQxMjQ5WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAAQIlnsbcbHA/oDUa42SHpG23N0uWyFA+bJiKdUa43F/Tgjz9aad973K
        tASi4zUwfZo/EbhicTkpioan6XJS1eTxo28wbTAdBgNVHQ4EFgQUmeAU1gkTh+/X
        5TAZLCGzzF23Jz0wHwYDVR0jBBgwFoAUmeAU1gkTh+/X5TAZLCGzzF23Jz0wDwYD
        VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
        zj0EAwIDSQAwRgIhAJJFNBVKxYb//OUXhao8gcntCQ30h2OX0UAhBIOEb3uAAiEA
        oguLnaq16J7+T0crWOS9EocFHQjHW0OHrX8UkpM5lIs=
        -----END CERTIFICATE-----
        """

    private static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg5hS4wq++gXVyS8mU
        WEPnEnMcsQb75solIiMxgWQGtJahRANCAAQIlnsbcbHA/oDUa42SHpG23N0uWyFA
        +bJiKdUa43F/Tgjz9aad973KtASi4zUwfZo/EbhicTkpioan6XJS1eTx
        -----END PRIVATE KEY-----
        """
}
#endif
