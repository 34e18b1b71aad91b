#if Server
public import OAuth

/// The public URL of routes.
///
/// The app states it. It is never taken from a request: an attacker who sends a `Host` or `X-Forwarded-Host` would
/// otherwise choose where users, and their codes, are sent.
public struct PublicAddress: Sendable, Hashable, CustomStringConvertible {
    /// Scheme, host and port.
    public let origin: Origin
    /// The path of the routes, with a leading and without a trailing slash. Empty for the root.
    public let path: String

    /// Parses a URL.
    ///
    /// - Parameter text: an `https` URL, or `http` on this machine, without a query, such as
    ///   `https://groceries.example/connect`.
    /// - Throws: ``HandshakeServerError/configuration(member:problem:)``.
    public init(_ text: String) throws(HandshakeServerError) {
        let address: EndpointURL
        do {
            address = try EndpointURL(text, security: .allowingInsecureLoopback, member: "public address")
        } catch {
            throw .configuration(member: "public address", problem: "\(error)")
        }
        guard address.query == nil, LocalPath(address.path) != nil else {
            throw .configuration(
                member: "public address", problem: "it must not have a query, and its path must be plain")
        }
        origin = address.origin
        path = String(address.path.reversed().drop { $0 == "/" }.reversed())
    }

    /// The URL without a trailing slash.
    public var description: String { origin.description + path }

    /// Whether cookies can be restricted to TLS.
    var isSecure: Bool { origin.scheme == .https }
}

/// A path at the app's own origin, with its query. As a redirect target it cannot leave the app.
///
/// Rejects `//evil.example` and `/\evil.example`, which browsers resolve to other hosts, and characters that could end a
/// header field.
public struct LocalPath: RawRepresentable, Sendable, Hashable {
    /// The path as given.
    public let rawValue: String

    /// The path; nil when it could lead to another host, or is longer than 2048 bytes.
    public init?(rawValue: String) {
        let bytes = Array(rawValue.utf8)
        guard bytes.first == 0x2F, bytes.count <= 2048,
            bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x5C && $0 != 0x22 && $0 != 0x3C && $0 != 0x3E }),
            !bytes.dropFirst().starts(with: [0x2F])
        else { return nil }
        self.rawValue = rawValue
    }

    init?(_ text: some StringProtocol) {
        self.init(rawValue: String(text))
    }

    /// The app's first page.
    public static let root = LocalPath(checked: "/")

    private init(checked: StaticString) {
        rawValue = "\(checked)"
    }
}
#endif
