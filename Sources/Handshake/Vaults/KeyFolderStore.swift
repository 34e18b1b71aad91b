/// The key folder as a store for the keys of vaults that are not folders.
extension KeyFolder: VaultKeyStore {
    package func key(of identifier: VaultIdentifier) async throws -> VaultMasterKey? {
        guard let folder = try Folder.open(path, isOurs: false) else { return nil }
        try requireTrusted(folder)
        guard var bytes = try folder.contents(of: "\(identifier).key", limit: 4096) else { return nil }
        defer { bytes.resetBytes() }
        guard let key = VaultMasterKey(revealed: bytes) else {
            throw VaultError.damaged(
                what: file(of: identifier),
                reason:
                    "a key has \(VaultMasterKey.length) bytes and this file has \(bytes.count)"
            )
        }
        return key
    }

    package func store(_ key: VaultMasterKey, of identifier: VaultIdentifier, label: String) async throws {
        let folder = try openOrMake()
        var bytes = key.reveal()
        defer { bytes.resetBytes() }
        try folder.replace("\(identifier).key", with: bytes)
    }

    package func remove(_ identifier: VaultIdentifier) async throws {
        guard let folder = try Folder.open(path, isOurs: false) else { return }
        _ = try folder.remove("\(identifier).key")
    }
}
