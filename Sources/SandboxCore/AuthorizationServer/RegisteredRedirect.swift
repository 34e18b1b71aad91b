#if Sandbox
/// Comparison of a requested redirect URI with the registered ones.
package enum RegisteredRedirect {
    private static let loopbackOrigins = ["http://127.0.0.1", "http://[::1]"]

    /// Whether a redirect URI is registered, compared character by character (RFC 9700, section 2.1).
    ///
    /// For a registered loopback address without a port, the request may name any port (RFC 8252, section 7.3).
    package static func matches(_ requested: String, registered: [String]) -> Bool {
        registered.contains { $0 == requested || portless(requested) == $0 }
    }

    /// The URI without its port, if it is a loopback one that has a valid port.
    private static func portless(_ uri: String) -> String? {
        for origin in loopbackOrigins where uri.hasPrefix(origin + ":") {
            let rest = uri.dropFirst(origin.count + 1)
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            guard let port = Int(digits), (1...65_535).contains(port), rest.dropFirst(digits.count).first == "/" else {
                return nil
            }
            return origin + rest.dropFirst(digits.count)
        }
        return nil
    }
}
#endif
