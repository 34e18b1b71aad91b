#if PostgreSQL
import Handshake

/// The one key that a caller has. No other can be put there.
struct GivenKey: VaultKeyStore {
    let key: VaultMasterKey

    func key(of identifier: VaultIdentifier) -> VaultMasterKey? { key }

    func store(_ key: VaultMasterKey, of identifier: VaultIdentifier, label: String) throws {
        throw VaultError.keyCannotChange(of: "the PostgreSQL vault")
    }

    func remove(_ identifier: VaultIdentifier) {}
}
#endif
