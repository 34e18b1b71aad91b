/// The authorizations that are waiting for their redirects, found by state.
///
/// A value: whoever owns it decides how it is shared. Each request is taken out by the first redirect that matches it,
/// whatever that redirect says, so no state is ever used twice (`oauth-security.md` B6). Adding and taking cost the
/// same however many are waiting.
public struct PendingAuthorizations: Sendable {
    private var requests: [PendingState: AuthorizationRequest] = [:]
    private var sharing: [RedirectURI: RedirectSharing] = [:]

    /// Begins with none.
    public init() {}

    /// How many are waiting.
    public var count: Int {
        requests.count
    }

    /// Adds a request.
    ///
    /// - Throws: ``OAuthError/refused(_:)`` with ``Refusal/Check/sharedRedirect`` when another issuer's pending request
    ///   uses the same redirect URI and not both servers announce `iss`: the response could then not be told apart (RFC
    ///   9700, section 4.4.2.2).
    public mutating func insert(_ request: AuthorizationRequest) throws(OAuthError) {
        let state = PendingState(request.state.reveal())
        if let earlier = requests.removeValue(forKey: state) { leave(earlier) }
        try sharing[request.redirectURI, default: RedirectSharing()].join(request)
        requests[state] = request
    }

    /// Checks a redirect URL against the request with its state, and takes that request out.
    ///
    /// - Throws: what ``AuthorizationRequest/code(from:now:)-(AuthorizationResponse,_)`` throws. After
    ///   ``OAuthError/unmatchedRedirect(problem:)`` nothing has changed.
    public mutating func take(redirectURL: String, now: Double) throws(OAuthError) -> AuthorizationCode {
        let response = try AuthorizationResponse(redirectURL: redirectURL)
        guard let state = response.state, let index = requests.index(forKey: PendingState(state)) else {
            throw .unmatchedRedirect(problem: "no pending sign-in has its state")
        }
        let request = requests.values[index]
        try request.checkMatch(response)
        requests.remove(at: index)
        leave(request)
        return try request.accept(response, now: now)
    }

    /// Forgets what has expired.
    ///
    /// - Parameter now: seconds since 1970.
    public mutating func removeExpired(now: Double) {
        for (state, request) in requests where request.expiresAt <= now {
            requests[state] = nil
            leave(request)
        }
    }

    private mutating func leave(_ request: AuthorizationRequest) {
        if sharing[request.redirectURI]?.leave(request) == true { sharing[request.redirectURI] = nil }
    }
}

/// A state as a key: found by a hash that is seeded anew in every process, then compared in constant time.
private struct PendingState: Hashable, Sendable, CustomReflectable {
    private let text: String

    init(_ text: String) {
        self.text = text
    }

    static func == (left: PendingState, right: PendingState) -> Bool {
        constantTimeEqual(left.text.utf8, right.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(text)
    }

    var customMirror: Mirror { Mirror(self, children: []) }
}

/// Whose pending requests use one redirect URI, counted, so that a new one is checked without looking at each.
///
/// Requests of several issuers stand here together only when all of their servers announce `iss`.
private struct RedirectSharing: Sendable {
    private var requests: [Issuer: Int] = [:]
    private var silentRequests = 0

    mutating func join(_ request: AuthorizationRequest) throws(OAuthError) {
        let issuer = request.server.issuer
        let isSilent = !request.server.announcesIssuerInResponse
        if isSilent || silentRequests > 0, let other = requests.keys.first(where: { $0 != issuer }) {
            throw RedirectURI.shared(request.redirectURI, by: issuer, and: other)
        }
        requests[issuer, default: 0] += 1
        if isSilent { silentRequests += 1 }
    }

    /// Takes a request out, and says whether it was the last one.
    mutating func leave(_ request: AuthorizationRequest) -> Bool {
        if let index = requests.index(forKey: request.server.issuer) {
            requests.values[index] -= 1
            if requests.values[index] == 0 { requests.remove(at: index) }
        }
        if !request.server.announcesIssuerInResponse { silentRequests -= 1 }
        return requests.isEmpty
    }
}

extension RedirectURI {
    /// Two servers may share a redirect URI only when each announces `iss`, because then the response says whose it is.
    ///
    /// - Throws: ``OAuthError/refused(_:)`` with ``Refusal/Check/sharedRedirect`` (RFC 9700, section 4.4.2.2).
    public static func checkDistinct(
        _ one: (uri: RedirectURI, server: AuthorizationServerMetadata),
        _ other: (uri: RedirectURI, server: AuthorizationServerMetadata)
    ) throws(OAuthError) {
        guard one.uri == other.uri, one.server.issuer != other.server.issuer,
            !(one.server.announcesIssuerInResponse && other.server.announcesIssuerInResponse)
        else { return }
        throw shared(one.uri, by: one.server.issuer, and: other.server.issuer)
    }

    fileprivate static func shared(_ uri: RedirectURI, by issuer: Issuer, and other: Issuer) -> OAuthError {
        .refused(
            Refusal(
                .sharedRedirect, expected: "a redirect URI of its own for \(issuer)",
                found: "\(uri) shared with \(other)"))
    }
}
