/// Whether plain `http:` is ever acceptable.
///
/// Reached by name only, and shown in diagnostics (`oauth-security.md` C7 and M1).
public enum TransportSecurity: String, Sendable, Hashable, Codable {
    /// `https:` everywhere, without exception. The default.
    case httpsOnly = "https_only"

    /// `https:` everywhere but on this machine. Plain `http:` is accepted for `127.0.0.0/8`, `[::1]` and `localhost`.
    /// For tests and local servers.
    case allowingInsecureLoopback = "insecure_loopback_allowed"
}

/// An absolute address that a request can go to. It is `https:`, or by ``TransportSecurity`` plain `http:` on this
/// machine.
///
/// A value of this type has no user name, no password, no fragment, no control character and a port between 1 and
/// 65535. It keeps its spelling, because issuers and redirect URIs are compared character for character (RFC 3986,
/// section 6.2.1).
public struct EndpointURL: Sendable, Hashable {
    /// The address as it was given.
    public let string: String

    /// Scheme, host and port.
    public let origin: Origin

    /// The path as it was given, `/` when it was empty.
    public let path: String

    /// The query without its question mark, when there is one.
    public let query: String?

    /// Who named the address in a document or a redirect, when that is another host; nil for what the user or the app has given.
    ///
    /// Such an address must not lead further into the network than where it comes from (`any-server.md` 9), whatever its name
    /// resolves to. It has no part in comparisons.
    package var namedBy: Origin?

    /// Path and query: what stands in the request line (RFC 9112, section 3.2.1).
    public var requestTarget: String {
        query.map { path + "?" + $0 } ?? path
    }

    /// Reads and checks an address.
    ///
    /// - Throws: ``OAuthError/refused(_:)`` with ``Refusal/Check/insecureTransport`` for plain `http:` that is not
    ///   allowed, ``OAuthError/configuration(member:problem:)`` for everything else; `member` is the name given here.
    public init(
        _ string: String, security: TransportSecurity = .httpsOnly, member: String = "url"
    ) throws(OAuthError) {
        func wrong(_ problem: String) -> OAuthError { .configuration(member: member, problem: problem) }
        guard string.utf8.count <= 8192 else { throw wrong("the address is longer than 8192 bytes") }
        let bytes = Array(string.utf8)[...]
        let text = bytes.span
        let firstWrong = text.firstIndex(from: 0) { eight in
            eight.flags(below: 0x21) | eight.flags(of: UInt8(ascii: "\\")) | eight.flags(of: 0x7F)
                | eight.flagsOutsideASCII
        }
        guard firstWrong == text.count else {
            // Before the path, where no percent-encoding stands.
            let isInHost = bytes[..<firstWrong].count { "/?#".utf8.contains($0) } == 2
            throw wrong(
                bytes[firstWrong] >= 0x80 && isInHost
                    ? "its host has a non-ASCII character; write the host in its ASCII form, xn--…"
                    : "the address has a space, a backslash, a control or a non-ASCII character; percent-encode it")
        }
        // All of it is ASCII, so that each byte is a character.
        let colon = text.firstIndex(from: 0) { $0.flags(of: UInt8(ascii: ":")) }
        guard colon + 2 < text.count, text[colon + 1] == UInt8(ascii: "/"), text[colon + 2] == UInt8(ascii: "/"),
            let scheme = Origin.Scheme(bytes[..<colon])
        else { throw wrong("expected an absolute https address, found “\(quoted(string, limit: 80))”") }
        guard text.firstIndex(from: 0, { $0.flags(of: UInt8(ascii: "#")) }) == text.count else {
            throw wrong("the address must not have a fragment")
        }
        let authorityEnd = text.firstIndex(from: colon + 3) {
            $0.flags(of: UInt8(ascii: "/")) | $0.flags(of: UInt8(ascii: "?"))
        }
        guard let origin = Origin(scheme: scheme, authority: bytes[(colon + 3)..<authorityEnd]) else {
            throw wrong("the host or port is not valid, or the address holds a user name")
        }
        guard scheme == .https || (security == .allowingInsecureLoopback && origin.isLoopback) else {
            throw .refused(
                Refusal(
                    .insecureTransport, expected: member == "url" ? "https" : "https for \(member)",
                    found: "http://\(origin.authority)"))
        }
        let mark = text.firstIndex(from: authorityEnd) { $0.flags(of: UInt8(ascii: "?")) }
        let path = String(decoding: bytes[authorityEnd..<mark], as: UTF8.self)
        self.string = string
        self.origin = origin
        self.path = path.isEmpty ? "/" : path
        query = mark < text.count ? String(decoding: bytes[(mark + 1)...], as: UTF8.self) : nil
    }

    private init(origin: Origin, path: String, query: String? = nil, namedBy: Origin? = nil) {
        string = origin.description + path + (query.map { "?" + $0 } ?? "")
        self.namedBy = namedBy
        self.origin = origin
        self.path = path.isEmpty ? "/" : path
        self.query = query
    }

    /// An address written down in our own source, such as a built-in service's; a test reads each one with the checking
    /// initialiser.
    package init(https host: StaticString, path: StaticString) {
        self.init(origin: Origin(scheme: .https, host: "\(host)", port: 443), path: "\(path)")
    }

    /// The origin alone, spelled without a path.
    var originOnly: EndpointURL {
        EndpointURL(origin: origin, path: "", namedBy: namedBy)
    }

    /// The same address as a document or a redirect of `origin` names it.
    package func named(by origin: Origin) -> EndpointURL {
        var named = self
        if self.origin.host != origin.host { named.namedBy = origin }
        return named
    }

    /// The address as another one's document or redirect names it. At the same host it is named by who named the other.
    package func named(by other: EndpointURL) -> EndpointURL {
        var named = self
        named.namedBy = origin.host == other.origin.host ? other.namedBy : other.origin
        return named
    }

    /// Another path at the same origin. `path` must begin with a slash.
    package func at(path: String) -> EndpointURL {
        EndpointURL(origin: origin, path: path, namedBy: namedBy)
    }

    /// Another path and query at the same origin, written down in our own source. `path` must begin with a slash.
    package func at(path: StaticString, query: StaticString) -> EndpointURL {
        EndpointURL(origin: origin, path: "\(path)", query: "\(query)")
    }

    /// The same path and query at another origin.
    package func moved(to origin: Origin) -> EndpointURL {
        EndpointURL(origin: origin, path: path, query: query)
    }

    /// The rules that this address needs: plain `http:` only where it is `http:` itself.
    package var security: TransportSecurity {
        origin.scheme == .http ? .allowingInsecureLoopback : .httpsOnly
    }

    /// Another path and query at the same origin. `target` must begin with a slash.
    ///
    /// - Throws: ``OAuthError/configuration(member:problem:)`` for a target that is not percent-encoded, or too long.
    package func at(target: String) throws(OAuthError) -> EndpointURL {
        var address = try EndpointURL(origin.description + target, security: security)
        address.namedBy = namedBy
        return address
    }
}

extension EndpointURL {
    /// Characters that a shell, a terminal or a page could take for more than a part of an address.
    private static let unsafeBytes = Set("\"'`\\|<>^{}$".utf8)

    /// Whether a text may be handed to a program that opens addresses, and printed for the user to copy.
    ///
    /// It is `http:` or `https:`, in printable ASCII, and what could be more than text is percent-encoded (`any-server.md` 9).
    package static func isSafeToOpen(_ text: String) -> Bool {
        ["https:/", "http://"].contains(text.prefix(7).lowercased())
            && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !unsafeBytes.contains($0) }
    }

    /// The spelling alone decides: all else is read out of it.
    public static func == (left: EndpointURL, right: EndpointURL) -> Bool {
        left.string == right.string
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(string)
    }
}

extension EndpointURL: CustomStringConvertible {
    /// The address without its query (`oauth-security.md` L2). This is the form that may be logged.
    public var description: String {
        origin.description + path
    }
}
