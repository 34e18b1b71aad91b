/// Asks the user's browser to end the session at the server. Source: OpenID Connect RP-Initiated Logout, section 2.
///
/// It is a page to show, not a message to send: the session is a cookie of the user's browser. End the app's own session
/// first, so that it is over whatever becomes of the page.
public struct EndSessionRequest: Sendable {
    /// The server whose session ends.
    public let server: AuthorizationServerMetadata
    /// The client that asks.
    public let clientID: String
    /// Where the server sends the browser afterwards. Exactly as it is registered there; nil leaves the browser at the
    /// server.
    public let returnURI: RedirectURI?
    /// What a return has to bring back; new for each request. Nil without ``returnURI``.
    public let state: Secret?
    /// The server's page.
    public let page: Page

    /// How a browser gets to the page.
    public enum Page: Sendable {
        /// An address to open.
        case address(String)
        /// A form to post, in this order. Its address would be longer than 8 KB.
        case form(action: EndpointURL, fields: [(name: String, value: String)])
    }

    /// The page's address without the ID token: for the arguments of a program, which other users of the machine see. The
    /// server then asks the user.
    package let shortAddress: String

    /// The longest address, in bytes, that every browser and server takes.
    static let maximumAddressLength = 8192

    /// Prepares a request to `server`.
    ///
    /// - Parameters:
    ///   - server: the server whose session ends.
    ///   - clientID: the client that asks.
    ///   - idToken: the last ID token of the session, which tells the server whose session it is. One that has expired
    ///     serves too.
    ///   - returnURI: where the server sends the browser afterwards; registered there.
    ///   - random: the source of the state.
    /// - Throws: ``OAuthError/malformed(step:member:expected:found:)``, or for a server described by hand
    ///   ``OAuthError/configuration(member:problem:)``, when the server has no such page.
    public init(
        at server: AuthorizationServerMetadata, clientID: String, idToken: Secret?, returnURI: RedirectURI? = nil,
        random: RandomSource = .system
    ) throws(OAuthError) {
        guard let endpoint = server.endSessionEndpoint else { throw server.lacks("end_session_endpoint") }
        try ClientAuthentication.check(clientID: clientID)
        self.server = server
        self.clientID = clientID
        self.returnURI = returnURI
        state = returnURI == nil ? nil : random.unguessable()
        var rest = Parameters()
        try rest.add("client_id", clientID)
        try rest.add("post_logout_redirect_uri", returnURI?.string)
        try rest.add("state", state?.reveal())
        shortAddress = Self.address(of: endpoint, with: rest)
        guard let idToken else {
            page = .address(shortAddress)
            return
        }
        var all = Parameters()
        try all.add("id_token_hint", idToken.reveal())
        for (name, value) in rest.pairs { try all.add(name, value) }
        let address = Self.address(of: endpoint, with: all)
        page =
            address.utf8.count <= Self.maximumAddressLength
            ? .address(address) : .form(action: endpoint, fields: all.pairs)
    }

    /// The address for a browser that can only open one. Where ``page`` is a form it leaves the hint out, and the server
    /// asks the user.
    public var url: String {
        if case .address(let address) = page { address } else { shortAddress }
    }

    private static func address(of endpoint: EndpointURL, with parameters: Parameters) -> String {
        guard let query = endpoint.query else { return endpoint.string + "?" + parameters.query }
        return endpoint.string + (query.isEmpty ? "" : "&") + parameters.query
    }
}

extension EndSessionRequest {
    /// Whether a return shows that the server ended this session. Source: OpenID Connect RP-Initiated Logout, section 3.
    ///
    /// The return has to bring the request's state exactly once, to exactly the registered address. Any other is a return
    /// of unknown origin: the user is signed out here, and nothing is known of the server.
    ///
    /// - Parameter returnURL: the address at which the browser arrived, whole.
    public func isConfirmed(by returnURL: String) -> Bool {
        guard let returnURI, let state else { return false }
        return EndSessionReturn(url: returnURL).confirms(state, at: returnURI)
    }
}

/// What a browser brings back from the server's page. It is not trusted before a stored state was found equal.
package struct EndSessionReturn: Sendable {
    private let url: String
    /// The state, for finding the request that it belongs to. Nil when there is none, or more than one.
    package let state: Secret?

    /// Reads a return. An address that is too long has no state.
    package init(url: String) {
        self.url = url
        let address = url.utf8.prefix { $0 != UInt8(ascii: "#") }
        guard address.count <= AuthorizationResponse.maximumLength,
            let mark = address.firstIndex(of: UInt8(ascii: "?"))
        else {
            state = nil
            return
        }
        let states = address[mark...].dropFirst().split(separator: UInt8(ascii: "&")).compactMap { pair -> String? in
            let name = pair.prefix { $0 != UInt8(ascii: "=") }
            guard name.count <= 3 * 5, PercentEncoding.decodeForm(name) == "state" else { return nil }
            return PercentEncoding.decodeForm(pair.dropFirst(name.count + 1)) ?? ""
        }
        state = states.count == 1 && states.first?.isEmpty == false ? states.first.map { Secret($0) } : nil
    }

    /// Whether it has this state and arrived at this address.
    package func confirms(_ expected: Secret, at uri: RedirectURI) -> Bool {
        let separator = uri.string.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
        return url.utf8.starts(with: (uri.string + separator).utf8) && state?.matches(expected) ?? false
    }
}

extension EndSessionRequest: CustomStringConvertible, CustomReflectable {
    /// Client and server, without the address: the ID token and the state are in it.
    public var description: String { "end-session request of \(clientID) to \(server.issuer)" }

    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "issuer": server.issuer.string, "clientID": clientID, "returnURI": returnURI?.string as Any,
            ], displayStyle: .struct)
    }
}
