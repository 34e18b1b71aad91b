import Beacons
import Handshake
import OAuth

/// Whether somebody has keys of the user's seed for friends: otherwise its identifiers are not sent.
extension RollingKeys {
    /// The last day of the keys that the user gave to somebody.
    var heldKey: VaultKey { VaultKey(.beaconSeed, [community, "held"]) }

    /// Whether somebody may recognise the user by the seed for friends.
    func isHeld(at time: Timestamp) async throws -> Bool {
        guard try await existingSeed() != nil else { return false }
        // A clock that is before 1970 is told of by what sends.
        guard let today = try? RollingWindow(at: time).day.number else { return true }
        guard let last = try await lastHeldDay() else {
            // An earlier version stored only the seed: friends may have keys of the next days.
            try await noteHeld(until: today &+ UInt32(Self.maximumDays) &- 1)
            return true
        }
        // A window around midnight still uses yesterday's key.
        return today <= last &+ 1
    }

    /// Deletes the seed when all keys that anybody has of it are of past days.
    func expireSeed(at time: Timestamp) async throws {
        guard try await existingSeed() != nil, try await !isHeld(at: time) else { return }
        try await forgetSeed()
    }

    /// Notes that somebody has keys until a day.
    func noteHeld(until day: UInt32) async throws {
        try await wrapped {
            try await vault.update(heldKey) { record in
                let known = await record.contents.flatMap(Self.day)
                guard known.map({ $0 < day }) ?? true else { return }
                try await record.replace(with: [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: day >> $0) })
            }
        }
    }

    private func lastHeldDay() async throws -> UInt32? {
        try await wrapped { try await vault.record(heldKey) }.flatMap(Self.day)
    }

    private static func day(_ bytes: [UInt8]) -> UInt32? {
        bytes.count == 4 ? bytes.reduce(0) { $0 << 8 | UInt32($1) } : nil
    }
}
