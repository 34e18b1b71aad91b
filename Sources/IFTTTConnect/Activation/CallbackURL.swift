import OAuth

/// The redirect URI that is registered at IFTTT (dossier 3.7 and 5).
///
/// An app's private-use scheme (`gardenapp://connect_callback`) or a claimed `https` URL. Prefer the latter: any other app
/// on the device can register the same scheme and receive the redirect with its user token. No check in this kit can
/// prevent that.
public struct CallbackURL: RawRepresentable, Sendable, Hashable, Codable {
    public let rawValue: String

    private let scheme: String
    /// Authority and path, normalised as browsers do.
    private let place: String
    private let items: [QueryItem]

    /// The query item that carries the attempt's ``AttemptState``.
    static let stateName = "state"
    /// The query items of redirects, which a callback must not have itself.
    private static let reservedNames: Set<String> = [stateName, "next_step", "error_type", "user_token"]
    private static let refusedSchemes: Set<String> = [
        "javascript", "data", "file", "about", "blob", "vbscript", "mailto", "tel", "ftp", "ws", "wss",
    ]

    /// Validates a callback.
    ///
    /// - Throws: ``ConnectError/input(member:problem:)`` for a URL that is not absolute, has characters outside printable
    ///   ASCII, a fragment or a query item of redirects, for a scheme that leads to no app, and for `http:` except on
    ///   loopback.
    public init(_ text: String) throws(ConnectError) {
        func wrong(_ problem: String) -> ConnectError { .input(member: "redirect", problem: problem) }
        guard text.utf8.count <= 2048, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x5C && $0 != 0x23 }),
            let parts = Parts(text[...])
        else { throw wrong("it must be an absolute URL of printable ASCII without a fragment") }
        guard !Self.refusedSchemes.contains(parts.scheme) else {
            throw wrong("the scheme \(parts.scheme): cannot receive redirects")
        }
        if parts.scheme == "http" || parts.scheme == "https" {
            do {
                // Only for its rules on hosts, ports and `http:`; a callback keeps the parts that redirects are compared with.
                _ = try EndpointURL(text, security: .allowingInsecureLoopback, member: "redirect")
            } catch {
                throw wrong("\(error)")
            }
        }
        guard let items = parts.items else { throw wrong("its query cannot be decoded") }
        if let taken = items.first(where: { Self.reservedNames.contains($0.name) }) {
            throw wrong("the query item \(taken.name) is reserved")
        }
        rawValue = text
        scheme = parts.scheme
        place = parts.place
        self.items = items
    }

    /// The URL in this spelling, or nil when it is invalid.
    public init?(rawValue: String) {
        guard let address = try? Self(rawValue) else { return nil }
        self = address
    }

    /// The URL with an attempt's state: the value of `sdk_return_to`.
    func carrying(_ state: AttemptState) -> String {
        QueryEncoding.address(rawValue, items: [(Self.stateName, state.reveal())])
    }

    /// The URL as a `RedirectURI`, whose rule for private-use schemes is OAuth's and not IFTTT's: here an app's scheme needs
    /// no period (dossier 5 and 12).
    var redirectURI: RedirectURI {
        RedirectURI(
            checked: rawValue, kind: scheme == "https" ? .claimed : scheme == "http" ? .loopback : .privateScheme)
    }

    private func isPlace(_ parts: Parts) -> Bool {
        // Byte by byte: canonically equivalent characters are different URLs.
        parts.scheme == scheme && parts.place.utf8.elementsEqual(place.utf8)
    }

    private func beforeFragment(of url: String) -> Substring {
        guard url.utf8.count <= 16384 else { return "" }
        return url[..<(url.utf8.firstIndex(of: UInt8(ascii: "#")) ?? url.endIndex)]
    }

    /// Parses a URL as a redirect to this callback, of any attempt.
    ///
    /// Scheme, authority, path and every query item of the callback must match. Scheme and host are case-insensitive, and for
    /// `http` and `https` the default port and a slash after the host are optional (RFC 3986, sections 6.2.2.1 and 6.2.3);
    /// everything else is compared exactly.
    ///
    /// - Throws: ``RedirectRefusal/foreign`` for another URL, ``RedirectRefusal/unreadable`` for a duplicated parameter or a
    ///   broken escape.
    public func redirect(from url: String) throws(RedirectRefusal) -> ActivationRedirect {
        guard let parts = Parts(beforeFragment(of: url)), isPlace(parts) else { throw .foreign }
        guard let found = parts.items else { throw .unreadable }
        guard items.allSatisfy(found.contains) else { throw .foreign }
        var values: [String: String] = [:]
        for item in found where Self.reservedNames.contains(item.name) {
            guard values.updateValue(item.value, forKey: item.name) == nil else { throw .unreadable }
        }
        return ActivationRedirect(
            state: values[Self.stateName], nextStep: .init(values))
    }
}

extension CallbackURL: CustomStringConvertible {
    public static func == (left: CallbackURL, right: CallbackURL) -> Bool { left.rawValue == right.rawValue }

    public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

    public var description: String { rawValue }
}

/// A decoded item of a query.
private struct QueryItem: Sendable, Hashable {
    let name: String
    let value: String
}

/// The parts of a URL: the scheme in lower case, the part before the query, the query.
private struct Parts {
    let scheme: String
    /// Authority and path, normalised.
    let place: String
    let query: Substring

    init?(_ text: Substring) {
        guard let colon = text.utf8.firstIndex(of: 0x3A) else { return nil }
        let scheme = Self.lowercased(text[..<colon])
        guard let first = scheme.utf8.first, (0x61...0x7A).contains(first), scheme.utf8.allSatisfy(Self.isSchemeByte)
        else { return nil }
        let rest = text[text.utf8.index(after: colon)...]
        guard !rest.isEmpty else { return nil }
        self.scheme = scheme
        let mark = rest.utf8.firstIndex(of: 0x3F) ?? rest.endIndex
        place = Self.normalized(rest[..<mark], scheme)
        query = rest[mark...].dropFirst()
    }

    /// Authority and path in one spelling (RFC 3986, section 6.2): browsers add the slash after a host and omit the default
    /// port.
    private static func normalized(_ place: Substring, _ scheme: String) -> String {
        guard place.hasPrefix("//") else { return String(place) }
        let rest = place.dropFirst(2)
        let end = rest.utf8.firstIndex(of: 0x2F) ?? rest.endIndex
        var authority = lowercased(rest[..<end])
        let path = rest[end...]
        guard let port = ["http": ":80", "https": ":443"][scheme] else { return "//\(authority)\(path)" }
        for empty in [port, ":"] where authority.hasSuffix(empty) {
            authority.removeLast(empty.count)
            break
        }
        return "//\(authority)\(path.isEmpty ? "/" : path)"
    }

    /// Lower-cases ASCII letters only.
    private static func lowercased(_ text: Substring) -> String {
        String(decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    private static func isSchemeByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x61...0x7A, 0x30...0x39, 0x2B, 0x2D, 0x2E: true
        default: false
        }
    }

    /// The items; nil when one cannot be decoded, or there are more than 64.
    var items: [QueryItem]? {
        var items: [QueryItem] = []
        for piece in query.utf8.split(separator: 0x26) {
            guard items.count < 64 else { return nil }
            let mark = piece.firstIndex(of: 0x3D) ?? piece.endIndex
            guard let name = QueryEncoding.decode(Substring(piece[..<mark]).utf8),
                let value = QueryEncoding.decode(Substring(piece[mark...].dropFirst()).utf8)
            else { return nil }
            items.append(QueryItem(name: name, value: value))
        }
        return items
    }
}
