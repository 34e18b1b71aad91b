import Crypto
import Handshake
import OAuth

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Which webhooks were taken already: in the vault, so that all processes know, and only for as long as one may be
/// taken at all.
///
/// A record holds the webhooks that were sent within one minute. A replayed webhook carries the same time, so it is
/// looked for in one record; records of minutes that are over are removed.
struct DeliveryLedger: Sendable {
    /// The most webhooks that are remembered of one minute and one key.
    static let mostPerMinute = 20_000
    /// Seconds for which a process may be at work on a webhook before another may take it.
    static let lease = 60.0

    let vault: any Vault
    /// Whose webhooks these are: a digest of the service key.
    let owner: String
    /// Seconds for which a webhook may be late, or early.
    let tolerance: Double

    enum Claim: Sendable {
        /// It is new: take it, then say how it went.
        case new
        /// It was taken before.
        case taken
        /// Somebody is at work on it.
        case busy
        /// Its minute is full.
        case full
    }

    private struct Minute: Codable {
        /// By digests of identifiers: until when somebody is at work on it, or 0 when it is done.
        var deliveries: [String: Double] = [:]
    }

    /// Claims a webhook.
    func claim(_ webhook: ConnectWebhook, now: Double) async throws -> Claim {
        let name = Self.name(webhook)
        let (claim, isFirst) = try await vault.update(key(of: webhook)) { record -> (Claim, Bool) in
            let stored = await record.contents
            var minute = Self.minute(stored)
            if let lease = minute.deliveries[name] {
                guard lease > 0 else { return (.taken, false) }
                guard now > lease || lease > now + 2 * Self.lease else { return (.busy, false) }
            }
            guard minute.deliveries.count < Self.mostPerMinute else { return (.full, false) }
            minute.deliveries[name] = now + Self.lease
            try await record.replace(with: Self.stored(minute))
            return (.new, stored == nil)
        }
        if isFirst { try await removeOld(now: now) }
        return claim
    }

    /// Says how a claimed webhook went: it is never taken again, or it may be.
    func settle(_ webhook: ConnectWebhook, isDone: Bool) async throws {
        let name = Self.name(webhook)
        try await vault.update(key(of: webhook)) { record in
            var minute = Self.minute(await record.contents)
            minute.deliveries[name] = isDone ? 0 : nil
            try await record.replace(with: Self.stored(minute))
        }
    }

    private func key(of webhook: ConnectWebhook) -> VaultKey {
        VaultKey(.delivery, [owner, String(Int(webhook.sentAt / 60))])
    }

    private func removeOld(now: Double) async throws {
        let oldest = Int((now - tolerance) / 60) - 1
        for key in try await vault.keys(of: .delivery).keys where key.components.first == owner {
            guard let minute = key.components.last.flatMap({ Int($0) }), minute < oldest else { continue }
            try await vault.update(key) { try await $0.remove() }
        }
    }

    private static func name(_ webhook: ConnectWebhook) -> String {
        Base64URL.encode(SHA256.hash(data: Array(webhook.requestID.utf8)))
    }

    /// A record that cannot be read is one that nothing is known of: its webhooks are taken once more rather than
    /// never.
    private static func minute(_ bytes: [UInt8]?) -> Minute {
        bytes.flatMap { try? JSONDecoder().decode(Minute.self, from: Data($0)) } ?? Minute()
    }

    private static func stored(_ minute: Minute) throws -> [UInt8] {
        Array(try JSONEncoder().encode(minute))
    }
}
