public import OAuth

/// Requests for which an API wants more than the account's token (RFC 9470; RFC 6750, section 3.1).
extension Handshake {
    /// Sends a request, and asks the user once for what the API demands.
    ///
    /// The API may demand further scopes or another authentication. The user signs in through the browser for the
    /// account's scopes and the demanded ones, and the request is sent again. A second demand is final: the user is asked
    /// once. How the user is compared with the account's says ``signIn(again:for:through:timeout:)``.
    ///
    /// - Parameters:
    ///   - request: what to send. Content that exists once cannot be sent again, so its demand is thrown.
    ///   - account: who sends it.
    ///   - browser: what shows the page. Ask the user first whether to go on, for example in ``Browser/show(_:)``.
    ///   - timeout: how long to wait for the user.
    ///   - redirects: what to do with a redirect.
    ///   - limits: what one exchange may cost.
    /// - Throws: what ``Account/send(_:redirects:limits:)`` and ``signIn(again:for:through:timeout:)`` throw.
    public func send(
        _ request: RequestMessage, as account: Account, steppingUpThrough browser: some Browser,
        timeout: Duration = .seconds(300), redirects: RedirectPolicy = .follow,
        limits: TransferLimits = TransferLimits()
    ) async throws -> ResponseMessage {
        do {
            return try await account.send(request, redirects: redirects, limits: limits)
        } catch HandshakeError.demanded(let demand, _) where demand.isForUser && request.content.isReplayable {
            let again = try await signIn(again: account, for: demand, through: browser, timeout: timeout)
            return try await again.send(request, redirects: redirects, limits: limits)
        }
    }

    /// Signs an account's user in again, for what an API has demanded.
    ///
    /// It asks for the scopes of the account and of the demand, and for the authentication that is demanded. When another
    /// user signs in, or in another way, the account keeps the grant that it has.
    ///
    /// Users are compared by their ID tokens. For an account without one, ``Service/identityEndpoint`` is asked before and
    /// after the sign-in. Where a service has neither, or its API does not name the account's user, another user's grant
    /// may take the account's place: compare what you know of the user before you go on.
    ///
    /// The authentication is checked in the ID token. Without one, the API alone knows whether the user has satisfied its
    /// demand: send the request again. What the client's own parameters demand is refused then, as by every sign-in.
    ///
    /// An app that registered itself (RFC 7591) is registered for those scopes first, where its server changes registrations
    /// (RFC 7592). The change is stored where ``DiscoveredResource/client(registeredAs:redirect:presenting:in:time:)`` keeps the
    /// registration, if that is the vault of the accounts; this value keeps that of a client which the app keeps itself.
    /// Where nothing can be changed, the server decides whether it grants what is not registered.
    ///
    /// - Parameters:
    ///   - account: an account of this app.
    ///   - demand: the payload of ``HandshakeError/demanded(_:status:)``.
    ///   - browser: what shows the page.
    ///   - timeout: how long to wait for the user.
    /// - Throws: ``HandshakeError/configuration(member:problem:)`` for another app's account, and for a demand that no
    ///   sign-in satisfies; `OAuthError/refused(_:)` inside ``HandshakeError/exchange(_:)`` with `Refusal/Check/subject` or
    ///   `Refusal/Check/authentication`; what ``Account/identity()`` and ``signIn(as:to:through:timeout:)`` throw.
    public func signIn(
        again account: Account, for demand: ResourceDemand, through browser: some Browser,
        timeout: Duration = .seconds(300)
    ) async throws -> Account {
        guard let client = client(where: { AccountID($0, name: account.id.name) == account.id }) else {
            throw HandshakeError.configuration(
                member: "account",
                problem: "This app has no client for the account \(account.id). "
                    + "Call the Handshake that opened the account.")
        }
        let status = account.status
        guard demand.isForUser else {
            throw HandshakeError.configuration(member: "demand", problem: "no sign-in satisfies it: \(demand.problem)")
        }
        var scopes = client.scopes + status.scopes.filter { !client.scopes.contains($0) }
        scopes += demand.demandedScopes.filter { !scopes.contains($0) }
        var parameters = client.parameters.merging(demand.parameters) { $1 }
        if let email = status.identity?.claims["email"]?.string, (1...254).contains(email.utf8.count) {
            parameters["login_hint"] = parameters["login_hint"] ?? email
        }
        var asking = try await environment.widened(client, for: scopes).asking(for: scopes, parameters)
        if demand.parameters["acr_values"] != nil { asking.options.requiresAuthenticationContext = true }
        var subject: String?
        if status.identity == nil { subject = try await account.subjectOfAPI() }
        return try await signIn(
            asking, as: account.id.name, through: browser, timeout: timeout, user: status.identity, subject: subject,
            ownDemands: client.requestedAuthentication())
    }
}

extension ResourceDemand {
    /// Whether the user can satisfy it by a sign-in.
    fileprivate var isForUser: Bool {
        switch self {
        case .scopes(let scopes): !scopes.isEmpty
        case .stepUp: true
        case .freshToken, .boundToken: false
        }
    }
}
