/// Why there is no response, and whether the request may have been processed all the same.
public enum TransportError: Error, Sendable, Hashable {
    /// No connection came about: the name is unknown, nothing listens, no route. The request was not sent.
    case unreachable(host: String, reason: String)
    /// The peer could not prove who it is, or no secure connection could be agreed. The request was not sent.
    case insecure(host: String, reason: String)
    /// The deadline passed after a connection was there or while it was being made.
    case timedOut(host: String)
    /// The connection ended before the response was complete.
    case cut(host: String, reason: String)
    /// The response is not HTTP, or has a status outside 100 to 599.
    case invalid(host: String, reason: String)
    /// The response is longer than what was to be read.
    case tooLarge(host: String, limit: Int)

    /// The reason when no address was found for the host.
    static let unknownName = "the name is unknown"
    /// The reason when the package was built without a transport; it says what to do.
    static let missingTransport =
        "this program was built without the package trait “AsyncHTTPClient”; turn the trait on, or pass a Transport of your own"

    /// Whether the peer may have processed the request: true for everything that went wrong after sending.
    public var mayHaveArrived: Bool {
        switch self {
        case .unreachable, .insecure: false
        case .timedOut, .cut, .invalid, .tooLarge: true
        }
    }
}

extension TransportError: CustomStringConvertible {
    /// A stable word for programs.
    public var code: String {
        switch self {
        case .unreachable: "unreachable"
        case .insecure: "tls_failed"
        case .timedOut: "timed_out"
        case .cut: "connection_cut"
        case .invalid: "invalid_response"
        case .tooLarge: "response_too_large"
        }
    }

    public var description: String {
        switch self {
        case .unreachable(let host, let reason):
            switch reason {
            case Self.unknownName:
                "\(host) cannot be reached: \(reason). Check the network and the spelling of the host name."
            // Says what to do itself.
            case Self.missingTransport: "\(host) cannot be reached: \(reason)."
            default: "\(host) cannot be reached: \(reason). Check the address and that the server runs."
            }
        case .insecure(let host, let reason): "The TLS connection to \(host) is not secure: \(reason)."
        case .timedOut(let host): "\(host) did not respond in time."
        case .cut(let host, let reason): "The connection to \(host) was lost: \(reason)."
        case .invalid(let host, let reason): "The response of \(host) is not valid HTTP: \(reason)."
        case .tooLarge(let host, let limit): "The response of \(host) is longer than \(limit) bytes."
        }
    }
}
