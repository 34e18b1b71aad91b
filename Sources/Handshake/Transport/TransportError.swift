/// Why there is no response. Each case says whether the request may have been processed.
public enum TransportError: Error, Sendable, Hashable {
    /// No address was found for the host. The request was not sent.
    case unknownHost(host: String)
    /// No connection came about: nothing listens, no route. The request was not sent.
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
    /// The address is in a private network, and only a document names it. The request was not sent.
    case privateAddress(host: String)
    /// The package was built without a transport and was given none. The request was not sent.
    case missingTransport

    /// Whether the peer may have processed the request. True for everything that went wrong after sending.
    public var mayHaveArrived: Bool {
        switch self {
        case .unknownHost, .unreachable, .insecure, .privateAddress, .missingTransport: false
        case .timedOut, .cut, .invalid, .tooLarge: true
        }
    }
}

extension TransportError: CustomStringConvertible {
    /// A stable word for programs.
    public var code: String {
        switch self {
        case .unknownHost: "unknown_host"
        case .unreachable: "unreachable"
        case .insecure: "tls_failed"
        case .timedOut: "timed_out"
        case .cut: "connection_cut"
        case .invalid: "invalid_response"
        case .tooLarge: "response_too_large"
        case .privateAddress: "private_address"
        case .missingTransport: "missing_transport"
        }
    }

    public var description: String {
        switch self {
        case .unknownHost(let host):
            "\(host) cannot be reached: the name is unknown. Check the network and the spelling of the host name."
        case .unreachable(let host, let reason):
            "\(host) cannot be reached: \(reason). Check the address and that the server runs."
        case .insecure(let host, let reason):
            "The TLS connection to \(host) is not secure: \(reason). Nothing was sent. "
                + "Check the address, the server's certificate and the clock of this machine."
        case .timedOut(let host): "\(host) did not respond in time. Check the network, or try again later."
        case .cut(let host, let reason): "The connection to \(host) was lost: \(reason). Try again."
        case .invalid(let host, let reason): "The response of \(host) is not valid HTTP: \(reason). Check the address."
        case .tooLarge(let host, let limit):
            "The response of \(host) is longer than \(limit) bytes. Request less, or allow more."
        case .privateAddress(let host):
            "\(host) is an address in a private network, named by a server outside it. Nothing was sent. "
                + "Check the server's address."
        case .missingTransport: "There is no transport: \(Self.missingTransportCure)."
        }
    }

    /// What to do about a missing transport.
    static let missingTransportCure =
        "turn the package trait “AsyncHTTPClient” on, or pass a Transport of your own"
}
