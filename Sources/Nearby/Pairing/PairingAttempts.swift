import Circles
import Foundation
public import Handshake

/// How often pairing failed lately.
///
/// After three failures in a row pairing rests for ten minutes, also in another process.
///
/// Functions throw ``NearbyError``, or `CancellationError`.
public struct PairingAttempts: Sendable {
    private let vault: any Vault
    private let community: String
    private let key: VaultKey

    /// - Parameters:
    ///   - vault: where failures are counted.
    ///   - community: as for ``EncounterLog``.
    public init(in vault: any Vault, community: String) {
        self.vault = vault
        self.community = community
        key = VaultKey(.beaconSeed, [community, "pairing"])
    }

    /// Begins an attempt.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Throws: ``NearbyError/circle(_:)`` while pairing rests, and with ``CircleProblem/tableNeeded(circle:)`` where the keys
    ///   of the other person could not be stored at the end.
    public func begin(at now: Double) async throws {
        _ = try await RollingKeys(in: vault, community: community).circleTables()
        try await change { try $0.begin(at: UInt64(max(0, now))) }
    }

    /// Notes how an attempt ended.
    public func note(success: Bool, at now: Double) async throws {
        try await change { $0.note(success: success, at: UInt64(max(0, now))) }
    }

    private func change(_ body: @Sendable (inout PairingLimit) throws -> Void) async throws {
        try await CircleEnvironment.placing {
            try await vault.update(key) { record in
                var limit =
                    await record.contents.flatMap { try? JSONDecoder().decode(PairingLimit.self, from: Data($0)) }
                    ?? PairingLimit()
                try body(&limit)
                try await record.replace(with: Array(try JSONEncoder().encode(limit)))
            }
        }
    }
}
