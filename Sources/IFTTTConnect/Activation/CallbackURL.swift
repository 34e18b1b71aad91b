import OAuth

/// Where the browser or the IFTTT app brings the user back: the redirect that is registered at IFTTT (dossier 3.7 and 5).
///
/// An app's own scheme (`gardenapp://connect_callback`) or an `https` address that the app has claimed. Prefer the second:
/// any other app on the device may claim the same scheme, and would then be handed the redirect with its user token.
/// No check on our side can help against that.
public struct CallbackURL: RawRepresentable, Sendable, Hashable, Codable {
    public let rawValue: String

    private let scheme: String
    /// Authority and path, in the spelling that browsers give them.
    private let place: String
    private let items: [QueryItem]

    /// The query item that carries an attempt's ``AttemptState``.
    static let stateName = "state"
    /// What the service puts into a redirect, and what this kit does: an app's own address has none of them.
    private static let reservedNames: Set<String> = [stateName, "next_step", "error_type", "user_token"]
    private static let refusedSchemes: Set<String> = [
        "javascript", "data", "file", "about", "blob", "vbscript", "mailto", "tel", "ftp", "ws", "wss",
    ]

    /// Checks an address.
    ///
    /// - Throws: ``ConnectError/input(member:problem:)`` for an address that is not absolute, has characters outside
    ///   printable ASCII, a fragment or a query item that redirects use themselves, for a scheme that leads to no app,
    ///   and for `http:` elsewhere than on this machine.
    public init(_ text: String) throws(ConnectError) {
        func wrong(_ problem: String) -> ConnectError { .input(member: "redirect", problem: problem) }
        guard text.utf8.count <= 2048, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x5C && $0 != 0x23 }),
            let parts = Parts(text[...])
        else { throw wrong("expected an absolute address of printable ASCII without fragment") }
        guard !Self.refusedSchemes.contains(parts.scheme) else { throw wrong("nothing comes back to \(parts.scheme):") }
        if parts.scheme == "http" || parts.scheme == "https" {
            do {
                _ = try EndpointURL(text, security: .allowingInsecureLoopback, member: "redirect")
            } catch {
                throw wrong("\(error)")
            }
        }
        guard let items = parts.items else { throw wrong("its query cannot be read") }
        if let taken = items.first(where: { Self.reservedNames.contains($0.name) }) {
            throw wrong("the query item \(taken.name) belongs to the redirect")
        }
        rawValue = text
        scheme = parts.scheme
        place = parts.place
        self.items = items
    }

    /// The address in this spelling, or nil when it is none.
    public init?(rawValue: String) {
        guard let address = try? Self(rawValue) else { return nil }
        self = address
    }

    /// The address with an attempt's state behind it: what goes out as `sdk_return_to`.
    func carrying(_ state: AttemptState) -> String {
        QueryEncoding.address(rawValue, items: [(Self.stateName, state.reveal())])
    }

    /// The address as a redirect of the floor below, whose rule for private schemes is OAuth's and not IFTTT's: an app's scheme
    /// here needs no period (dossier 5 and 12).
    var redirectURI: RedirectURI {
        RedirectURI(
            checked: rawValue, kind: scheme == "https" ? .claimed : scheme == "http" ? .loopback : .privateScheme)
    }

    /// Whether a URL comes back to this address, whatever attempt it belongs to. An app asks this to know which of the
    /// URLs that it is opened with are the kit's.
    ///
    /// Scheme and authority, path, and every query item of the address itself must be there. Scheme and host are compared
    /// without regard to case, and at `http` and `https` it is the same whether the scheme's own port and the slash behind a host
    /// alone are written (RFC 3986, sections 6.2.2.1 and 6.2.3); all else is compared character for character.
    public func recognizes(_ url: String) -> Bool {
        guard let parts = Parts(beforeFragment(of: url)), isPlace(parts) else { return false }
        guard let found = parts.items else { return true }
        return items.allSatisfy(found.contains)
    }

    private func isPlace(_ parts: Parts) -> Bool {
        // Byte for byte: what only looks the same is another place.
        parts.scheme == scheme && parts.place.utf8.elementsEqual(place.utf8)
    }

    private func beforeFragment(of url: String) -> Substring {
        guard url.utf8.count <= 16384 else { return "" }
        return url[..<(url.utf8.firstIndex(of: UInt8(ascii: "#")) ?? url.endIndex)]
    }

    /// What a redirect to this address says.
    ///
    /// - Throws: ``RedirectRefusal/foreign`` for an address elsewhere, ``RedirectRefusal/unreadable`` when a name that
    ///   counts comes twice or an escape is broken.
    func redirect(_ url: String) throws(RedirectRefusal) -> ActivationRedirect {
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

/// An address taken apart: the scheme in lower case, what stands before the query, the query's items.
private struct Parts {
    let scheme: String
    /// Authority and path, normalized.
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

    /// Authority and path in one spelling (RFC 3986, section 6.2): browsers add the slash behind a host and leave out the port
    /// that a scheme has anyhow.
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

    /// With the letters of ASCII small, and no others.
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
