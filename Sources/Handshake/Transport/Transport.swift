public import HTTPTypes
public import OAuth

/// One request in, one response out. It is the only way in which this package reaches the network.
///
/// A transport never follows a redirect, never changes a request, never sends it twice, and reads at most
/// ``TransferLimits/maximumContentLength`` bytes within ``TransferLimits/timeout``. A process that stood still reads an answer for up to 2 s longer.
public protocol Transport: Sendable {
    /// Sends a request and reads the whole response, whatever its status.
    ///
    /// - Throws: ``TransportError``, or `CancellationError` immediately when the calling task is cancelled.
    func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage

    /// Sends a request and hands over the response's content in pieces. For content that should not be held in memory.
    ///
    /// The pieces come in order, one at a time: the next is read when `receive` has returned, so that a slow receiver
    /// slows the peer down. When `receive` throws, the exchange is given up and its error is thrown.
    ///
    /// - Returns: status and fields, once the content is complete.
    /// - Throws: what ``send(_:limits:)`` throws, perhaps after some pieces; whatever `receive` throws.
    func stream(
        _ request: RequestMessage, limits: TransferLimits,
        receive: @escaping @Sendable (HTTPResponse, [UInt8]) async throws -> Void
    ) async throws -> HTTPResponse

    /// A transport whose connections can present a certificate (RFC 8705, section 2).
    ///
    /// Its connections are its own: no request without the certificate uses them.
    ///
    /// - Throws: ``HandshakeError/configuration(member:problem:)`` when this transport cannot.
    func presenting(_ certificate: ClientCertificate) throws(HandshakeError) -> any Transport
}

extension Transport {
    /// For transports that present no certificates.
    ///
    /// - Throws: ``HandshakeError/configuration(member:problem:)``, always.
    public func presenting(_ certificate: ClientCertificate) throws(HandshakeError) -> any Transport {
        throw .configuration(
            member: "certificate", problem: "this transport presents none; use the platform's own, or one that does")
    }

    /// For transports that cannot stream: the whole content as one piece.
    public func stream(
        _ request: RequestMessage, limits: TransferLimits,
        receive: @escaping @Sendable (HTTPResponse, [UInt8]) async throws -> Void
    ) async throws -> HTTPResponse {
        let response = try await send(request, limits: limits)
        if !response.content.isEmpty { try await receive(response.head, response.content) }
        return response.head
    }
}

/// What one exchange may cost at most.
public struct TransferLimits: Sendable, Hashable {
    /// The longest content that is read, in bytes; 1 MiB unless stated.
    public var maximumContentLength: Int
    /// The time for the whole exchange: lookup, connection and transfer. 20 seconds unless stated.
    ///
    /// A process that stood still, stopped or on a frozen machine, reads an answer for up to 2 s longer.
    public var timeout: Duration

    public init(maximumContentLength: Int = 1 << 20, timeout: Duration = .seconds(20)) {
        self.maximumContentLength = maximumContentLength
        self.timeout = timeout
    }
}
