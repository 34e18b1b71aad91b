#if Sandbox
import Synchronization

/// Clients that register themselves (RFC 7591).
extension AuthorizationServer {
    /// Knows a client from now on.
    package func register(_ client: SandboxClient) {
        state.withLock { $0.registered[client.id] = client }
    }

    /// Knows a client no longer. Its tokens are gone with it (RFC 7592 section 2.3).
    package func unregister(_ id: String) {
        state.withLock { state in
            state.registered[id] = nil
            state.store.revokeGrants(of: id)
        }
    }

    /// The scopes of a request. A client that has registered itself can ask for those alone that it has named there.
    ///
    /// - Throws: `invalid_scope` for any other.
    func scope(_ text: String?, of client: SandboxClient) throws(OAuthFailure) -> [String] {
        let scope = try dialect.scopes.read(text)
        guard let registered = client.scopes, text != nil else { return scope }
        guard scope.allSatisfy(registered.contains) else {
            throw .invalidScope("The client has not registered this scope.")
        }
        return scope
    }
}

/// Tokens for one API (RFC 8707).
extension AuthorizationServer {
    /// An API that this server gives no tokens for.
    package static let refusedResource = "urn:sandbox:refused"

    /// The APIs of a request that this server knows. Others are ignored, as many servers do.
    ///
    /// - Throws: `invalid_target` for the one that it refuses.
    package func knownResources(in parameters: FormParameters) throws(OAuthFailure) -> [String] {
        let named = parameters.pairs.filter { $0.name == "resource" }.map(\.value)
        guard !named.contains(Self.refusedResource) else {
            throw OAuthFailure(code: "invalid_target", detail: "There are no tokens for \(Self.refusedResource).")
        }
        let known = state.withLock { $0.resources }
        return named.filter(known.contains)
    }

    /// What a token request may name: some of the APIs of its grant, or none, which means all.
    static func narrowed(_ resources: [String], within granted: [String]) throws(OAuthFailure) -> [String] {
        guard !resources.isEmpty else { return granted }
        guard resources.allSatisfy(granted.contains) else {
            throw OAuthFailure(code: "invalid_target", detail: "The grant is for other APIs.")
        }
        return resources
    }
}
#endif
