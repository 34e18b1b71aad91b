public import HTTPTypes
public import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Account {
    /// Sends a request with this account's access token in the `Authorization` field.
    ///
    /// When the service does not accept the token, the token is refreshed once, however many requests find out
    /// concurrently, and the request is sent a second time if its content can be sent again.
    ///
    /// - Parameters:
    ///   - request: what to send.
    ///   - redirects: what to do with a redirect; `GET` and `HEAD` follow it by default.
    ///   - limits: what one exchange may cost.
    /// - Returns: the service's response, whatever its status.
    /// - Throws: `OAuthError/refused(_:)` inside ``HandshakeError/exchange(_:)`` with `Refusal/Check/foreignOrigin`
    ///   for an address that is none of the service's; ``HandshakeError/demanded(_:status:)`` when the service wants
    ///   further scopes or another authentication; ``HandshakeError/resourceMoved(_:resource:issuers:)`` when the API now
    ///   names another server; ``HandshakeError/signInRequired(_:_:)``;
    ///   ``HandshakeError/contentNotReplayable``; ``HandshakeError/network(_:)``; what ``accessToken()`` throws.
    public func send(
        _ request: RequestMessage, redirects: RedirectPolicy = .follow, limits: TransferLimits = TransferLimits()
    ) async throws -> ResponseMessage {
        try await send(request, redirects: redirects, by: .whole(limits))
    }

    /// What sends a request: with the client's certificate where the token is sent too (RFC 8705, section 3).
    @inline(never)
    func transport(isHome: Bool) throws(HandshakeError) -> any Transport {
        guard isHome, let certificate else { return environment.transport }
        return try environment.transport(presenting: certificate)
    }

    /// How a request with its token is transmitted once.
    ///
    /// `isHome` says whether the token is sent: neither it nor the certificate goes to another origin that a redirect has named.
    enum Transmission: Sendable {
        /// The response is read whole.
        case whole(TransferLimits)
        /// The response's content is handed on in pieces, or the request is written in another way.
        case by(@Sendable (_ request: RequestMessage, _ isHome: Bool) async throws -> ResponseMessage)
    }

    @inline(__always)
    private func transmit(
        _ request: RequestMessage, isHome: Bool, by transmission: Transmission
    ) async throws -> ResponseMessage {
        switch transmission {
        case .whole(let limits): try await transport(isHome: isHome).send(request, limits: limits)
        case .by(let transmit): try await transmit(request, isHome)
        }
    }

    /// Sends a request by the rules of ``send(_:redirects:limits:)``; `transmission` says how it is transmitted.
    func send(
        _ request: RequestMessage, redirects: RedirectPolicy, by transmission: Transmission
    ) async throws -> ResponseMessage {
        guard let telemetry = environment.telemetry else {
            return try await sendUnmeasured(request, redirects: redirects, by: transmission)
        }
        return try await sendMeasured(request, redirects: redirects, by: transmission, telemetry)
    }

    // Not inlined, here and below, so that a request that needs no more than a token holds no memory for more.
    @inline(never)
    private func sendMeasured(
        _ request: RequestMessage, redirects: RedirectPolicy, by transmission: Transmission, _ telemetry: Telemetry
    ) async throws -> ResponseMessage {
        let start = ContinuousClock.now
        var outcome = "other"
        defer { telemetry.time("handshake_request_seconds", since: start, at: id.service, ["outcome": outcome]) }
        do {
            let response = try await telemetry.span(
                "handshake.request", at: id.service,
                attribute: { ("http.response.status_code", $0.head.status.code) },
                { try await sendUnmeasured(request, redirects: redirects, by: transmission) })
            outcome = "\(response.head.status.code / 100)xx"
            return response
        } catch {
            outcome = Telemetry.kind(of: error)
            throw error
        }
    }

    private func sendUnmeasured(
        _ request: RequestMessage, redirects: RedirectPolicy, by transmission: Transmission
    ) async throws -> ResponseMessage {
        try check(request)
        let credential = if let freshCredential { freshCredential } else { try await credential() }
        return try await send(request, with: credential, redirects: redirects, by: transmission)
    }

    /// Sends a request, and what its response leads to.
    @inline(never)
    private func send(
        _ request: RequestMessage, with credential: AccessCredential, redirects: RedirectPolicy,
        by transmission: Transmission
    ) async throws -> ResponseMessage {
        var request = request
        authorize(&request, with: credential)
        do {
            // A proof may have to be repeated with another nonce.
            guard credential.key == nil else {
                return try await settle(nil, to: request, with: credential, redirects: redirects, by: transmission)
            }
            let response = try await transmit(request, isHome: true, by: transmission)
            if isFinal(response, to: credential, redirects) { return response }
            return try await settle(response, to: request, with: credential, redirects: redirects, by: transmission)
        } catch let error as OAuthError {
            throw HandshakeError.exchange(error)
        } catch let error as TransportError {
            throw HandshakeError.network(error)
        }
    }

    /// Whether nothing follows from a response to a request with a bearer token: neither a redirect nor a demand.
    @inline(never)
    private func isFinal(
        _ response: ResponseMessage, to credential: AccessCredential, _ redirects: RedirectPolicy
    ) -> Bool {
        let status = response.head.status.code
        if (300..<400).contains(status) && redirects == .follow { return false }
        guard service.mayDemand(status) else { return true }
        return status != 401 && status != 403
            && service.demand(in: response, hiding: credential.token, isBound: false) == nil
    }

    /// Follows redirects from a response, and sends the request once more when its token was refused.
    ///
    /// - Parameters:
    ///   - response: the first response; nil when the request was not sent yet.
    ///   - request: what was sent or is to be sent.
    @inline(never)
    private func settle(
        _ response: ResponseMessage?, to request: RequestMessage, with credential: AccessCredential,
        redirects: RedirectPolicy, by transmission: Transmission
    ) async throws -> ResponseMessage {
        var attempts = ProofAttempts()
        let (response, demand) = try await deliver(
            request, answered: response, with: credential, redirects: redirects, counting: &attempts, by: transmission)
        guard let demand else { return response }
        guard demand == .freshToken else {
            throw HandshakeError.demanded(demand, status: response.head.status.code)
        }
        return try await replay(
            request, refused: credential.token, by: response, redirects: redirects, counting: &attempts,
            by: transmission)
    }

    /// Sends a request with the token at hand, which is not refreshed, and follows no redirect.
    ///
    /// - Throws: what ``send(_:redirects:limits:)`` throws; ``HandshakeError/demanded(_:status:)`` also for a token that
    ///   is refused.
    func sendOnce(_ request: RequestMessage, by transmission: Transmission) async throws -> ResponseMessage {
        try check(request)
        let credential = AccessCredential(record, of: client, margin: refreshMargin)
        var attempts = ProofAttempts()
        do {
            let (response, demand) = try await deliver(
                request, with: credential, redirects: .stop, counting: &attempts, by: transmission)
            if let demand { throw HandshakeError.demanded(demand, status: response.head.status.code) }
            return response
        } catch let error as OAuthError {
            throw HandshakeError.exchange(error)
        } catch let error as TransportError {
            throw HandshakeError.network(error)
        }
    }

    /// Sends a request to an address, absolute or relative to the service's API.
    ///
    /// - Throws: what ``send(_:redirects:limits:)`` throws, and ``HandshakeError/configuration(member:problem:)`` for an address
    ///   that is none.
    public func send(
        _ method: HTTPRequest.Method, _ address: String, headers: HTTPFields = [:],
        content: RequestMessage.Content = .none, redirects: RedirectPolicy = .follow,
        limits: TransferLimits = TransferLimits()
    ) async throws -> ResponseMessage {
        try await send(
            RequestMessage(method, resolve(address), headers: headers, content: content), redirects: redirects,
            limits: limits)
    }

    /// The absolute address for what a caller wrote. That is absolute already, or relative to the service's API.
    public func resolve(_ address: String) throws(HandshakeError) -> EndpointURL {
        let security = service.authorizationServer.security
        do {
            let isAbsolute = address.prefix { $0 != "/" && $0 != "?" }.hasSuffix(":")
            if isAbsolute { return try EndpointURL(address, security: security) }
            guard let root = service.apiRoot ?? client.resources.lazy.compactMap(\.url).first else {
                throw HandshakeError.configuration(
                    member: "url",
                    problem:
                        "“\(service.displayName)” has no API address, so “\(quoted(String(address.unicodeScalars.prefix { $0 != "?" && $0 != "#" }), limit: 80))” cannot be completed. Write the whole URL"
                )
            }
            let base =
                if address.hasPrefix("/") { root.origin.description } else {
                    root.description + (root.path.hasSuffix("/") ? "" : "/")
                }
            return try EndpointURL(base + address, security: security)
        } catch let error as HandshakeError {
            throw error
        } catch let error as OAuthError {
            throw .exchange(error)
        } catch {
            throw .configuration(
                member: "url", problem: "the address cannot be read; write an absolute URL, or a path below the API")
        }
    }

    func check(_ request: RequestMessage) throws(HandshakeError) {
        let head = request.head
        // Behind the authority, anything but a slash would be read as more of it: `api.example` and `@evil.example`.
        guard head.path.map({ $0.utf8.first == UInt8(ascii: "/") }) ?? true else {
            throw .configuration(member: "path", problem: "a path begins with /")
        }
        let (scheme, authority) = (head.scheme ?? "", head.authority ?? "")
        let isAllowed = addressees.contains { $0.authority == authority && $0.scheme == scheme }
        // Not written down for requests that go out: this is on the way of every one.
        var origin: String { "\(scheme)://\(authority)" }
        guard isAllowed else {
            throw .exchange(
                .refused(
                    Refusal(
                        .foreignOrigin, expected: allowedOrigins.map(\.description).joined(separator: " or "),
                        found: quoted(origin, limit: 200))))
        }
        guard let confinement else { return }
        // The token is this API's, and not that of its neighbours at the same origin (`any-server.md` 5).
        let address = origin + (head.path ?? "/")
        guard let target = try? EndpointURL(address, security: confinement.security), confinement.covers(target) else {
            throw .exchange(
                .refused(
                    Refusal(
                        .foreignOrigin, expected: confinement.string,
                        found: quoted(String(address.prefix { $0 != "?" }), limit: 200))))
        }
    }

    /// Refreshes because `refused` was not accepted, and sends the request a second time if its content allows it.
    ///
    /// When that does not help either, the API may belong to another server by now: its `refusal` may say so.
    @inline(never)
    private func replay(
        _ request: RequestMessage, refused: Secret, by refusal: ResponseMessage, redirects: RedirectPolicy,
        counting attempts: inout ProofAttempts, by transmission: Transmission
    ) async throws -> ResponseMessage {
        let credential: AccessCredential
        do {
            credential = try await self.credential(after: refused)
        } catch let error as HandshakeError {
            try await checkServer(announcedIn: refusal, hiding: [refused])
            throw error
        }
        guard request.content.isReplayable else { throw HandshakeError.contentNotReplayable }
        let (response, demand) = try await deliver(
            request, with: credential, redirects: redirects, counting: &attempts, by: transmission)
        switch demand {
        case nil: return response
        case .freshToken?:
            try await checkServer(announcedIn: response, hiding: [refused, credential.token])
            throw HandshakeError.signInRequired(id, .stillUnauthorized)
        case let demand?: throw HandshakeError.demanded(demand, status: response.head.status.code)
        }
    }

    /// Adds the token, and what the service wants in every request.
    @inline(never)
    private func authorize(_ request: inout RequestMessage, with credential: AccessCredential) {
        if !requiredHeaders.isEmpty { addRequiredHeaders(to: &request) }
        request.head.headerFields.set(credential.field)
    }

    /// Sends a request with the token, unless it is `answered`, and follows redirects as `redirects` says. Ignores 401 responses
    /// from foreign origins: those hosts never received the token.
    private func deliver(
        _ request: RequestMessage, answered: ResponseMessage? = nil, with credential: AccessCredential,
        redirects: RedirectPolicy, counting attempts: inout ProofAttempts, by transmission: Transmission
    ) async throws -> (ResponseMessage, ResourceDemand?) {
        var request = request
        authorize(&request, with: credential)
        var staysHome = true
        for hop in 0...Self.maximumRedirects {
            attempts.hop = hop
            let response =
                if hop == 0, let answered {
                    answered
                } else if staysHome, let key = credential.key {
                    try await environment.transmit(
                        request, with: credential.token, provenBy: key, counting: &attempts
                    ) { try await transmit($0, isHome: true, by: transmission) }
                } else {
                    try await transmit(request, isHome: staysHome, by: transmission)
                }
            let status = response.head.status.code
            let target =
                try (300..<400).contains(status) && redirects == .follow
                ? target(of: response, to: request) : nil
            guard let target else {
                guard staysHome, service.mayDemand(status) else { return (response, nil) }
                let demand = service.demand(in: response, hiding: credential.token, isBound: credential.key != nil)
                // A token that is refused is refreshed first.
                if demand != .freshToken { try await checkServer(announcedIn: response, hiding: [credential.token]) }
                return (response, demand)
            }
            staysHome = staysHome && receivesToken(target)
            request = redirected(request, to: target, with: staysHome ? credential : nil, credential.field.name)
        }
        throw HandshakeError.tooManyRedirects(limit: Self.maximumRedirects)
    }

    /// Whether an address may see the account's token.
    private func receivesToken(_ address: EndpointURL) -> Bool {
        confinement.map { $0.covers(address) } ?? allowedOrigins.contains(address.origin)
    }

    private static let maximumRedirects = 5

    /// Where a response redirects a request that only reads; nil for every other response.
    private func target(of response: ResponseMessage, to request: RequestMessage) throws -> EndpointURL? {
        guard [301, 302, 303, 307, 308].contains(response.head.status.code),
            request.head.method == .get || request.head.method == .head,
            let location = response.head.headerFields[.location]
        else { return nil }
        let from = "\(request.head.scheme ?? "https")://\(request.head.authority ?? "")\(request.head.path ?? "/")"
        guard
            let target = URL(string: location, relativeTo: URL(string: from))?.absoluteString.prefix(while: {
                $0 != "#"
            })
        else { return nil }
        let security = service.authorizationServer.security
        // Not further into this network than where the redirect comes from (`any-server.md` 9).
        guard let to = try? EndpointURL(String(target), security: security, member: "Location"),
            var source = try? EndpointURL(from, security: security),
            to.origin.host == source.origin.host || NetworkZone(to.origin) >= NetworkZone(source.origin)
        else {
            // Not quoted: it may repeat the token.
            throw HandshakeError.exchange(
                .malformed(
                    step: .resource, member: "Location", expected: "an address to which a request may go",
                    found: "another"))
        }
        source.namedBy = request.namedBy
        return to.named(by: source)
    }

    /// The request that follows a redirect (RFC 9110, section 15.4).
    ///
    /// Only the fields of ``RedirectPolicy/portableFields`` are sent to another origin: any other may be a credential.
    /// The token goes to the service's own origins and nowhere else, and not along with what another origin has chosen: then
    /// `credential` is nil.
    private func redirected(
        _ request: RequestMessage, to target: EndpointURL, with credential: AccessCredential?, _ name: HTTPField.Name
    ) -> RequestMessage {
        var headers = request.head.headerFields
        let isSameOrigin =
            target.origin.authority == request.head.authority && target.origin.scheme.rawValue == request.head.scheme
        if !isSameOrigin || (confinement != nil && credential == nil) {
            headers = HTTPFields(headers.filter { RedirectPolicy.portableFields.contains($0.name) })
        }
        headers[name] = nil
        if let credential { headers.set(credential.field) }
        // A proof is for one address; the next sending makes its own.
        headers[.dpop] = nil
        var redirected = RequestMessage(request.head.method, target, headers: headers)
        if credential != nil { addRequiredHeaders(to: &redirected) }
        return redirected
    }

    /// Adds the fields that the service wants, unless the caller set them. A request without content has no
    /// `Content-Type`.
    private func addRequiredHeaders(to request: inout RequestMessage) {
        for field in requiredHeaders where !request.head.headerFields.contains(field.name) {
            if field.name == .contentType, case .none = request.content { continue }
            request.head.headerFields[field.name] = field.value
        }
    }
}

/// What to do with a redirect that answers an authorized request.
public enum RedirectPolicy: Sendable, Hashable {
    /// Follow up to five redirects of `GET` and `HEAD`. To another origin only `Accept`, `Accept-Language` and
    /// `User-Agent` are sent. A redirect of any other method is the response.
    case follow
    /// Follow none: a redirect is the response.
    case stop

    /// The fields that may go to another origin.
    static let portableFields: Set<HTTPField.Name> = [.accept, .acceptLanguage, .userAgent]
}
