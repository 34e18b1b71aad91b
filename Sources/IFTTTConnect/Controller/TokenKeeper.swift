import OAuth

/// The user token of an activation: from the vault, else from the partner's server, and never one that was refused.
actor TokenKeeper {
    /// How many refused tokens are remembered: more than a user has in the life of a process.
    private static let most = 8

    private let tokens: UserTokens?
    private let partnerToken: @Sendable () async throws -> UserToken?
    private var current: UserToken?
    private var refused: [UserToken] = []
    /// Whether what the vault holds is known here.
    private var isLoaded = false
    /// Counts the changes, so that what was asked for before one is not taken over after it.
    private var changes = 0
    /// What is being written to the vault: one after the other, in the order in which it was decided.
    private var writing: Task<Void, any Error>?
    /// Why the partner's token was not kept, until it is told.
    private var problem: ConnectError?

    /// - Parameters:
    ///   - tokens: where the token rests; nil keeps it in memory alone.
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
                // While the vault was asked, a token may have been stored or dropped: that is newer.
                guard changes == before else { continue }
                isLoaded = true
                // What was refused may still be there: the vault could not be written.
                current = stored.flatMap { refused.contains($0) ? nil : $0 }
                if let current { return current }
            }
            let fresh = try await partnerToken()
            guard changes == before else { continue }
            guard let fresh, !refused.contains(fresh) else { return nil }
            do {
                try await store(fresh)
            } catch let error as ConnectError {
                // It is as good from memory.
                problem = error
            }
            return fresh
        }
    }

    /// Why the partner's token could not be kept, once.
    func takeProblem() -> ConnectError? {
        defer { problem = nil }
        return problem
    }

    /// Keeps a token, in memory immediately and in the vault before this returns.
    func store(_ token: UserToken) async throws {
        refused.removeAll { $0 == token }
        change(to: token)
        isLoaded = true
        try await write { try await $0.store(token) }
    }

    /// Forgets a token that the service has refused, if it is still the one; it is not taken again. Whatever has taken its
    /// place, here or in another process, is the token from now on.
    func drop(_ token: UserToken) async throws {
        if !refused.contains(token) { refused = refused.suffix(Self.most - 1) + [token] }
        if current == token {
            change(to: nil)
            isLoaded = false
        }
        try await write { _ = try await $0.forget(ifStill: token) }
    }

    /// Forgets the token.
    func forget() async throws {
        change(to: nil)
        isLoaded = true
        try await write { try await $0.forget() }
    }

    /// Writes after all that was to be written before, to the end also when whoever asked does not wait.
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
