package import HTTPTypes
package import OAuth

extension RequestMessage {
    /// The method and the path with its query, as in `GET /v1/me?page=2`.
    package var line: String { "\(head.method.rawValue) \(head.path ?? "/")" }

    /// The content as text; empty without content, and for content that is read from elsewhere.
    package var text: String {
        guard case .bytes(let bytes) = content else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension ResponseMessage {
    /// A response with JSON.
    package static func json(_ text: String, status: Int = 200, headers: HTTPFields = [:]) -> ResponseMessage {
        var head = HTTPResponse(status: .init(code: status), headerFields: headers)
        head.headerFields[.contentType] = "application/json"
        return ResponseMessage(head: head, content: Array(text.utf8))
    }
}
