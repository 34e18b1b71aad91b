package import HTTPTypes

/// Scheme, host and port: who one talks to (RFC 6454).
public struct Origin: Sendable, Hashable {
    /// The two schemes that carry requests.
    public enum Scheme: String, Sendable, Hashable {
        case https, http

        /// Reads a scheme, in any case.
        init?(_ text: ArraySlice<UInt8>) {
            if text.elementsEqual("https".utf8) {
                self = .https
            } else {
                self.init(rawValue: String(decoding: text, as: UTF8.self).lowercased())
            }
        }

        var defaultPort: Int {
            self == .https ? 443 : 80
        }
    }

    /// `https`, or by permission `http`.
    public let scheme: Scheme
    /// The host in lower case; an IPv6 address keeps its brackets.
    public let host: String
    /// The port, 1 to 65535; the scheme's own when the address names none.
    public let port: Int

    /// Host and port as they stand in a `Host` field. The port is there only when it is not the scheme's own.
    public var authority: String {
        port == scheme.defaultPort ? host : "\(host):\(port)"
    }

    /// Whether the host is this machine: `127.0.0.0/8`, `[::1]` or `localhost`.
    public var isLoopback: Bool {
        if host == "localhost" || host == "[::1]" { return true }
        let octets = host.split(separator: ".", omittingEmptySubsequences: false)
        // A name may have a label such as `-0`, which Swift reads as a number.
        return octets.count == 4 && octets[0] == "127" && octets.allSatisfy { UInt8($0) != nil && !$0.hasPrefix("-") }
    }

    /// An origin whose parts are known to be right: `host` in lower case, `port` from 1 to 65535.
    init(scheme: Scheme, host: String, port: Int) {
        self.scheme = scheme
        self.host = host
        self.port = port
    }

    /// Reads `host[:port]`; nil for user information, an empty or impossible host, or a port outside 1 to 65535.
    init?(scheme: Scheme, authority: ArraySlice<UInt8>) {
        var host = authority
        var port = scheme.defaultPort
        let bracket = authority.lastIndex(of: UInt8(ascii: "]"))
        if let colon = authority.lastIndex(of: UInt8(ascii: ":")), bracket.map({ $0 < colon }) ?? true {
            let digits = authority[(colon + 1)...]
            guard (1...5).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            port = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
            guard (1...65535).contains(port) else { return nil }
            host = authority[..<colon]
        }
        guard Self.isHost(host) else { return nil }
        self.scheme = scheme
        let text = String(decoding: host, as: UTF8.self)
        self.host = host.contains { (0x41...0x5A).contains($0) } ? text.lowercased() : text
        self.port = port
    }

    /// The origin that a request goes to; nil when the request does not name one.
    package init?(of head: HTTPRequest) {
        guard let scheme = Scheme(Array((head.scheme ?? "").utf8)[...]) else { return nil }
        self.init(scheme: scheme, authority: Array((head.authority ?? "").utf8)[...])
    }

    private static func isHost(_ host: ArraySlice<UInt8>) -> Bool {
        guard (1...255).contains(host.count) else { return false }
        if host.first == UInt8(ascii: "[") {
            let address = host.dropFirst().dropLast()
            return host.last == UInt8(ascii: "]") && address.contains(UInt8(ascii: ":"))
                && address.allSatisfy { Character(UnicodeScalar($0)).isHexDigit || $0 == 0x3A || $0 == 0x2E }
        }
        // No label is empty, except a last one.
        var before = UInt8(ascii: ".")
        return host.allSatisfy { byte in
            defer { before = byte }
            return switch byte {
            case 0x2E: before != byte
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
            default: false
            }
        }
    }
}

extension Origin: CustomStringConvertible {
    public var description: String { scheme.rawValue + "://" + authority }
}
