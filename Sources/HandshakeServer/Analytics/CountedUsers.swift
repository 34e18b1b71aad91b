#if Server
import Handshake
import IFTTTConnect
import OAuth

/// The analytics records of consenting users in the vault.
struct CountedUsers: Sendable {
    let vault: any Vault
    let time: TimeSource

    subscript(key: VaultKey) -> CountedUser? {
        get async throws { try await vault.record(key).flatMap(CountedUser.init(stored:)) }
    }

    /// Creates a record unless there is one.
    func add(_ key: VaultKey, random: RandomSource) async throws {
        try await vault.update(key) { record in
            guard await record.contents.flatMap(CountedUser.init(stored:)) == nil,
                let queue = AnalyticsQueue(random: random)
            else { return }
            try await record.replace(with: try CountedUser(queue).stored())
        }
    }

    /// Appends an event.
    ///
    /// - Returns: the pending events; nil without consent.
    func append(_ event: AnalyticsEvent, to key: VaultKey) async throws -> AnalyticsQueue? {
        let now = time.now()
        return try await changing(key) { user in
            user.queue.append(event, at: now)
            return user.queue
        }
    }

    /// Claims the next events for this process.
    func claim(_ key: VaultKey) async throws -> CountedUser.Claim {
        // Most users in the vault have no pending events.
        guard try await self[key]?.queue.batch != nil else { return .nothing }
        let now = time.now()
        return try await changing(key) { $0.claim(now: now) } ?? .nothing
    }

    /// Records the result of a request.
    ///
    /// - Returns: the pending events; nil when consent was withdrawn meanwhile.
    func settle(_ batch: AnalyticsQueue.Batch, of key: VaultKey, isSent: Bool) async throws -> AnalyticsQueue? {
        try await changing(key) { user in
            user.settle(batch, isSent: isSent)
            return user.queue
        }
    }

    /// Changes an existing record, and never restores a consent that was withdrawn meanwhile.
    private func changing<Result: Sendable>(
        _ key: VaultKey, _ change: @Sendable (inout CountedUser) -> Result
    ) async throws -> Result? {
        try await vault.update(key) { record in
            guard var user = await record.contents.flatMap(CountedUser.init(stored:)) else { return nil }
            let result = change(&user)
            try await record.replace(with: try user.stored())
            return result
        }
    }
}
#endif
