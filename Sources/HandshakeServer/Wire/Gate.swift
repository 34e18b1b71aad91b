#if Server
import Deadlines
import HTTPTypes
import Handshake
import Hummingbird
import NIOCore
import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a browser's request has to get past before it may change anything.
struct Gate: Sendable {
    let address: PublicAddress

    /// Refuses what another site's page has sent (login and request forgery). Browsers say where a request comes
    /// from; other programs say nothing and have no cookies to abuse.
    func checkSite(of request: Request) throws(RequestRefusal) {
        if let origin = request.headers[.origin], origin != address.origin.description { throw .crossSite }
        if let site = request.headers[.secFetchSite], site != "same-origin", site != "none" { throw .crossSite }
    }
}

/// Reads the content of requests, so much and so long.
struct ContentReader: Sendable {
    let time: TimeSource
    /// How long the content of a request may take to arrive.
    let patience: Duration

    /// Reads the content of a request.
    ///
    /// - Throws: 415 for another type, 413 for more than `limit` bytes, 408 when it does not come in time.
    func content(of request: Request, type: String, limit: Int) async throws(RequestRefusal) -> Data {
        let given = request.headers[.contentType]?.prefix { $0 != ";" }.lowercased() ?? ""
        guard given.filter({ $0 != " " && $0 != "\t" }) == type else {
            throw RequestRefusal(.unsupportedMediaType, "unsupported_media_type", "The content has to be \(type)")
        }
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > limit {
            throw Self.tooLong(limit)
        }
        do {
            return try await read(request.body, limit: limit)
        } catch let refusal as RequestRefusal {
            throw refusal
        } catch is NIOTooManyBytesError {
            throw Self.tooLong(limit)
        } catch {
            throw RequestRefusal(.badRequest, "malformed", "The content did not arrive whole")
        }
    }

    private func read(_ body: RequestBody, limit: Int) async throws -> Data {
        let data = try await within(patience, on: time.clock) { Data(buffer: try await body.collect(upTo: limit)) }
        guard let data else {
            throw RequestRefusal(.requestTimeout, "timeout", "The content did not arrive in time")
        }
        return data
    }

    private static func tooLong(_ limit: Int) -> RequestRefusal {
        RequestRefusal(.contentTooLarge, "too_large", "The content may have \(limit) bytes")
    }
}

extension Data {
    init(buffer: ByteBuffer) {
        self.init(buffer.readableBytesView)
    }
}
#endif
