import AsyncSupport
import HTTPTypes
import Logging
public import OAuth
import Synchronization

extension Handshake {
    /// Signs a user in who approves on a device of their own, such as a phone (CIBA).
    ///
    /// The server asks the user there: OpenID Connect Client-Initiated Backchannel Authentication. No browser is opened here.
    ///
    /// ```swift
    /// let account = try await handshake.signInOnOwnDevice(
    ///     of: .login("ada@example.com"), as: "ada", bindingMessage: "Desk 4, W4SCT")
    /// ```
    ///
    /// Show the binding message here too, so that the user can compare it with the one on their device. To cancel, cancel
    /// the task: no further request is sent.
    ///
    /// - Parameters:
    ///   - hint: who is to be asked.
    ///   - name: the app's name for the account. An existing account is replaced.
    ///   - service: the service's name; needed only when there are several clients.
    ///   - bindingMessage: what the server shows to the user.
    ///   - userCode: a secret of the user's own, where the server wants one.
    ///   - notifications: receives the server's notifications, so that the next poll need not wait. Polling goes on beside it.
    ///   - timeout: how long to wait for the user; the request's own lifetime, at most an hour, bounds it too.
    /// - Throws: ``HandshakeError/signInAbandoned(_:)`` when the user declined or did not act in time;
    ///   ``HandshakeError/configuration(member:problem:)`` when the service has no such sign-in; otherwise what
    ///   ``signIn(as:to:through:timeout:)`` throws. After any of them nothing is stored.
    public func signInOnOwnDevice(
        of hint: BackchannelAuthenticationRequest.Hint, as name: String = AccountID.defaultName,
        to service: String? = nil, bindingMessage: String? = nil, userCode: Secret? = nil,
        notifications: BackchannelNotifications? = nil, timeout: Duration = .seconds(300)
    ) async throws -> Account {
        let client = try client(of: service)
        try client.checkProfile(allows: "sign-in on the user's own device", false)
        let server = try await environment.server(of: client)
        guard server.backchannelAuthenticationEndpoint != nil else {
            throw HandshakeError.configuration(
                member: "backchannel_authentication_endpoint",
                problem: "The service \(client.service.displayName) does not ask users on their own devices. "
                    + "Sign in with a browser.")
        }
        let token = notifications.map { _ in
            BackchannelAuthenticationRequest.newNotificationToken(random: environment.random)
        }
        let authentication = try client.requestedAuthentication()
        let key = try client.newDPoPKey(at: server)
        let pending = try await environment.retryingRotatedSecret(of: client) {
            let request = try client.backchannelRequest(
                to: server, about: hint, message: bindingMessage, userCode: userCode, notificationToken: token,
                timeout: timeout, in: environment)
            return try await environment.exchange(
                provingBy: key, presenting: client.certificate, { try request.message }, request.authentication)
        }
        let asked = environment.time.now()
        let bell = Bell(capacity: 1, replaysNewest: true)
        if let notifications, let token { notifications.add(pending.requestID, token: token, bell) }
        defer { notifications?.remove(pending.requestID) }
        let (response, now) = try await response(
            to: pending, at: server, client: client, provingBy: key, timeout: timeout, asked: asked, bell)
        let identity = try await environment.identity(
            in: response, at: server, client: client, expecting: hint.subject)
        try environment.check(authentication, in: identity, now: now, hiding: response.secrets)
        return try await store(
            response, identity: identity, as: name, client: client, server: server, provingBy: key, now: now)
    }

    private func response(
        to pending: BackchannelAuthentication, at server: AuthorizationServerMetadata, client: Client,
        provingBy key: DPoPKey?, timeout: Duration, asked: Double, _ bell: Bell
    ) async throws -> (TokenResponse, sent: Double) {
        let lifetime = min(pending.lifetime, max(0, timeout / .seconds(1)))
        return try await environment.decision(within: lifetime) { [environment] in
            try await environment.poll(
                of: client, provingBy: key, every: DevicePolling(interval: pending.interval), since: asked,
                until: environment.time.now() + lifetime, bell
            ) {
                try client.tokenRequest(
                    .backchannelAuthentication(pending.requestID), at: server, provingBy: key, in: environment)
            }
        }
    }
}

/// Receives servers' notifications that a user decided (CIBA Core, section 10.2). One serves all sign-ins of a process.
///
/// A class, because a route receives them and sign-ins wait for them. A notification that reaches another process is
/// answered there with status 401, and the sign-in goes on by polling.
public final class BackchannelNotifications: Sendable {
    private struct Waiting {
        let requestID: Secret
        let token: Secret
        let bell: Bell
    }

    private let waiting = Mutex<[Waiting]>([])

    /// Creates a receiver. Hand the same one to each sign-in and to the route.
    public init() {}

    /// Takes a notification.
    ///
    /// - Returns: whether a sign-in waits for it: answer with status 204. Otherwise with 401: the token or the request is not
    ///   one of ours. A second one is taken, and changes nothing.
    public func receive(_ notification: BackchannelNotification) -> Bool {
        // All are compared, so that the time tells an attacker nothing about a token.
        let found = waiting.withLock { waiting in
            waiting.filter { notification.answers($0.requestID, token: $0.token) }
        }
        for entry in found { entry.bell.send(true) }
        return !found.isEmpty
    }

    fileprivate func add(_ requestID: Secret, token: Secret, _ bell: Bell) {
        waiting.withLock { $0.append(Waiting(requestID: requestID, token: token, bell: bell)) }
    }

    fileprivate func remove(_ requestID: Secret) {
        waiting.withLock { waiting in waiting.removeAll { $0.requestID.matches(requestID) } }
    }
}

/// Rings when a notification has come; one that rang before is heard too.
private typealias Bell = Broadcaster<Bool>

extension Environment {
    /// How long a poll may take: a server may hold its answer for 30 seconds (CIBA Core, section 7.3).
    private static let pollTimeout = Duration.seconds(40)

    /// Polls until there are tokens, one poll at a time. The interval counts from the sending of the last poll.
    ///
    /// - Parameters:
    ///   - asked: when the request was answered, in seconds since 1970.
    ///   - bell: ends one wait early.
    ///   - makeRequest: makes a poll. It runs again for each, so it reads the credential itself.
    /// - Returns: the tokens, and when the poll was sent that brought them, in seconds since 1970.
    fileprivate func poll(
        of client: Client, provingBy key: DPoPKey?, every polling: DevicePolling, since asked: Double,
        until expiresAt: Double, _ bell: Bell, _ makeRequest: () throws -> TokenRequest
    ) async throws -> (TokenResponse, sent: Double) {
        var polling = polling
        var pause = 0.0
        var next = asked + polling.wait
        var hasRung = false
        while true {
            // No longer than it was meant, also when the clock was set back meanwhile.
            let wait = min(next - time.now(), max(polling.wait, pause))
            if wait > 0 {
                if hasRung {
                    try await time.clock.sleep(for: .seconds(wait))
                } else {
                    hasRung = try await wasRung(bell, within: wait)
                }
            }
            let now = time.now()
            guard now < expiresAt else { throw HandshakeError.signInAbandoned(.timedOut) }
            pause = 0
            do {
                let last = polling
                let answer = try await retryingRotatedSecret(of: client) {
                    let request = try makeRequest()
                    let read = { (response: ResponseMessage) in
                        var next = last
                        let pause = RetryAfter.pause(in: response.head, now: now).map { $0 / .seconds(1) } ?? 0
                        let tokens = try request.tokens(fromPoll: response, polling: &next, now: now, retryAfter: 0)
                        return (tokens: tokens, next: next, pause: pause)
                    }
                    return try await exchange(
                        provingBy: key, presenting: client.certificate, timeout: Self.pollTimeout,
                        { try request.message }, read)
                }
                if let tokens = answer.tokens { return (tokens, now) }
                (polling, pause) = (answer.next, answer.pause)
            } catch HandshakeError.network(let error) where error.mayPass {
                log.debug("a poll was not answered", metadata: ["reason": "\(error.code)"])
                polling.note(.failed)
            }
            next = max(now + polling.wait, time.now() + min(pause, expiresAt - now))
        }
    }

    /// Whether the bell rings in time, or has rung.
    private func wasRung(_ bell: Bell, within seconds: Double) async throws -> Bool {
        try await within(.seconds(seconds), on: time.clock) {
            for await _ in bell.values() { return true }
            try Task.checkCancellation()
            return false
        } ?? false
    }

    /// The verified claims of the ID token, which is about the user of the hint.
    fileprivate func identity(
        in response: TokenResponse, at server: AuthorizationServerMetadata, client: Client,
        expecting subject: String?
    ) async throws -> IDTokenClaims {
        guard let identity = try await identity(inDeviceGrant: response, at: server, client: client) else {
            throw HandshakeError.exchange(
                .malformed(
                    step: .idToken, member: "id_token", expected: "an ID token, because openid was asked for",
                    found: "nothing"))
        }
        if let subject, !identity.subject.isIdentical(to: subject) {
            throw HandshakeError.exchange(
                .refused(
                    Refusal(
                        .subject, expected: "the user of the hint",
                        found: quoted(hidingSecrets(response.secrets, in: identity.subject), limit: 200))))
        }
        return identity
    }
}

extension Client {
    fileprivate func backchannelRequest(
        to server: AuthorizationServerMetadata, about hint: BackchannelAuthenticationRequest.Hint, message: String?,
        userCode: Secret?, notificationToken: Secret?, timeout: Duration, in environment: Environment
    ) throws(HandshakeError) -> BackchannelAuthenticationRequest {
        var headers = requiredHeaders
        headers[.accept] = nil
        headers[.contentType] = nil
        var request = BackchannelAuthenticationRequest(
            to: server, clientID: id, authentication: try authentication(at: server, in: environment), about: hint,
            scopes: scopes, resources: sentResources)
        request.bindingMessage = message
        request.userCode = userCode
        request.notificationToken = notificationToken
        request.requestedLifetime = max(1, Int(min(3600, timeout / .seconds(1))))
        request.contextClasses = (parameters["acr_values"] ?? "").split(separator: " ").map(String.init)
        request.extras = parameters.filter { $0.key != "acr_values" }
        request.headers = headers
        guard options.signedRequests == .always else { return request }
        guard let key = try requestKey(at: server) else { return request }
        do {
            let now = environment.proofs.time(of: server, now: environment.time.now())
            return try request.signed(by: key, now: now, random: environment.random)
        } catch {
            throw .exchange(error)
        }
    }
}
