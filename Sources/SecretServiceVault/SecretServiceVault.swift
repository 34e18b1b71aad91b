#if Desktop
public import DBus
import DesktopServices
public import Handshake

/// A vault of encrypted files whose master key the desktop keeps: gnome-keyring, KWallet and others (Secret Service API;
/// beacons dossier 10.3).
///
/// The records stay in files, which hold any number of them and lock across processes; the keyring holds one key, under the
/// vault's identifier. A copy of the files without the user's keyring is useless.
public enum SecretServiceVault {
    /// How long the user may take to unlock the keyring, unless stated otherwise.
    public static let promptTime = Duration.seconds(60)

    /// Opens the vault in a folder, or makes it in an empty or missing one.
    ///
    /// It never falls back to another place, and never makes a new key for a vault that exists: a keyring that is locked or
    /// gone is an error, and the records wait.
    ///
    /// - Parameters:
    ///   - directory: the vault's folder.
    ///   - addresses: the session's bus.
    ///   - promptTime: how long the user may take to unlock the keyring; nil never asks.
    ///   - options: how the bus is reached.
    /// - Throws: ``VaultError/locked(_:)`` when the keyring is locked, or no longer has the key;
    ///   ``VaultError/unavailable(_:)`` when there is no keyring, or none that stores anything; what `FileVault` throws;
    ///   `CancellationError`.
    public static func open(
        directory: String, on addresses: [Address], promptTime: Duration? = promptTime,
        options: Connection.Options = .init()
    ) async throws -> FileVault {
        do {
            let connection = try await Connection.open(addresses, options: options)
            defer { connection.close() }
            let keyring = try await SecretService.open(
                on: connection, prompting: promptTime.map { .upTo($0) } ?? .never)
            return try await FileVault.open(
                directory: directory, keyIn: SecretServiceKeyStore(keyring: keyring), called: "keyring")
        } catch let error as DesktopServicesError {
            throw VaultError.unavailable("\(error)")
        } catch let error as DBusError {
            throw VaultError.unavailable("the desktop's keyring cannot be reached: \(error)")
        }
    }
}

/// The master keys of file vaults as items of the desktop's keyring, each under its vault's identifier.
private struct SecretServiceKeyStore: VaultKeyStore {
    let keyring: SecretService

    func key(of identifier: VaultIdentifier) async throws -> VaultMasterKey? {
        switch try await keyring.lookup(attributes(identifier)) {
        case .found(let secret):
            guard let key = VaultMasterKey(revealed: secret.reveal()) else {
                throw VaultError.damaged(
                    what: "the vault's key in the keyring",
                    reason: "it has \(secret.reveal().count) bytes instead of \(VaultMasterKey.length)")
            }
            return key
        case .locked: throw Self.locked
        case .absent, .noCollection: return nil
        }
    }

    func store(_ key: VaultMasterKey, of identifier: VaultIdentifier, label: String) async throws {
        let change = try await keyring.store(
            SecretValue(key.reveal()), label: label, attributes: attributes(identifier))
        switch change {
        case .done: return
        case .locked: throw Self.locked
        case .absent, .noCollection:
            throw VaultError.unavailable(
                "the desktop's keyring keeps nothing; make a default keyring, or keep the vault in files")
        }
    }

    func remove(_ identifier: VaultIdentifier) async throws {
        _ = try await keyring.delete(attributes(identifier))
    }

    private static var locked: VaultError {
        .locked("the keyring is locked; unlock it, or log in to the desktop")
    }

    private func attributes(_ identifier: VaultIdentifier) -> [String: String] {
        ["application": "handshake", "vault": identifier.description]
    }
}
#endif
