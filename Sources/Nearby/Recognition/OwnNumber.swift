package import Beacons
package import Handshake

/// The user's own number in a community, stored encrypted in a vault so that it is available offline.
///
/// Functions throw ``NearbyError``, or `CancellationError` when the calling task was cancelled.
package struct OwnNumber: Sendable {
    private let vault: any Vault
    private let key: VaultKey

    /// - Parameters:
    ///   - vault: where the number is stored.
    ///   - community: the namespace of the number, as for ``EncounterLog``.
    ///   - account: the account whose user has the number.
    package init(in vault: any Vault, community: String, account: String) {
        self.vault = vault
        key = VaultKey(.ownNumber, [community, account])
    }

    /// The stored number; nil when there is none.
    package func known() async throws -> UserNumber? {
        try await mappingVaultErrors {
            guard let bytes = try await vault.record(key) else { return nil }
            guard let number = Int(String(decoding: bytes, as: UTF8.self)).flatMap({ try? UserNumber($0) }) else {
                throw VaultError.damaged(what: "your own number", reason: "it is not a number from 1 to 2147483647")
            }
            return number
        }
    }

    /// The number that a service states, which is stored for later; when the service does not answer, the stored number.
    ///
    /// - Parameter ask: asks the service. A `BeaconsError` says that its number fits no beacon: it is thrown.
    /// - Throws: what `ask` throws when no number is stored; ``NearbyError``; `CancellationError`.
    package func current(asking ask: () async throws -> UserNumber) async throws -> UserNumber {
        let own: UserNumber
        do {
            own = try await ask()
        } catch let error where error is CancellationError || error is BeaconsError {
            throw error
        } catch {
            guard let stored = try? await known() else { throw error }
            return stored
        }
        // A damaged record is replaced.
        if (try? await known()) != own { try await remember(own) }
        return own
    }

    /// Stores the number.
    package func remember(_ number: UserNumber) async throws {
        try await mappingVaultErrors {
            try await vault.update(key) { try await $0.replace(with: Array(number.description.utf8)) }
        }
    }
}
