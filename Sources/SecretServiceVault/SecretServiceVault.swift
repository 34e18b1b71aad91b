#if Desktop
public import DBus
import DesktopServices
public import Handshake

/// A vault of encrypted files whose master key the desktop keeps: gnome-keyring, KWallet and others (Secret Service API;
/// beacons dossier 10.3).
///
/// The records stay in files, which hold any number of them and lock across processes; the keyring holds one key, under the
/// vault's identifier. Somebody who copies the files without the user's keyring has nothing.
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
    ///   - promptTime: how long the user may take to unlock the keyring; nil asks nobody.
    ///   - options: how the bus is reached.
    /// - Throws: ``VaultError/locked(_:)`` when the keyring is locked, or no longer has the key;
    ///   ``VaultError/unavailable(_:)`` when there is no keyring, or none that keeps anything; what `FileVault` throws;
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
            // Twice at most: whoever loses the race to make a vault finds it made.
            for _ in 0..<2 {
                if let identifier = try VaultIdentifier.ofVault(in: directory) {
                    let key = try await key(of: identifier, directory, in: keyring)
                    return try FileVault(directory: directory, identifier: identifier, masterKey: key)
                }
                if let vault = try await make(directory, in: keyring) { return vault }
            }
            throw VaultError.busy(directory)
        } catch let error as DesktopServicesError {
            throw VaultError.unavailable("\(error)")
        } catch let error as DBusError {
            throw VaultError.unavailable("the desktop's keyring cannot be reached: \(error)")
        }
    }

    private static func key(
        of identifier: VaultIdentifier, _ directory: String, in keyring: SecretService
    ) async throws -> VaultMasterKey {
        switch try await keyring.lookup(attributes(identifier)) {
        case .found(let secret):
            guard let key = VaultMasterKey(revealed: secret.reveal()) else {
                throw VaultError.damaged(
                    what: "the key of \(directory) in the keyring",
                    reason: "it has \(secret.reveal().count) bytes instead of \(VaultMasterKey.length)")
            }
            return key
        case .locked:
            throw VaultError.locked("the keyring is locked; unlock it, or log in to the desktop")
        case .absent, .noCollection:
            throw VaultError.locked(
                "the keyring does not have the key of \(directory). If it is lost, so are the records: move the folder "
                    + "away and sign in again")
        }
    }

    /// Makes the key and then the vault, so that a vault never exists without its key.
    ///
    /// - Returns: nil when somebody else made the vault meanwhile.
    private static func make(_ directory: String, in keyring: SecretService) async throws -> FileVault? {
        let (identifier, key) = (VaultIdentifier.random(), VaultMasterKey.random())
        let change = try await keyring.store(
            SecretValue(key.reveal()), label: "Handshake: key of \(directory)", attributes: attributes(identifier))
        switch change {
        case .done: break
        case .locked: throw VaultError.locked("the keyring is locked; unlock it, or log in to the desktop")
        case .absent, .noCollection:
            throw VaultError.unavailable(
                "the desktop's keyring keeps nothing; make a default keyring, or keep the vault in files")
        }
        do {
            return try FileVault(directory: directory, identifier: identifier, masterKey: key)
        } catch {
            // The key opens nothing. When it cannot be removed, it does no harm.
            _ = try? await keyring.delete(attributes(identifier))
            if let made = try VaultIdentifier.ofVault(in: directory), made != identifier { return nil }
            throw error
        }
    }

    private static func attributes(_ identifier: VaultIdentifier) -> [String: String] {
        ["application": "handshake", "vault": identifier.description]
    }
}
#endif
