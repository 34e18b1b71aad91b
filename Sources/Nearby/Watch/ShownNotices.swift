import Beacons
import Foundation
public import Handshake

/// Which notification of the desktop is about whom.
///
/// Stored in the vault, so that any process can close the notification about a person who is forgotten: the one that showed it may have
/// ended. It has numbers and no names.
public struct ShownNotices: Sendable {
    /// A notification of a desktop.
    struct Notice: Sendable, Codable, Hashable {
        /// The desktop's connection to its bus: another one has other numbers, and gives them to other programs too.
        let desktop: String
        let id: UInt32
        /// When it was shown: seconds since 1970.
        let time: Double
        /// How sure it was who the person is; earlier versions stored none.
        var trust: Trust?

        fileprivate var rank: Trust { trust ?? .circle }
    }

    private struct Stored: Codable, Equatable {
        var notices: [Int: Notice] = [:]
    }

    /// How many are remembered; of those with the least trust the oldest is closed for another one.
    static let capacity = 512

    private let vault: any Vault
    private let key: VaultKey
    private let now: @Sendable () -> Double

    /// - Parameters:
    ///   - vault: where they are stored.
    ///   - community: the namespace of the numbers, as for ``EncounterLog``.
    ///   - now: seconds since 1970; the system's clock unless stated.
    public init(in vault: any Vault, community: String, now: (@Sendable () -> Double)? = nil) {
        self.vault = vault
        self.now = now ?? TimeSource.system.now
        key = Self.key(of: community)
    }

    static func key(of community: String) -> VaultKey { VaultKey(.beaconSeed, [community, "notices"]) }

    /// Remembers the notification about a person, in place of an earlier one.
    ///
    /// - Returns: what is not remembered any more and so must be closed: the earlier one, and one where there are too many. Numbers that
    ///   any device can send close no notification about a person whom a key verified.
    /// - Throws: ``NearbyError/everyoneForgotten`` in a vault of a run that is over: the notification must be closed.
    @discardableResult
    func note(
        _ id: UInt32, of desktop: String, about person: UserNumber, trust: Trust = .unverified
    ) async throws -> [Notice] {
        let notice = Notice(desktop: desktop, id: id, time: now(), trust: trust)
        return try await change { stored in
            var dropped = [stored.notices.updateValue(notice, forKey: person.value)]
            if stored.notices.count > Self.capacity {
                // The new one stays, also with a clock that was set back.
                let oldest = stored.notices.filter { $0.key != person.value }
                    .min { ($0.value.rank, $0.value.time, $0.key) < ($1.value.rank, $1.value.time, $1.key) }
                dropped.append(oldest.flatMap { stored.notices.removeValue(forKey: $0.key) })
            }
            return dropped.compactMap(\.self)
        }
    }

    /// Forgets the notifications about people, and says which these were.
    ///
    /// - Parameter isMeant: about whom; everyone unless stated.
    func take(where isMeant: @Sendable (UserNumber, Notice) -> Bool = { _, _ in true }) async throws -> [Notice] {
        guard try await mappingVaultErrors({ try await vault.record(key) }) != nil else { return [] }
        return try await change { stored in
            let taken = stored.notices.filter { number, notice in
                (try? UserNumber(number)).map { isMeant($0, notice) } ?? true
            }
            for number in taken.keys { stored.notices[number] = nil }
            return Array(taken.values)
        }
    }

    /// The people whose notifications were shown before a moment.
    func people(before moment: Double) async throws -> Set<UserNumber> {
        let bytes = try await mappingVaultErrors { try await vault.record(key) }
        let notices = bytes.flatMap(Self.decode)?.notices ?? [:]
        return Set(notices.filter { $0.value.time < moment }.keys.compactMap { try? UserNumber($0) })
    }

    private static func decode(_ bytes: [UInt8]) -> Stored? {
        try? JSONDecoder().decode(Stored.self, from: Data(bytes))
    }

    private func change<Result: Sendable>(_ body: @Sendable (inout Stored) -> Result) async throws -> Result {
        try await mappingVaultErrors {
            try await vault.update(key) { record in
                // One that cannot be read begins again: no person is named by it.
                let before = await record.contents.flatMap(Self.decode)
                var stored = before ?? Stored()
                let result = body(&stored)
                if stored.notices.isEmpty {
                    try await record.remove()
                } else if stored != before {
                    try await record.replace(with: Array(try JSONEncoder().encode(stored)))
                }
                return result
            }
        }
    }
}
