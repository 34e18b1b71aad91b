#if AsyncHTTPClient && os(Linux)
import AsyncHTTPClient
import AsyncSupport
public import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
public import OAuth
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The transport on Linux, by AsyncHTTPClient. Redirects are off, every length is bounded and every failure told apart.
///
/// A value of this type keeps its connections open for reuse and closes them when it is released.
///
/// The system's certificate authorities vouch for servers. Where the variable `SSL_CERT_FILE` names a PEM file, its authorities
/// do so instead, as for other programs: for an authority of one's own, or the sandbox's. A file that cannot be read vouches for
/// none.
public final class AsyncHTTPTransport: Transport {
    private let configuration: HTTPClient.Configuration
    /// What the transports of certificates are made with too.
    private let connectionTimeout: Duration
    private let trustRoots: NIOSSLTrustRoots?
    /// Made for the first exchange: it starts threads, which a program that finds its token in the vault never needs.
    private let made = Mutex<HTTPClient?>(nil)
    private let check: AddressCheck
    /// The clients of hosts that documents have named, each with the address that was checked; the newest last.
    private let pinned = Mutex<[PinnedClient]>([])
    /// The maximum number of clients that are cached. The oldest gives way to a new host, and its host needs a new connection (`any-server.md` 9).
    static let maximumPinned = 64
    /// How many clients of such hosts are cached.
    var pinnedCount: Int { pinned.withLock { $0.count } }

    /// A client that connects to one address for one host. It is closed with the last exchange that uses it.
    private final class PinnedClient: Sendable {
        let host: String
        let address: String
        /// How long a connection may take to come about.
        let connecting: Duration
        let client: HTTPClient

        init(
            _ host: String, at address: String, connecting: Duration, _ configuration: HTTPClient.Configuration
        ) {
            var configuration = configuration
            configuration.dnsOverride = [host: address]
            configuration.timeout.connect = .nanoseconds(connecting.nanoseconds)
            self.host = host
            self.address = address
            self.connecting = connecting
            client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        }

        deinit { client.shutdown { _ in } }
    }

    /// Makes a transport of its own.
    ///
    /// - Parameter connectionTimeout: how long a connection may take to come about. Where a document has named a host that
    ///   has several addresses, each but the last of them has half as long, and the last one too where no more than the
    ///   whole time is left.
    public convenience init(connectionTimeout: Duration = .seconds(10)) {
        self.init(connectionTimeout: connectionTimeout, resolver: .system)
    }

    package convenience init(connectionTimeout: Duration = .seconds(10), resolver: HostResolver) {
        self.init(
            connectionTimeout: connectionTimeout, trustRoots: Self.statedAuthorities.map { .file($0) }, presenting: nil,
            resolver: resolver)
    }

    /// The file of the authorities that vouch for servers in place of the system's; nil where none is stated.
    package static var statedAuthorities: String? {
        getenv("SSL_CERT_FILE").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// - Parameters:
    ///   - trustRoots: which authorities vouch for servers; nil for the system's.
    ///   - certificate: what connections present; nil for nothing.
    ///   - resolver: how names become addresses, where a document has named the host.
    private init(
        connectionTimeout: Duration, trustRoots: NIOSSLTrustRoots?, presenting certificate: TLSIdentity?,
        resolver: HostResolver
    ) {
        check = AddressCheck(resolver: resolver)
        self.connectionTimeout = connectionTimeout
        self.trustRoots = trustRoots
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.decompression = .disabled
        configuration.timeout.connect = .nanoseconds(connectionTimeout.nanoseconds)
        // A refused connection is an answer; trying until the deadline would only hide it.
        configuration.connectionPool.retryConnectionEstablishment = false
        // As many as a keeper's refreshes run concurrently unless it is told otherwise.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        // Over HTTP/2 a status reaches HTTPTypes and NIO unchecked, which trap on `:status: 1000` and `-1`.
        configuration.httpVersion = .http1Only
        configuration.http1_1ConnectionDebugInitializer = ResponseHeadValidator.insert(into:)
        if trustRoots != nil || certificate != nil {
            var security = TLSConfiguration.makeClientConfiguration()
            security.trustRoots = trustRoots ?? .default
            if let certificate {
                security.certificateChain = certificate.chain.map { .certificate($0) }
                security.privateKey = .privateKey(certificate.key)
            }
            configuration.tlsConfiguration = security
        }
        self.configuration = configuration
    }

    /// A transport for servers whose certificate an authority of the test's own vouches for.
    package convenience init(trusting authority: [UInt8]) throws {
        let certificates = try NIOSSLCertificate.fromPEMBytes(authority)
        self.init(
            connectionTimeout: .seconds(10), trustRoots: .certificates(certificates), presenting: nil,
            resolver: .system)
    }

    /// A certificate and its key, as the library has them.
    private struct TLSIdentity {
        let chain: [NIOSSLCertificate]
        let key: NIOSSLPrivateKey

        /// - Throws: ``HandshakeError/configuration(member:problem:)`` when one of them cannot be read, or the key is another
        ///   certificate's.
        init(_ certificate: ClientCertificate) throws(HandshakeError) {
            do {
                chain = try certificate.chain.map { try NIOSSLCertificate(bytes: $0, format: .der) }
                key = try NIOSSLPrivateKey(bytes: Array((certificate.source?.reveal() ?? "").utf8), format: .pem)
                var configuration = TLSConfiguration.makeClientConfiguration()
                configuration.certificateChain = chain.map { .certificate($0) }
                configuration.privateKey = .privateKey(key)
                _ = try NIOSSLContext(configuration: configuration)
            } catch {
                throw ClientCertificate.wrong("certificate and key cannot be used, or do not belong together")
            }
        }
    }

    /// A transport of its own, whose connections present a certificate if asked.
    ///
    /// - Throws: ``HandshakeError/configuration(member:problem:)`` when certificate and key do not belong together.
    public func presenting(_ certificate: ClientCertificate) throws(HandshakeError) -> any Transport {
        AsyncHTTPTransport(
            connectionTimeout: connectionTimeout, trustRoots: trustRoots, presenting: try TLSIdentity(certificate),
            resolver: check.resolver)
    }

    deinit {
        made.withLock { $0?.shutdown { _ in } }
    }

    private var client: HTTPClient {
        made.withLock { made in
            if let made { return made }
            let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
            made = client
            return client
        }
    }

    public func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        try await exchange(request, limits: limits) { head, parts in
            var content: [UInt8] = []
            for try await var part in parts { content += part.readBytes(length: part.readableBytes) ?? [] }
            return ResponseMessage(head: head, content: content)
        }
    }

    public func stream(
        _ request: RequestMessage, limits: TransferLimits,
        receive: @escaping @Sendable (HTTPTypes.HTTPResponse, [UInt8]) async throws -> Void
    ) async throws -> HTTPTypes.HTTPResponse {
        try await exchange(request, limits: limits) { head, parts in
            for try await var part in parts {
                do {
                    try await receive(head, part.readBytes(length: part.readableBytes) ?? [])
                } catch {
                    throw ReceiverFailure(error: error)
                }
            }
            return head
        }
    }

    /// What the receiver of a stream threw: no failure of the exchange, and thrown on as it is.
    private struct ReceiverFailure: Error {
        let error: any Error
    }

    private typealias Parts = AsyncThrowingMapSequence<HTTPClientResponse.Body, ByteBuffer>

    /// One exchange within its limits, with every failure told apart.
    private func exchange<Result: Sendable>(
        _ request: RequestMessage, limits: TransferLimits,
        _ read: @escaping @Sendable (HTTPTypes.HTTPResponse, Parts) async throws -> Result
    ) async throws -> Result {
        guard request.namedBy != nil, let origin = Origin(of: request.head) else {
            return try await exchange(request, by: client, limits: limits, read)
        }
        let clock = ContinuousClock()
        let start = clock.now
        let found: [String]?
        do {
            found = try await withDeadline(limits.timeout, on: clock) { [check] in
                try await check.addresses(for: request)
            }
        } catch is DeadlineExceeded {
            throw TransportError.timedOut(host: origin.authority)
        }
        guard let found else {
            return try await exchange(request, by: client, limits: limits.left(since: start, on: clock), read)
        }
        return try await limits.trying(
            found, since: start, on: clock, repeats: request.content.isReplayable,
            connecting: connectionTimeout
        ) { address, limits, connecting in
            let pinned = self.pinned(origin.host, at: address, connecting: connecting)
            defer { withExtendedLifetime(pinned) {} }
            return try await exchange(request, by: pinned.client, limits: limits, read)
        }
    }

    private func pinned(_ host: String, at address: String, connecting: Duration) -> PinnedClient {
        pinned.withLock { all in
            let isSame = { (known: PinnedClient) in
                known.host == host && known.address == address && known.connecting == connecting
            }
            if let index = all.firstIndex(where: isSame) {
                let known = all.remove(at: index)
                all.append(known)
                return known
            }
            let new = PinnedClient(host, at: address, connecting: connecting, configuration)
            if all.count >= Self.maximumPinned { all.removeFirst() }
            all.append(new)
            return new
        }
    }

    private func exchange<Result: Sendable>(
        _ request: RequestMessage, by client: HTTPClient, limits: TransferLimits,
        _ read: @escaping @Sendable (HTTPTypes.HTTPResponse, Parts) async throws -> Result
    ) async throws -> Result {
        let host = request.head.authority ?? ""
        do {
            return try await withDeadlineForAnswer(limits.timeout) {
                // The library's own deadline would end the exchange as soon as a process that stood still goes on.
                let response = try await client.execute(HTTPClientRequest(request), deadline: .distantFuture)
                let length = Mutex(0)
                let parts = response.body.map { part in
                    let total = length.withLock { length in
                        length += part.readableBytes
                        return length
                    }
                    guard total <= limits.maximumContentLength else {
                        throw TransportError.tooLarge(host: host, limit: limits.maximumContentLength)
                    }
                    return part
                }
                return try await read(Self.head(of: response), parts)
            }
        } catch is DeadlineExceeded {
            throw TransportError.timedOut(host: host)
        } catch let failure as ReceiverFailure {
            throw failure.error
        } catch let error as TransportError {
            throw error
        } catch {
            // The deadline cancels the exchange; only the caller's own cancellation may look like one.
            if Task.isCancelled { throw CancellationError() }
            throw Self.describe(error, host: host)
        }
    }

    private static func head(of response: HTTPClientResponse) -> HTTPTypes.HTTPResponse {
        var fields = HTTPTypes.HTTPFields()
        for (name, value) in response.headers {
            guard let name = HTTPField.Name(name) else { continue }
            fields.append(HTTPField(name: name, value: value))
        }
        return HTTPResponse(status: .init(code: Int(response.status.code)), headerFields: fields)
    }

    /// Sorts a failure into "never sent" and "perhaps processed", which decides what a refresh may conclude.
    private static func describe(_ error: any Error, host: String) -> TransportError {
        switch error {
        case let error as InvalidResponseHead: .invalid(host: host, reason: error.problem)
        case HTTPParserError.invalidEOFState, HTTPParserError.closedConnection:
            .cut(host: host, reason: "the connection ended within the response")
        case let error as HTTPParserError: .invalid(host: host, reason: String(reflecting: error))
        case let error as HTTPClientError:
            switch error {
            case .connectTimeout: .unreachable(host: host, reason: "no connection was made in time")
            case .deadlineExceeded, .readTimeout, .writeTimeout, .getConnectionFromPoolTimeout:
                .timedOut(host: host)
            case .tlsHandshakeTimeout: .insecure(host: host, reason: "the TLS handshake did not finish in time")
            default: .cut(host: host, reason: error.shortDescription)
            }
        case NIOSSLError.uncleanShutdown, NIOSSLError.readInInvalidTLSState:
            .cut(host: host, reason: "the TLS connection ended within the response")
        case let error as NIOSSLError:
            .insecure(host: host, reason: tlsReason(error))
        // Of a file of authorities that does not load. Others come from a connection that was made, and bytes may have arrived.
        case BoringSSLError.unknownError:
            .insecure(host: host, reason: authoritiesReason)
        case is NIOSSLExtraError:
            .insecure(host: host, reason: "the certificate does not fit the host name")
        case let error as NIOConnectionError: connectionFailure(error, host: host)
        case let error as IOError where [ECONNREFUSED, ENETUNREACH, EHOSTUNREACH].contains(error.errnoCode):
            .unreachable(host: host, reason: systemReason(error.errnoCode))
        case let error as IOError:
            .cut(host: host, reason: systemReason(error.errnoCode))
        case ChannelError.ioOnClosedChannel, ChannelError.alreadyClosed, ChannelError.eof:
            .cut(host: host, reason: "the server has closed it")
        default:
            .cut(host: host, reason: "\(type(of: error))")
        }
    }

    private static func connectionFailure(_ error: NIOConnectionError, host: String) -> TransportError {
        if let failure = error.connectionErrors.first {
            let reason = (failure.error as? IOError).map { systemReason($0.errnoCode) } ?? "\(type(of: failure.error))"
            return .unreachable(host: host, reason: reason)
        }
        return error.dnsAError == nil && error.dnsAAAAError == nil
            ? .unreachable(host: host, reason: "no address answers") : .unknownHost(host: host)
    }

    /// Why no connection could even be tried.
    private static var authoritiesReason: String {
        guard let file = statedAuthorities else { return "the system's certificate authorities cannot be read" }
        return "the certificate authorities in the file “\(quoted(file, limit: 200))” (SSL_CERT_FILE) cannot be read"
    }

    private static func systemReason(_ code: CInt) -> String {
        String(cString: strerror(code))
    }

    /// The library's own text names files of the machine that compiled it, so only the kind is reported.
    private static func tlsReason(_ error: NIOSSLError) -> String {
        switch error {
        case .handshakeFailed(.sslError(let reasons)):
            "the handshake failed"
                + (reasons.isEmpty ? "" : ": the peer's certificate or protocol was not accepted")
        case .failedToLoadCertificate, .noSuchFilesystemObject: authoritiesReason
        case .noCertificateToValidate, .unableToValidateCertificate: "the certificate could not be validated"
        default: "the handshake failed"
        }
    }
}

extension HTTPClientRequest {
    fileprivate init(_ request: RequestMessage) {
        let head = request.head
        self.init(url: "\(head.scheme ?? "https")://\(head.authority ?? "")\(head.path ?? "/")")
        method = NIOHTTP1.HTTPMethod(rawValue: head.method.rawValue)
        for field in head.headerFields { headers.add(name: field.name.rawName, value: field.value) }
        switch request.content {
        case .none: break
        case .bytes(let bytes): body = .bytes(ByteBuffer(bytes: bytes))
        case .stream(let parts, let length):
            body = .stream(
                parts.map { ByteBuffer(bytes: $0) }, length: length.map { .known($0) } ?? .unknown)
        }
    }
}
#endif
