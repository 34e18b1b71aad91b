import Crypto

/// Where a vault's master key comes from.
enum KeySource: Sendable {
    /// A file outside the vault's folder, made together with the vault.
    case file(KeyFile)
    /// A key store keeps it, under the vault's id.
    case given(SymmetricKey, id: [UInt8])

    /// The key; nil when it is missing.
    func read(protecting folder: borrowing Folder) throws(VaultError) -> SymmetricKey? {
        switch self {
        case .file(let file): try file.read(protecting: folder)
        case .given(let key, _): key
        }
    }

    /// The id and key of a new vault.
    func make(
        protecting folder: borrowing Folder, timeout: Duration
    ) throws(VaultError) -> (id: [UInt8], key: SymmetricKey) {
        switch self {
        case .file(let file): (VaultDescription.newID(), try file.readOrMake(protecting: folder, timeout: timeout))
        case .given(let key, let id): (id, key)
        }
    }

    /// What errors call it.
    var name: String {
        switch self {
        case .file(let file): "the key in \(file.path)"
        case .given: "the key that was given"
        }
    }

    /// What errors say when it is missing.
    func missing(from folder: String) -> String {
        let loss = "If it is lost, so are the records: move \(folder) away and sign in again"
        return switch self {
        case .file(let file): "its key file \(file.path) is missing; put it back. \(loss)"
        case .given: "its key is missing. \(loss)"
        }
    }
}
