public import HTTPTypes

/// A request with its whole content, ready to be sent (RFC 9110, section 6).
public struct RequestMessage: Sendable {
    /// Method, scheme, authority, path and fields.
    public var head: HTTPRequest

    /// The content, and whether it can be sent a second time.
    public var content: Content

    /// Who named the address, when that is neither the user nor the app (``EndpointURL/namedBy``).
    package var namedBy: Origin?

    /// The content of a request.
    public enum Content: Sendable {
        /// No content.
        case none
        /// Bytes, which can be sent again.
        case bytes([UInt8])
        /// Pieces that are read while they are sent and exist only once. `length` is the total, when it is known.
        // Indirect, so that every other request is copied without asking the runtime for a stream's size.
        indirect case stream(AsyncStream<[UInt8]>, length: Int64?)

        /// Whether a second attempt can send the same content.
        public var isReplayable: Bool {
            if case .stream = self { false } else { true }
        }
    }

    /// Joins a head and its content.
    public init(head: HTTPRequest, content: Content = .none) {
        self.head = head
        self.content = content
    }

    /// A request to a checked address.
    public init(
        _ method: HTTPRequest.Method, _ endpoint: EndpointURL, headers: HTTPFields = [:], content: Content = .none
    ) {
        head = HTTPRequest(
            method: method, scheme: endpoint.origin.scheme.rawValue, authority: endpoint.origin.authority,
            path: endpoint.requestTarget, headerFields: headers)
        self.content = content
        namedBy = endpoint.namedBy
    }
}

/// A response with its whole content (RFC 9110, section 6).
public struct ResponseMessage: Sendable {
    /// Status and fields.
    public var head: HTTPResponse

    /// The content, whose length the caller has bounded.
    public var content: [UInt8]

    /// Joins a head and its content.
    public init(head: HTTPResponse, content: [UInt8] = []) {
        self.head = head
        self.content = content
    }
}

extension RequestMessage: CustomStringConvertible, CustomReflectable {
    /// Method and address without query (`oauth-security.md` L2). Fields and content hold secrets.
    public var description: String {
        let path = head.path.map { $0.prefix { $0 != "?" } } ?? ""
        return "\(head.method.rawValue) \(head.scheme ?? "")://\(head.authority ?? "")\(path)"
    }

    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension ResponseMessage: CustomStringConvertible, CustomReflectable {
    /// The status and the length: fields and content hold secrets.
    public var description: String {
        "status \(head.status.code), \(content.count) bytes"
    }

    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension RequestMessage {
    /// A form posted to an endpoint: how RFC 6749, section 3.2 and its relatives say everything.
    init(
        form parameters: Parameters, to endpoint: EndpointURL, headers: HTTPFields
    ) {
        var headers = headers
        headers[.contentType] = "application/x-www-form-urlencoded"
        headers[.accept] = "application/json"
        self.init(.post, endpoint, headers: headers, content: .bytes(parameters.form))
    }

    /// The same parameters as a JSON object, which some services want in place of a form. A repeated one is a list.
    init(
        json parameters: Parameters, to endpoint: EndpointURL, headers: HTTPFields
    ) {
        var headers = headers
        headers[.contentType] = "application/json"
        headers[.accept] = "application/json"
        let members = JSONObject(
            parameters.grouped.map { name, values in
                let texts = values.map { JSONValue.string($0) }
                return (key: name, value: texts.count == 1 ? texts[0] : .array(texts))
            })
        self.init(.post, endpoint, headers: headers, content: .bytes(Array(JSONValue.object(members).json.utf8)))
    }
}
