import Handshake

/// The Keychain as the place of the keys of a vault in a database: what `SQLiteVault.open` and `PostgresVault.open` take.
func keysInTheKeychain() -> [any VaultKeyStore] {
    [KeychainKeys(), KeychainKeys(accessGroup: "TEAM.com.example.app")]
}
