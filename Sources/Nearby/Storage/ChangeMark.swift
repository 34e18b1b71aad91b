import Handshake
import OAuth

/// A value that changes with everything a running watch depends on: seed, friends' keys, circles.
///
/// A watch polls this one record instead of all of those.
enum ChangeMark {
    static func key(of community: String) -> VaultKey { VaultKey(.beaconSeed, [community, "changes"]) }

    /// The present value.
    static func current(in vault: any Vault, community: String) async throws -> [UInt8]? {
        try await vault.record(key(of: community))
    }

    /// Notes a change: a watch that runs begins again.
    static func note(in vault: any Vault, community: String) async throws {
        try await vault.replace(key(of: community), with: RandomSource.system.bytes(8))
    }
}
