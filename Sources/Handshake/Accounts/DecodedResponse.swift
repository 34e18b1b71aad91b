public import HTTPTypes
public import OAuth

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Account {
    /// Sends a request and decodes the JSON of a successful response.
    ///
    /// ```swift
    /// let profile: Profile = try await account.send(.get, "profiles/me")
    /// ```
    ///
    /// Token, refresh and redirects are as in ``send(_:redirects:limits:)``.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - address: an address, absolute or relative to the service's API.
    ///   - headers: further fields; `Accept: application/json` is sent unless they name another.
    ///   - content: the request's content.
    ///   - type: what to decode.
    ///   - decoder: how to decode it.
    ///   - redirects: what to do with a redirect.
    ///   - limits: what one exchange may cost.
    /// - Throws: ``HandshakeError/rejected(_:)`` for a status other than 2xx, with the service's error body;
    ///   `OAuthError/malformed(step:member:expected:found:)` inside ``HandshakeError/exchange(_:)`` when the content is
    ///   not such a value, not UTF-8, or has more than 30 combining marks in a row in a member name; what ``send(_:redirects:limits:)`` throws.
    public func send<Value: Decodable>(
        _ method: HTTPRequest.Method, _ address: String, headers: HTTPFields = [:],
        content: RequestMessage.Content = .none, as type: Value.Type = Value.self,
        decoder: JSONDecoder = JSONDecoder(), redirects: RedirectPolicy = .follow,
        limits: TransferLimits = TransferLimits()
    ) async throws -> Value {
        var headers = headers
        if headers[.accept] == nil { headers[.accept] = "application/json" }
        let response = try await send(
            RequestMessage(method, resolve(address), headers: headers, content: content), redirects: redirects,
            limits: limits)
        guard response.head.status.kind == .successful else {
            throw HandshakeError.rejected(ErrorResponse(response, hiding: secrets))
        }
        do {
            return try decoder.decode(Value.self, fromUntrusted: response.content)
        } catch {
            throw HandshakeError.exchange(Self.malformed(error, response, hiding: secrets))
        }
    }

    private static func malformed(
        _ error: any Error, _ response: ResponseMessage, hiding secrets: [Secret]
    ) -> OAuthError {
        func path(_ keys: [any CodingKey]) -> String {
            let names = keys.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
            return names.isEmpty
                ? "content" : quoted(hidingTokens(in: names.joined(separator: "."), and: secrets), limit: 200)
        }
        func wrong(_ member: String, expected: String, found: String) -> OAuthError {
            .malformed(step: .resource, member: member, expected: expected, found: found)
        }
        switch error {
        case DecodingError.keyNotFound(let key, let context):
            return wrong(path(context.codingPath + [key]), expected: "present", found: "nothing")
        case DecodingError.valueNotFound(let type, let context):
            return wrong(path(context.codingPath), expected: "\(type)", found: "null")
        case DecodingError.typeMismatch(let type, let context):
            return wrong(path(context.codingPath), expected: "\(type)", found: "another type")
        default:
            let type =
                response.head.headerFields[.contentType].map { quoted(hidingTokens(in: $0, and: secrets), limit: 100) }
                ?? "no content type"
            return wrong("content", expected: "JSON", found: "\(response.content.count) bytes of \(type)")
        }
    }
}

/// A response with an error status, with the service's error body.
///
/// Its description quotes the service's own message, bounded and without tokens. The body is not printed, because a
/// service may echo what it was sent.
public struct ErrorResponse: Error, Sendable, Hashable {
    /// The HTTP status.
    public let status: Int
    /// The content's media type, as the service spells it.
    public let contentType: String?
    /// The whole content.
    public let content: [UInt8]
    private let summary: ServerError

    init(_ response: ResponseMessage, hiding secrets: [Secret]) {
        status = response.head.status.code
        contentType = response.head.headerFields[.contentType]
        content = response.content
        summary = ServerError(step: .resource, response, hiding: secrets)
    }

    /// A stable word for programs. It is the service's own error code, or `http_` and the status.
    public var code: String { summary.code ?? "http_\(status)" }

    /// How many seconds the service asks to wait, from `Retry-After`.
    public var retryAfter: Int? { summary.retryAfter }

    /// Decodes the service's error body.
    ///
    /// - Throws: `DecodingError`.
    public func decoded<Value: Decodable>(
        as type: Value.Type = Value.self, by decoder: JSONDecoder = JSONDecoder()
    ) throws -> Value {
        try decoder.decode(Value.self, fromUntrusted: content)
    }
}

extension ErrorResponse: CustomStringConvertible, CustomReflectable {
    public var description: String { "\(summary)" }
    public var customMirror: Mirror { Mirror(self, children: ["status": status, "summary": summary]) }
}

extension JSONDecoder {
    /// Decodes a text from outside in linear time.
    ///
    /// - Throws: `DecodingError`, also for a member name with more than 30 combining marks in a row, and for a text that is
    ///   not UTF-8.
    package func decode<Value: Decodable>(_ type: Value.Type, fromUntrusted content: [UInt8]) throws -> Value {
        guard hasBoundedMemberNames(content, everywhere: allowsJSON5) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "A member name has too many combining marks in a row."))
        }
        return try decode(type, from: Data(content))
    }
}
