#if Server
import Crypto
import HTTPTypes
import Hummingbird
import NIOCore
import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The JavaScript module of a component, as a route of this app's own pages.
struct ServedScript: Sendable {
    private let body: Data
    private let tag: String

    init(_ body: Data) {
        self.body = body
        tag = "\"\(Base64URL.encode(SHA256.hash(data: body)))\""
    }

    /// The script, or status 304 to a browser that has it.
    func response(to request: Request) -> Response {
        var headers: HTTPFields = [
            .contentType: "text/javascript; charset=utf-8", .eTag: tag, .xContentTypeOptions: "nosniff",
            // Revalidated each time, so that an old script never meets a new server.
            .cacheControl: "public, no-cache",
        ]
        headers[.crossOriginResourcePolicy] = "same-origin"
        let known = request.headers[.ifNoneMatch]?.split(separator: ",").map { $0.filter { $0 != " " } } ?? []
        guard !known.contains(where: { $0 == tag || $0 == "W/\(tag)" || $0 == "*" }) else {
            return Response(status: .notModified, headers: headers)
        }
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }
}
#endif
