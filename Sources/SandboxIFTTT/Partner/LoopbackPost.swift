#if Sandbox
import NIOCore
import NIOHTTP1
import NIOPosix

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A POST by plain HTTP to a server on loopback, whose answer is read up to its status.
///
/// NIO alone sends it: AsyncHTTPClient stops the process at an answer with a status below 100
/// (`Documentation/Upstream/async-http-client-status-below-100.md`).
struct LoopbackPost: Sendable {
    private static let connectTimeout = TimeAmount.seconds(2)
    /// How long the answer may take once there is a connection.
    private static let answerTimeout = TimeAmount.seconds(5)

    struct InvalidAddress: Error {}
    struct NoAnswer: Error {}
    struct InvalidStatus: Error {}

    /// The address, whose host is an IP address.
    let url: String
    let fields: [String: String]
    let content: String

    /// Sends the request over a connection of its own.
    ///
    /// - Returns: the status of the answer, 200 to 599.
    /// - Throws: ``InvalidAddress``; ``InvalidStatus`` for a status that no answer has (RFC 9110, section 15); ``NoAnswer``
    ///   when the connection ends without an answer or the time is over; errors of NIO for a connection that cannot be made
    ///   and for what is not HTTP.
    func status() async throws -> Int {
        guard let url = URLComponents(string: url), let host = url.host, let port = UInt16(exactly: url.port ?? 80)
        else { throw InvalidAddress() }
        // Some versions of Foundation leave the brackets of an IPv6 address in place.
        let address = host.filter { $0 != "[" && $0 != "]" }
        var headers = HTTPHeaders(fields.map { ($0, $1) })
        headers.add(name: "Host", value: "\(address.contains(":") ? "[\(address)]" : address):\(port)")
        headers.add(name: "Content-Length", value: "\(content.utf8.count)")
        headers.add(name: "Connection", value: "close")
        let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: url.percentEncodedPath, headers: headers)
        let status = try await status(
            of: [.head(head), .body(.byteBuffer(ByteBuffer(string: content))), .end(nil)],
            from: try SocketAddress(ipAddress: address, port: Int(port)))
        // The parser takes any digits, and drops the informational answers from 100 on, except 101.
        guard (200...599).contains(status) else { throw InvalidStatus() }
        return status
    }

    private func status(of request: [HTTPClientRequestPart], from address: SocketAddress) async throws -> Int {
        let connection = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(Self.connectTimeout)
            .connect(to: address) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    return try NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>(
                        wrappingChannelSynchronously: channel)
                }
            }
        let channel = connection.channel
        let deadline = channel.eventLoop.scheduleTask(in: Self.answerTimeout) { channel.close(promise: nil) }
        defer { deadline.cancel() }
        return try await connection.executeThenClose { answer, writer in
            for part in request { try await writer.write(part) }
            for try await case .head(let head) in answer { return Int(clamping: head.status.code) }
            throw NoAnswer()
        }
    }
}
#endif
