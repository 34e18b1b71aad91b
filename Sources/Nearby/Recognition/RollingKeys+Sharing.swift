import Beacons
import Handshake
import OAuth

/// Whether a friend has keys of the user's seed for friends: otherwise its identifiers are not sent.
extension RollingKeys {
    var seedKey: VaultKey { VaultKey(.beaconSeed, [community]) }
    /// The record of the last day for which the user has shared keys.
    var lastSharedDayKey: VaultKey { VaultKey(.beaconSeed, [community, "held"]) }

    /// Whether a friend may recognise the user by the seed for friends.
    func hasRecipients(at time: Timestamp) async throws -> Bool {
        guard try await existingSeed() != nil else { return false }
        // A clock that is before 1970 is told of by what sends.
        guard let today = try? RollingWindow(at: time).day.number else { return true }
        guard let last = try await lastSharedDay(today) else { return false }
        return Self.isUsable(keyOf: last, on: today)
    }

    /// Deletes the seed once every key that was shared is for a past day.
    ///
    /// The check and the deletion are one exclusive step: ``givenKeys(days:from:)`` notes the last day before it reads the seed.
    func expireSeed(at time: Timestamp) async throws {
        guard let today = try? RollingWindow(at: time).day.number, try await existingSeed() != nil else { return }
        try await mappingVaultErrors {
            let isExpired = try await vault.update(lastSharedDayKey) { record in
                guard let last = try await lastSharedDay(today, in: record), !Self.isUsable(keyOf: last, on: today)
                else { return false }
                try await vault.remove(seedKey)
                try await record.remove()
                return true
            }
            if isExpired { try await ChangeMark.note(in: vault, community: community) }
        }
    }

    /// Notes that the user shares keys until a day.
    func noteShared(through day: UInt32) async throws {
        try await mappingVaultErrors {
            try await vault.update(lastSharedDayKey) { record in
                let known = await record.contents.flatMap(Self.day)
                guard known.map({ $0 < day }) ?? true else { return }
                try await record.replace(with: Self.bytes(day))
            }
        }
    }

    /// The last day for which a friend has keys; nil when there is no seed any more.
    private func lastSharedDay(_ today: UInt32) async throws -> UInt32? {
        try await mappingVaultErrors {
            if let day = try await vault.record(lastSharedDayKey).flatMap(Self.day) { return day }
            return try await vault.update(lastSharedDayKey) { try await lastSharedDay(today, in: $0) }
        }
    }

    /// The last day in the record. An earlier version stored only the seed: friends may have keys of the next days, which this notes.
    private func lastSharedDay(_ today: UInt32, in record: any LockedRecord) async throws -> UInt32? {
        if let day = await record.contents.flatMap(Self.day) { return day }
        guard try await vault.record(seedKey) != nil else { return nil }
        let last = today &+ UInt32(Self.maximumDays) &- 1
        try await record.replace(with: Self.bytes(last))
        return last
    }

    /// A window around midnight still uses yesterday's key.
    private static func isUsable(keyOf day: UInt32, on today: UInt32) -> Bool { today <= day &+ 1 }

    private static func day(_ bytes: [UInt8]) -> UInt32? {
        bytes.count == 4 ? bytes.reduce(0) { $0 << 8 | UInt32($1) } : nil
    }

    private static func bytes(_ day: UInt32) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: day >> $0) } }
}
