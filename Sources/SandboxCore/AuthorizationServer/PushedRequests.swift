#if Sandbox
import Synchronization

/// Authorization requests that clients handed over, by their reference (RFC 9126 section 2.2).
package struct PushedRequests: Sendable {
    struct Pushed: Sendable {
        let clientID: String
        let parameters: FormParameters
        let expiresAt: Double
        /// Whether a browser has come with the reference: the user may then take longer than the reference counts.
        var isOpened = false
    }

    /// How many seconds a reference counts.
    package static let lifetime = 60
    package static let prefix = "urn:ietf:params:oauth:request_uri:"
    fileprivate var requests: [String: Pushed] = [:]

    package init() {}
}

extension AuthorizationServer {
    /// Keeps a request of an authenticated client after it was checked as one in a browser would be.
    ///
    /// - Returns: the reference.
    package func push(_ parameters: FormParameters, by client: SandboxClient) throws(OAuthFailure) -> String {
        guard parameters["request_uri"] == nil else {
            throw .invalidRequest("A pushed request must not refer to another one.")
        }
        guard parameters["client_id"].map({ $0 == client.id }) ?? true else {
            throw .invalidRequest("client_id is not the client that was authenticated.")
        }
        let secret: Set = ["client_secret", "client_assertion", "client_assertion_type", "client_id"]
        let own = FormParameters(
            [("client_id", client.id)] + parameters.pairs.filter { !secret.contains($0.name) })
        try check(own, of: client)
        let reference = PushedRequests.prefix + RandomText.base64URL(bytes: 24)
        state.withLock { state in
            state.pushed.requests[reference] = PushedRequests.Pushed(
                clientID: client.id, parameters: own, expiresAt: clock.now + Double(PushedRequests.lifetime))
        }
        return reference
    }

    /// The parameters of a request: its own, or those that its reference stands for (RFC 9126 section 4).
    func parameters(of query: FormParameters) throws(AuthorizationRefusal) -> FormParameters {
        guard let reference = query["request_uri"] else {
            guard let id = query["client_id"], client(id)?.pushesOnly == true else { return query }
            throw .page(detail: "This client has to push its authorization requests (RFC 9126).")
        }
        let pushed = state.withLock { state -> PushedRequests.Pushed? in
            guard let pushed = state.pushed.requests[reference], pushed.clientID == query["client_id"],
                pushed.isOpened || clock.now < pushed.expiresAt
            else { return nil }
            state.pushed.requests[reference]?.isOpened = true
            return pushed
        }
        guard let pushed else {
            throw .page(detail: "The request_uri is unknown, expired, used, or another client's.")
        }
        return pushed.parameters
    }

    /// A reference counts for one answer.
    func forgetPushed(_ target: String) {
        guard let mark = target.firstIndex(of: "?") else { return }
        let query = FormParameters(urlEncoded: target[target.index(after: mark)...].utf8)
        guard let reference = query["request_uri"] else { return }
        state.withLock { $0.pushed.requests[reference] = nil }
    }
}
#endif
