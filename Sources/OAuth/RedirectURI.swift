/// Where the browser brings the answer, checked for its kind (RFC 8252, section 7).
public struct RedirectURI: Sendable, Hashable {
    /// The exact string that is registered, sent and compared.
    public let string: String

    /// The kinds of redirect.
    public let kind: Kind

    /// How a redirect reaches the app.
    public enum Kind: String, Sendable, Hashable {
        /// `http://127.0.0.1:PORT/…` or `http://[::1]:PORT/…` (RFC 8252, section 7.3).
        case loopback
        /// `https:` that the app or its server has claimed (RFC 8252, section 7.2).
        case claimed
        /// A private scheme in reverse-domain form (RFC 8252, section 7.1).
        case privateScheme = "private_scheme"
        /// No redirect at all (``RedirectURI/outOfBand``). The service's page shows the code, and the user carries it.
        case outOfBand = "out_of_band"
    }

    /// What stands in a redirect's place where a page shows the code to the user. The page is the service's. It is an
    /// old convention that RFC 6749 does not know, and that some services keep for programs without a listener. PKCE
    /// binds the code to its request anyway.
    public static let outOfBand = RedirectURI(outOfBand: "urn:ietf:wg:oauth:2.0:oob")

    private init(outOfBand string: String) {
        self.string = string
        kind = .outOfBand
    }

    /// The redirect of a sign-in that is not OAuth's.
    ///
    /// Section 8.4 of RFC 8252 does not apply to it; the caller has checked it by that service's own rules.
    package init(checked string: String, kind: Kind) {
        self.string = string
        self.kind = kind
    }

    /// Checks a redirect URI. The text of ``outOfBand`` is one too.
    ///
    /// - Throws: ``OAuthError/configuration(member:problem:)`` for a private scheme without a period (RFC 8252, section
    ///   8.4), for `http:` elsewhere than at a loopback address literal, for a fragment (RFC 6749, section 3.1.2), and
    ///   for other forms.
    public init(_ string: String) throws(OAuthError) {
        func wrong(_ problem: String) -> OAuthError { .configuration(member: "redirect_uri", problem: problem) }
        // Bytes first: comparing text normalizes it, which takes quadratic time on combining marks.
        guard string.utf8.count <= 2048,
            string.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x5C && $0 != 0x23 }),
            let colon = string.firstIndex(of: ":")
        else { throw wrong("expected an absolute URI of printable ASCII without fragment") }
        if string == Self.outOfBand.string {
            self = .outOfBand
            return
        }
        let scheme = string[..<colon].lowercased()
        switch scheme {
        case "https", "http":
            let url = try EndpointURL(string, security: .allowingInsecureLoopback, member: "redirect_uri")
            if scheme == "http", url.origin.host == "localhost" {
                throw wrong("use 127.0.0.1 or [::1], never localhost (RFC 8252, section 8.3)")
            }
            kind = scheme == "https" ? .claimed : .loopback
        default:
            guard scheme.contains("."), !scheme.hasPrefix("."), !scheme.hasSuffix("."),
                scheme.utf8.first.map({ (0x61...0x7A).contains($0) }) ?? false,
                scheme.utf8.allSatisfy({
                    (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || [0x2B, 0x2D, 0x2E].contains($0)
                })
            else {
                throw wrong(
                    "a private scheme must be a domain name in reverse order with a period, such as com.example.app:/callback "
                        + "(RFC 8252, section 7.1)")
            }
            kind = .privateScheme
        }
        self.string = string
    }
}

extension RedirectURI {
    /// Checks that two servers do not share a redirect URI. They may if each announces `iss`, which tells their
    /// responses apart.
    ///
    /// - Throws: ``OAuthError/refused(_:)`` with ``Refusal/Check/sharedRedirect`` (RFC 9700, section 4.4.2.2).
    public static func checkDistinct(
        _ one: (uri: RedirectURI, server: AuthorizationServerMetadata),
        _ other: (uri: RedirectURI, server: AuthorizationServerMetadata)
    ) throws(OAuthError) {
        guard one.uri == other.uri, one.server.issuer != other.server.issuer,
            !(one.server.announcesIssuerInResponse && other.server.announcesIssuerInResponse)
        else { return }
        throw .refused(
            Refusal(
                .sharedRedirect, expected: "a redirect URI of its own for \(one.server.issuer)",
                found: "\(one.uri) shared with \(other.server.issuer)"))
    }
}

extension RedirectURI {
    /// Compares the spelling alone (RFC 9700, section 4.4.2.2). The kind is read out of it.
    public static func == (left: RedirectURI, right: RedirectURI) -> Bool {
        left.string == right.string
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(string)
    }
}

extension RedirectURI: CustomStringConvertible {
    public var description: String { string }
}
