#if Server
import AsyncSupport
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

/// Reads the content of requests, bounded in length and time.
struct ContentReader: Sendable {
    let time: TimeSource
    /// The timeout for receiving the content.
    let timeout: Duration

    /// Reads the content of a request.
    ///
    /// - Throws: 415 for another type, 413 for more than `limit` bytes, 408 after the timeout, 400 for
    ///   content that is incomplete.
    func content(of request: Request, type: String, limit: Int) async throws(RequestRefusal) -> Data {
        let given = request.headers[.contentType]?.prefix { $0 != ";" }.lowercased() ?? ""
        guard given.filter({ $0 != " " && $0 != "\t" }) == type else {
            throw RequestRefusal(.unsupportedMediaType, "unsupported_media_type", "The content must be \(type)")
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
            throw RequestRefusal(.badRequest, "malformed", "The content is incomplete")
        }
    }

    private func read(_ body: RequestBody, limit: Int) async throws -> Data {
        let data = try await within(timeout, on: time.clock) { Data(buffer: try await body.collect(upTo: limit)) }
        guard let data else {
            throw RequestRefusal(.requestTimeout, "timeout", "The content did not arrive in time")
        }
        return data
    }

    private static func tooLong(_ limit: Int) -> RequestRefusal {
        RequestRefusal(.contentTooLarge, "too_large", "The content is longer than \(limit) bytes")
    }
}

extension Data {
    init(buffer: ByteBuffer) {
        self.init(buffer.readableBytesView)
    }
}
#endif
