import AsyncSupport
import Logging
import OAuth

extension Handshake {
    /// Signs a user in by a code that they enter on another device (RFC 8628).
    ///
    /// For terminals, televisions and machines without a browser. Asks the service for a code, hands it to `show`, and polls
    /// until the user has decided. It ends in the same account as ``signIn(as:to:through:timeout:)``. To cancel, cancel the
    /// task: no further request is sent.
    ///
    /// - Parameters:
    ///   - name: the app's name for the account. An existing account is replaced.
    ///   - service: the service's name; needed only when there are several clients.
    ///   - timeout: how long to wait for the user; the code's own lifetime, at most an hour, bounds it too.
    ///   - show: shows the code. Called once; the first poll follows after it has returned.
    /// - Throws: ``HandshakeError/signInAbandoned(_:)`` when the user declined or did not act in time;
    ///   ``HandshakeError/configuration(member:problem:)`` when the service has no device grant; what `show` throws; otherwise
    ///   what ``signIn(as:to:through:timeout:)`` throws. After any of them nothing is stored.
    public func signInOnAnotherDevice(
        as name: String = AccountID.defaultName, to service: String? = nil, timeout: Duration = .seconds(900),
        show: @escaping @Sendable (DeviceCode) async throws -> Void
    ) async throws -> Account {
        let client = try client(of: service)
        try client.checkProfile(allows: "sign-in on another device", false)
        let server = try await environment.server(of: client)
        guard server.deviceAuthorizationEndpoint != nil else {
            throw HandshakeError.configuration(
                member: "device_authorization_endpoint",
                problem: client.service.noDeviceGrant + " Sign in with a browser.")
        }
        let asked = try client.requestedAuthentication()
        // Known before the user is asked: no ID token of this service can be checked.
        if client.service.deviations.token.ignoresIDToken {
            try environment.check(asked, in: nil, now: environment.time.now(), hiding: [])
        }
        let key = try client.newDPoPKey(at: server)
        let authorization = try await environment.retryingRotatedSecret(of: client) {
            let request = try client.deviceAuthorizationRequest(to: server, in: environment)
            return try await environment.exchange(
                provingBy: key, presenting: client.certificate, { try request.message }, request.authorization)
        }
        let (response, now) = try await response(
            to: authorization, at: server, client: client, provingBy: key, timeout: timeout, show: show)
        let identity = try await environment.identity(inDeviceGrant: response, at: server, client: client)
        try environment.check(asked, in: identity, now: now, hiding: response.secrets)
        return try await store(
            response, identity: identity, as: name, client: client, server: server, provingBy: key, now: now)
    }

    /// Shows the code and polls until the user has approved.
    ///
    /// Ends by the injected clock and by the calendar clock, whichever is first, because machines sleep.
    private func response(
        to authorization: DeviceAuthorization, at server: AuthorizationServerMetadata, client: Client,
        provingBy key: DPoPKey?, timeout: Duration, show: @escaping @Sendable (DeviceCode) async throws -> Void
    ) async throws -> (TokenResponse, sent: Double) {
        let lifetime = min(authorization.lifetime, max(0, timeout / .seconds(1)))
        let code = DeviceCode(
            authorization, service: client.service, issuer: server.issuer, lifetime: lifetime,
            now: environment.time.now())
        return try await environment.decision(within: lifetime) { [environment] in
            try await show(code)
            return try await environment.poll(
                of: client, provingBy: key, every: DevicePolling(interval: authorization.interval),
                until: code.expiresAt
            ) {
                try client.tokenRequest(
                    .deviceCode(authorization.deviceCode), at: server, provingBy: key, in: environment)
            }
        }
    }
}

extension Client {
    /// The authentication of the user that the client's own parameters ask for.
    func requestedAuthentication() throws(HandshakeError) -> RequestedAuthentication {
        do throws(OAuthError) {
            return try RequestedAuthentication(
                parameters: parameters, demandingContext: options.requiresAuthenticationContext)
        } catch {
            throw .exchange(error)
        }
    }
}

extension Service {
    /// Why no user can sign in on another device, as a sentence.
    package var noDeviceGrant: String {
        deviations.hasOwnDeviceGrant
            ? "\(displayName) has a device sign-in of its own, which Handshake does not support."
            : "\(displayName) has no sign-in on another device."
    }
}

extension Environment {
    /// Waits for a user who decides on another device.
    ///
    /// - Parameters:
    ///   - lifetime: seconds in which the user has to decide.
    ///   - body: polls.
    /// - Throws: ``HandshakeError/signInAbandoned(_:)`` when the user declined or did not act in time; otherwise what `body`
    ///   throws.
    func decision<Tokens: Sendable>(
        within lifetime: Double, _ body: @escaping @Sendable () async throws -> Tokens
    ) async throws -> Tokens {
        do {
            return try await withDeadline(.seconds(lifetime), on: time.clock, body)
        } catch is DeadlineExceeded {
            throw HandshakeError.signInAbandoned(.timedOut)
        } catch HandshakeError.exchange(.server(let error)) where error.isDenial {
            throw HandshakeError.signInAbandoned(.denied)
        } catch HandshakeError.exchange(.server(let error)) where error.isExpiry {
            throw HandshakeError.signInAbandoned(.timedOut)
        }
    }

    /// Polls until there are tokens.
    ///
    /// - Parameter makeRequest: makes a poll. It runs again for each, so it reads the credential itself.
    /// - Returns: the tokens, and when the poll was sent that brought them, in seconds since 1970.
    /// - Throws: ``HandshakeError/exchange(_:)``, ``HandshakeError/network(_:)`` when no later poll can succeed,
    ///   ``HandshakeError/signInAbandoned(_:)`` past `expiresAt`, what ``retryingRotatedSecret(of:_:)`` throws,
    ///   `CancellationError`.
    fileprivate func poll(
        of client: Client, provingBy key: DPoPKey?, every polling: DevicePolling, until expiresAt: Double,
        _ makeRequest: () throws -> TokenRequest
    ) async throws -> (TokenResponse, sent: Double) {
        var polling = polling
        while true {
            try await time.clock.sleep(for: .seconds(polling.wait))
            let now = time.now()
            guard now < expiresAt else { throw HandshakeError.signInAbandoned(.timedOut) }
            do {
                let last = polling
                let answer = try await retryingRotatedSecret(of: client) {
                    let request = try makeRequest()
                    let read = { (response: ResponseMessage) in
                        var next = last
                        let pause = RetryAfter.pause(in: response.head, now: now).map { $0 / .seconds(1) }
                        let tokens = try request.tokens(fromPoll: response, polling: &next, now: now, retryAfter: pause)
                        return (tokens: tokens, next: next)
                    }
                    return try await exchange(
                        provingBy: key, presenting: client.certificate, { try request.message }, read)
                }
                if let tokens = answer.tokens { return (tokens, now) }
                polling = answer.next
            } catch HandshakeError.network(let error) where error.mayPass {
                log.debug("a poll was not answered", metadata: ["reason": "\(error.code)"])
                polling.note(.failed)
            }
        }
    }
}

extension TransportError {
    /// Whether a later poll may succeed (RFC 8628, section 3.5).
    var mayPass: Bool {
        switch self {
        case .unknownHost, .unreachable, .timedOut, .cut: true
        case .insecure, .invalid, .tooLarge, .privateAddress, .missingTransport: false
        }
    }
}
