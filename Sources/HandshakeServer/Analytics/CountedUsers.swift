#if Server
import Handshake
import IFTTTConnect
import OAuth

/// The records of users who agreed to be counted, in the vault.
struct CountedUsers: Sendable {
    let vault: any Vault
    let time: TimeSource

    subscript(key: VaultKey) -> CountedUser? {
        get async throws { try await vault.record(key).flatMap(CountedUser.init(stored:)) }
    }

    /// Begins a record, unless there is one.
    func add(_ key: VaultKey, random: RandomSource) async throws {
        try await vault.update(key) { record in
            guard await record.contents.flatMap(CountedUser.init(stored:)) == nil,
                let queue = AnalyticsQueue(random: random)
            else { return }
            try await record.replace(with: try CountedUser(queue).stored())
        }
    }

    /// Takes an event in.
    ///
    /// - Returns: what waits then; nil for a user who did not agree.
    func append(_ event: AnalyticsEvent, to key: VaultKey) async throws -> AnalyticsQueue? {
        let now = time.now()
        return try await changing(key) { user in
            user.queue.append(event, at: now)
            return user.queue
        }
    }

    /// Takes what is to be sent next, for this process alone.
    func claim(_ key: VaultKey) async throws -> CountedUser.Claim {
        // Of most whom the vault knows, nothing waits.
        guard try await self[key]?.queue.batch != nil else { return .nothing }
        let now = time.now()
        return try await changing(key) { $0.claim(now: now) } ?? .nothing
    }

    /// Says how it went.
    ///
    /// - Returns: what waits then; nil when the consent was taken back meanwhile.
    func settle(_ batch: AnalyticsQueue.Batch, of key: VaultKey, isSent: Bool) async throws -> AnalyticsQueue? {
        try await changing(key) { user in
            user.settle(batch, isSent: isSent)
            return user.queue
        }
    }

    /// Changes a record that is there: nothing brings a consent back that was taken back meanwhile.
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
