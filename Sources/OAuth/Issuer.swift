/// An authorization server's identifier (RFC 8414, sections 2 and 3.3). It is compared character for character.
public struct Issuer: Sendable, Hashable {
    /// The identifier as an address: `https:`, no query, no fragment.
    public let url: EndpointURL

    /// The identifier's exact spelling.
    public var string: String { url.string }

    /// Checks an issuer identifier.
    ///
    /// - Throws: ``OAuthError`` when it is not an acceptable address, or has a query.
    public init(_ string: String, security: TransportSecurity = .httpsOnly) throws(OAuthError) {
        url = try EndpointURL(string, security: security, member: "issuer")
        guard url.query == nil else {
            throw .configuration(member: "issuer", problem: "an issuer has no query (RFC 8414, section 2)")
        }
    }

    /// The identity of a server that names no issuer of its own: its origin.
    package init(originOf endpoint: EndpointURL) {
        url = endpoint.originOnly
    }

    /// The same identifier at the origin of `base`. Without a path it stays without one.
    package func at(_ base: EndpointURL) -> Issuer {
        Issuer(url: url.string == url.origin.description ? base.originOnly : url.moved(to: base.origin))
    }

    private init(url: EndpointURL) {
        self.url = url
    }

    /// The same identifier as a document of `origin` names it.
    package func named(by origin: Origin) -> Issuer { Issuer(url: url.named(by: origin)) }

    /// The other spelling of an issuer that is a bare origin: with or without the slash. Nil for one with a path.
    package var withOtherSlash: Issuer? {
        guard url.path == "/" else { return nil }
        return Issuer(url: string.hasSuffix("/") ? url.originOnly : url.at(path: "/"))
    }

    /// Whether `text` is this identifier, byte for byte. Swift's own equality also takes canonically equivalent
    /// spellings.
    func isSpelled(_ text: String) -> Bool {
        string.utf8.elementsEqual(text.utf8)
    }

    /// Where this issuer's metadata may stand, in the order to ask. Source: RFC 8414, sections 3.1 and 5; OpenID
    /// Connect Discovery 4.
    ///
    /// For `https://host/tenant`: `https://host/.well-known/oauth-authorization-server/tenant`, then the OpenID document at
    /// `https://host/.well-known/openid-configuration/tenant` or `https://host/tenant/.well-known/openid-configuration`.
    public var metadataLocations: [EndpointURL] {
        let path = url.path.hasSuffix("/") ? String(url.path.dropLast()) : url.path
        return [url.at(path: "/.well-known/oauth-authorization-server" + path)] + openIDLocations
    }

    /// Those of ``metadataLocations`` where the OpenID document stands: at one of them.
    package var openIDLocations: [EndpointURL] {
        let path = url.path.hasSuffix("/") ? String(url.path.dropLast()) : url.path
        let known = "/.well-known/openid-configuration"
        return path.isEmpty ? [url.at(path: known)] : [url.at(path: known + path), url.at(path: path + known)]
    }
}

extension Issuer: CustomStringConvertible {
    public var description: String { string }
}
