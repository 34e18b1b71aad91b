#if os(Linux)
import Crypto
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import OAuth
import Synchronization

/// An authorization server and an API by TLS on loopback: one listener asks for certificates, the other does not.
final class CertificateServer: Sendable {
    struct Seen: Sendable {
        let path: String
        let form: [String: String]
        let thumbprint: String?
        /// Whether it came to the listener that asks for certificates.
        let isCertified: Bool
    }

    private struct State {
        var seen: [Seen] = []
        /// The certificate that tokens were issued on.
        var tokens: [String: String] = [:]
        var issuer = ""
        var certified = ""
        var elsewhere = ""
        var channels: [any Channel] = []
    }

    private let state = Mutex(State())

    /// The listener that asks for no certificate: issuer, metadata and pushes.
    var issuer: String { state.withLock { $0.issuer } }
    /// The listener that asks for one: the alias of the token endpoint, and the API.
    var certified: String { state.withLock { $0.certified } }
    /// A listener that asks for none, at another origin than the issuer's and the API's.
    var elsewhere: String { state.withLock { $0.elsewhere } }
    var seen: [Seen] { state.withLock { $0.seen } }

    static func start() async throws -> CertificateServer {
        let server = CertificateServer()
        let plain = try await server.listen(asking: false)
        let certified = try await server.listen(asking: true)
        let elsewhere = try await server.listen(asking: false)
        server.state.withLock { state in
            state.issuer = "https://localhost:\(plain.localAddress?.port ?? 0)"
            state.certified = "https://localhost:\(certified.localAddress?.port ?? 0)"
            state.elsewhere = "https://localhost:\(elsewhere.localAddress?.port ?? 0)"
            state.channels = [plain, certified, elsewhere]
        }
        return server
    }

    func stop() async throws {
        for channel in state.withLock({ $0.channels }) { try await channel.close() }
    }

    private func listen(asking: Bool) async throws -> any Channel {
        let pem = Array(TestCertificates.server.utf8)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(pem).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: pem, format: .pem)))
        if asking {
            configuration.certificateVerification = .optionalVerification
            configuration.trustRoots = .certificates(
                try NIOSSLCertificate.fromPEMBytes(Array(TestCertificates.authority.utf8)))
        }
        let context = try NIOSSLContext(configuration: configuration)
        return try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    try channel.pipeline.syncOperations.addHandler(Exchanges(server: self, isCertified: asking))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    /// Reads one request after the other, and answers each.
    private final class Exchanges: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        private let server: CertificateServer
        private let isCertified: Bool
        private var bytes: [UInt8] = []

        init(server: CertificateServer, isCertified: Bool) {
            self.server = server
            self.isCertified = isCertified
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var buffer = unwrapInboundIn(data)
            bytes += buffer.readBytes(length: buffer.readableBytes) ?? []
            let text = String(decoding: bytes, as: UTF8.self)
            guard let end = text.range(of: "\r\n\r\n") else { return }
            let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
            let fields = lines.dropFirst().reduce(into: [String: String]()) { fields, line in
                let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
                if parts.count == 2 { fields[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces) }
            }
            let body = text[end.upperBound...]
            guard body.utf8.count >= Int(fields["content-length"] ?? "0") ?? 0 else { return }
            bytes = []
            let certificate = try? context.pipeline.syncOperations.nioSSL_peerCertificate()
            let thumbprint = (try? certificate?.toDERBytes()).map { Base64URL.encode(SHA256.hash(data: $0)) }
            let words = lines[0].split(separator: " ").map(String.init)
            if words.count > 1, words[1] == "/broken",
                let tls = try? context.pipeline.syncOperations.context(
                    handlerType: NIOSSLServerHandler.self)
            {
                // Past the TLS handler: a record that no key of the connection has sealed.
                tls.writeAndFlush(
                    NIOAny(ByteBuffer(bytes: [0x17, 3, 3, 0, 48] + [UInt8](repeating: 9, count: 48))), promise: nil)
                return
            }
            let answer = server.answer(
                words.count > 1 ? words[1] : "", String(body), authorization: fields["authorization"],
                thumbprint: thumbprint, isCertified: isCertified)
            let location = answer.status == 302 ? "Location: \(answer.body)\r\n" : ""
            let head =
                "HTTP/1.1 \(answer.status) X\r\n\(location)Content-Type: application/json\r\nContent-Length: \(answer.body.utf8.count)\r\n\r\n"
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: head + answer.body)), promise: nil)
        }
    }

    private func answer(
        _ path: String, _ body: String, authorization: String?, thumbprint: String?, isCertified: Bool
    ) -> (status: Int, body: String) {
        var components = URLComponents()
        components.percentEncodedQuery = body
        let form = components.queryItems?.reduce(into: [String: String]()) { $0[$1.name] = $1.value } ?? [:]
        return state.withLock { state in
            if !path.hasPrefix("/.well-known/") {
                state.seen.append(Seen(path: path, form: form, thumbprint: thumbprint, isCertified: isCertified))
            }
            switch path {
            case "/.well-known/oauth-authorization-server":
                return (200, Self.metadata(issuer: state.issuer, certified: state.certified))
            case "/par": return (201, #"{"request_uri":"urn:x","expires_in":60}"#)
            case "/token":
                guard isCertified, let thumbprint else { return (401, #"{"error":"invalid_client"}"#) }
                let token = "token-\(state.tokens.count)"
                state.tokens["Bearer " + token] = thumbprint
                return (
                    200,
                    #"{"access_token":"\#(token)","token_type":"Bearer","expires_in":600,"refresh_token":"refresh"}"#
                )
            case "/api", "/api/any":
                // RFC 8705, section 3: the token counts on the certificate that it was issued on.
                guard let thumbprint, state.tokens[authorization ?? ""] == thumbprint else { return (403, "{}") }
                return (200, "{}")
            case "/api/away": return (302, state.elsewhere + "/back")
            case "/back": return (302, state.certified + "/whoami")
            default: return (404, "{}")
            }
        }
    }

    private static func metadata(issuer: String, certified: String) -> String {
        #"{"issuer":"\#(issuer)","authorization_endpoint":"\#(issuer)/authorize","token_endpoint":"\#(issuer)/token","#
            + #""pushed_authorization_request_endpoint":"\#(issuer)/par","jwks_uri":"\#(issuer)/jwks","#
            + #""code_challenge_methods_supported":["S256"],"tls_client_certificate_bound_access_tokens":true,"#
            + #""token_endpoint_auth_methods_supported":["tls_client_auth","private_key_jwt"],"#
            + #""mtls_endpoint_aliases":{"token_endpoint":"\#(certified)/token"}}"#
    }
}
#endif
