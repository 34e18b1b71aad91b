public import HTTPTypes
public import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Account {
    /// Sends a request with this account's access token, which goes into the `Authorization` field and nowhere else.
    ///
    /// When the service does not accept the token, it is refreshed once, however many requests find out at the same
    /// time, and the request is sent once more if its content can be sent again. Redirects of `GET` and `HEAD` are
    /// followed, at most five; outside the service's own origins they lose the token.
    ///
    /// - Returns: the service's answer, whatever its status.
    /// - Throws: `OAuthError/refused(_:)` inside ``HandshakeError/exchange(_:)`` with `Refusal/Check/foreignOrigin`
    ///   for an address that is none of the service's; ``HandshakeError/demanded(_:status:)`` when the service wants
    ///   further scopes or another authentication; ``HandshakeError/signInRequired(_:_:)``;
    ///   ``HandshakeError/contentNotReplayable``; ``HandshakeError/network(_:)``; whatever ``accessToken()`` throws.
    public func send(_ request: RequestMessage, limits: TransferLimits = TransferLimits()) async throws
        -> ResponseMessage
    {
        try await send(request) { [environment] in try await environment.transport.send($0, limits: limits) }
    }

    /// How a request with its token goes out once: whole, or with the answer's content handed on in pieces.
    typealias Attempt = @Sendable (RequestMessage) async throws -> ResponseMessage

    /// Sends a request by the rules of ``send(_:limits:)``; each transmission is one call of `attempt`.
    func send(_ request: RequestMessage, by attempt: Attempt) async throws -> ResponseMessage {
        try check(request)
        var authorized = request
        authorized.head.headerFields[.authorization] = try await authorization()
        let (response, demand) = try await deliver(authorized, by: attempt)
        guard let demand else { return response }
        guard demand == .freshToken else { throw HandshakeError.demanded(demand, status: response.head.status.code) }
        return try await replay(request, refused: authorized, by: attempt)
    }

    /// Sends a request without content to an address, absolute or relative to the service's API.
    ///
    /// - Throws: what ``send(_:limits:)`` throws, and ``HandshakeError/configuration(member:problem:)`` for an address
    ///   that is none.
    public func send(
        _ method: HTTPRequest.Method, _ address: String, headers: HTTPFields = [:],
        content: RequestMessage.Content = .none, limits: TransferLimits = TransferLimits()
    ) async throws -> ResponseMessage {
        try await send(RequestMessage(method, resolve(address), headers: headers, content: content), limits: limits)
    }

    /// The absolute address for what a caller wrote: absolute already, or relative to the service's API.
    public func resolve(_ address: String) throws(HandshakeError) -> EndpointURL {
        let security = client.service.authorizationServer.security
        do {
            let isAbsolute = address.prefix { $0 != "/" && $0 != "?" }.hasSuffix(":")
            if isAbsolute { return try EndpointURL(address, security: security) }
            guard let root = client.service.apiRoot ?? client.resources.first else {
                throw HandshakeError.configuration(
                    member: "url", problem: "\(client.service.displayName) has no API root; give the whole address")
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
            throw .configuration(member: "url", problem: "the address cannot be read")
        }
    }

    private func check(_ request: RequestMessage) throws(HandshakeError) {
        let head = request.head
        // Behind the authority, anything but a slash would be read as more of it: `api.example` and `@evil.example`.
        guard head.path?.hasPrefix("/") ?? true else {
            throw .configuration(member: "path", problem: "a path begins with /")
        }
        guard allowedOrigins.contains(where: { $0.authority == head.authority && $0.scheme.rawValue == head.scheme })
        else {
            throw .exchange(
                .refused(
                    Refusal(
                        .foreignOrigin, expected: allowedOrigins.map(\.description).joined(separator: " or "),
                        found: "\(head.scheme ?? "")://\(quoted(head.authority ?? "", limit: 200))")))
        }
    }

    /// Refreshes because `refused` was not accepted, and sends once more what can be sent once more.
    private func replay(
        _ request: RequestMessage, refused: RequestMessage, by attempt: Attempt
    ) async throws -> ResponseMessage {
        let token = Secret(String(refused.head.headerFields[.authorization]?.dropFirst("Bearer ".count) ?? ""))
        let next = try await record(after: token)
        guard request.content.isReplayable else { throw HandshakeError.contentNotReplayable }
        var authorized = request
        authorized.authorize(with: next.grant.accessToken)
        let (response, demand) = try await deliver(authorized, by: attempt)
        switch demand {
        case nil: return response
        case .freshToken?: throw HandshakeError.signInRequired(id, .stillUnauthorized)
        case let demand?: throw HandshakeError.demanded(demand, status: response.head.status.code)
        }
    }

    /// Sends, and follows the redirects of requests that only read. Whoever did not see the token cannot refuse it: what
    /// another origin says demands nothing.
    private func deliver(
        _ request: RequestMessage, by attempt: Attempt
    ) async throws -> (ResponseMessage, ResourceDemand?) {
        var request = request
        for _ in 0...Self.mostRedirects {
            let response = try await transmit(request, by: attempt)
            guard let next = try redirected(request, by: response) else {
                let isAuthorized = request.head.headerFields[.authorization] != nil
                return (response, isAuthorized ? client.service.demand(in: response) : nil)
            }
            request = next
        }
        throw HandshakeError.exchange(.redirected(step: .resource, status: 310))
    }

    private static let mostRedirects = 5

    private func transmit(_ request: RequestMessage, by attempt: Attempt) async throws -> ResponseMessage {
        do {
            return try await attempt(request)
        } catch let error as TransportError {
            throw HandshakeError.network(error)
        }
    }

    /// The request that a redirect asks for: without the token when it leaves the service (RFC 9110, section 15.4).
    private func redirected(_ request: RequestMessage, by response: ResponseMessage) throws -> RequestMessage? {
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
        let endpoint: EndpointURL
        do {
            endpoint = try EndpointURL(
                String(target), security: client.service.authorizationServer.security, member: "Location")
        } catch {
            throw HandshakeError.exchange(error)
        }
        var headers = request.head.headerFields
        if !allowedOrigins.contains(endpoint.origin) { headers[.authorization] = nil }
        return RequestMessage(request.head.method, endpoint, headers: headers)
    }
}
