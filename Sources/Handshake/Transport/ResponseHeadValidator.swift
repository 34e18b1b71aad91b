#if AsyncHTTPClient && os(Linux)
import NIOCore
import NIOHTTP1

/// Rejects response heads that AsyncHTTPClient cannot process.
///
/// AsyncHTTPClient 1.37.0 skips every head with a status below 200 and then stops the process when content follows
/// (`Documentation/Upstream/async-http-client-status-below-100.md`). Its parser takes `000` to `099` for statuses, and
/// gives them content.
final class ResponseHeadValidator: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart

    /// More informational responses than this are an attack: a service sends one or two (RFC 9110, section 15.2).
    private static let maximumInformationalHeads = 32

    private var informationalHeads = 0
    private var isRejected = false

    /// Inserts a validator between the channel's HTTP parser and AsyncHTTPClient.
    @Sendable static func insert(into channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let parser = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
            try pipeline.addHandler(ResponseHeadValidator(), position: .after(parser))
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRejected else { return }
        if case .head(let head) = unwrapInboundIn(data), let problem = problem(with: head) {
            isRejected = true
            context.fireErrorCaught(InvalidResponseHead(problem: problem))
            context.close(promise: nil)
            return
        }
        context.fireChannelRead(data)
    }

    private func problem(with head: HTTPResponseHead) -> String? {
        let status = Int(clamping: head.status.code)
        if let problem = ResponseStatus.problem(with: status) { return problem }
        guard status < 200 else {
            informationalHeads = 0
            return nil
        }
        informationalHeads += 1
        guard informationalHeads > Self.maximumInformationalHeads else { return nil }
        return "more than \(Self.maximumInformationalHeads) informational responses"
    }
}

/// A response head that HTTP does not allow.
struct InvalidResponseHead: Error {
    let problem: String
}
#endif
