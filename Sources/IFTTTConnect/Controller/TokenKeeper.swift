import OAuth

/// The user token of an activation: from the vault, otherwise from the partner's server, and never a rejected one.
actor TokenKeeper {
    /// How many rejected tokens are remembered: more than a user has during a process.
    private static let maximum = 8

    private let tokens: UserTokens?
    private let partnerToken: @Sendable () async throws -> UserToken?
    private var current: UserToken?
    private var refused: [UserToken] = []
    /// Whether the vault's token was loaded.
    private var isLoaded = false
    /// Counts the changes, so that a token requested before a change does not replace it.
    private var changes = 0
    /// The number of log-outs whose tokens are deleted.
    private var signOuts = 0
    /// The pending write; writes run one after the other, in order.
    private var writing: Task<Void, any Error>?
    /// Why the partner's token was not stored, until it is reported.
    private var problem: ConnectError?

    /// - Parameters:
    ///   - tokens: stores the token; nil keeps it in memory only.
    ///   - partnerToken: asks the partner's server.
    init(_ tokens: UserTokens?, partnerToken: @escaping @Sendable () async throws -> UserToken?) {
        self.tokens = tokens
        self.partnerToken = partnerToken
    }

    /// The token; nil when there is none.
    func token() async throws -> UserToken? {
        while true {
            if let current { return current }
            let before = changes
            if !isLoaded {
                let stored = try await tokens?.token()
                // A token stored or deleted during the request is newer.
                guard changes == before else { continue }
                // A rejected token can still be in the vault if it could not be written.
                current = stored.flatMap { refused.contains($0) ? nil : $0 }
                // Another button or process may store one later: a vault without one is asked again.
                isLoaded = current != nil
                if let current { return current }
            }
            let fresh = try await partnerToken()
            guard changes == before else { continue }
            guard let fresh, !refused.contains(fresh) else { return nil }
            do {
                try await store(fresh)
            } catch let error as ConnectError {
                // The token works from memory.
                problem = error
            }
            return fresh
        }
    }

    /// Returns once why the partner's token could not be stored.
    func takeProblem() -> ConnectError? {
        defer { problem = nil }
        return problem
    }

    /// Stores a token: in memory immediately, and in the vault before this returns. A token of a user who has logged out since is
    /// not stored.
    ///
    /// - Parameters:
    ///   - token: the token.
    ///   - count: the number of log-outs before it came; nil when it comes now.
    func store(_ token: UserToken, after count: Int? = nil) async throws {
        guard (count ?? signOuts) >= signOuts else { return }
        refused.removeAll { $0 == token }
        change(to: token)
        isLoaded = true
        try await write { try await $0.store(token) }
    }

    /// Deletes a rejected token if it is still the current one; it is not used again. A token that has replaced it, here or in
    /// another process, becomes the current one.
    func drop(_ token: UserToken) async throws {
        if !refused.contains(token) { refused = refused.suffix(Self.maximum - 1) + [token] }
        if current == token {
            change(to: nil)
            isLoaded = false
        }
        try await write { _ = try await $0.forget(ifStill: token) }
    }

    /// Deletes the token.
    ///
    /// - Parameter count: the number of log-outs up to this one; nil when it is none.
    func forget(signOuts count: Int? = nil) async throws {
        signOuts = max(signOuts, count ?? 0)
        change(to: nil)
        isLoaded = true
        try await write { try await $0.forget() }
        // From now on, what the vault has is newer.
        isLoaded = false
    }

    /// Writes after all earlier writes; completes even when the caller is cancelled.
    private func write(_ body: @escaping @Sendable (UserTokens) async throws -> Void) async throws {
        guard let tokens else { return }
        let task = Task { [before = writing] in
            _ = await before?.result
            try await body(tokens)
        }
        writing = task
        try await task.value
    }

    private func change(to token: UserToken?) {
        current = token
        changes += 1
    }
}
