import OAuth

/// The user token of an activation: from the vault, else from the partner's server, and never one that was refused.
actor TokenKeeper {
    private let tokens: UserTokens?
    private let partnerToken: @Sendable () async throws -> UserToken?
    private var current: UserToken?
    private var refused: UserToken?
    private var isLoaded = false

    /// - Parameters:
    ///   - tokens: where the token rests; nil keeps it in memory alone.
    ///   - partnerToken: asks the partner's server.
    init(_ tokens: UserTokens?, partnerToken: @escaping @Sendable () async throws -> UserToken?) {
        self.tokens = tokens
        self.partnerToken = partnerToken
    }

    /// The token; nil when there is none.
    func token() async throws -> UserToken? {
        if let current { return current }
        if !isLoaded {
            let stored = try await tokens?.token()
            // While the vault was asked, a token may have been stored or dropped: that is newer.
            if !isLoaded {
                isLoaded = true
                current = stored
            }
            if let current { return current }
        }
        guard let fresh = try await partnerToken(), fresh != refused else { return nil }
        try await store(fresh)
        return fresh
    }

    /// Keeps a token, in memory at once and in the vault before this returns.
    func store(_ token: UserToken) async throws {
        current = token
        isLoaded = true
        try await tokens?.store(token)
    }

    /// Forgets the token, because the service refuses it: it is not taken again.
    func drop() async throws {
        refused = current
        try await forget()
    }

    /// Forgets the token.
    func forget() async throws {
        current = nil
        isLoaded = true
        try await tokens?.forget()
    }
}
