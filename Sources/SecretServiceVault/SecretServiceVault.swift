#if Desktop
package import DBus
import DesktopServices
public import Handshake

/// A vault of encrypted files whose master key is in the desktop's keyring. That is gnome-keyring, KWallet or another
/// (Secret Service API; beacons dossier 10.3).
///
/// The records are files, which have no size limit and lock across processes; the keyring stores one key under the
/// vault's identifier. A copy of the files is useless without the user's keyring.
public enum SecretServiceVault {
    /// The default time that the user has to unlock the keyring.
    public static let promptTime = Duration.seconds(60)

    /// Opens the vault in a folder, or creates it in an empty or missing one.
    ///
    /// It never falls back to another store, and never creates a new key for an existing vault: a locked or missing
    /// keyring is an error, and the records stay.
    ///
    /// - Parameters:
    ///   - directory: the vault's folder.
    ///   - environment: names the session bus: `DBUS_SESSION_BUS_ADDRESS`, otherwise `bus` in `XDG_RUNTIME_DIR`.
    ///   - promptTime: how long the user has to unlock the keyring; nil never prompts.
    /// - Throws: `VaultError.locked` when the keyring is locked, has no default collection, or no longer has the key;
    ///   `VaultError.unavailable` when there is no session bus or keyring, a new vault's keyring has no default
    ///   collection, or it stops while it asks the user; what `FileVault` throws; `CancellationError`.
    public static func open(
        directory: String, environment: [String: String], promptTime: Duration? = promptTime
    ) async throws -> FileVault {
        let addresses: [Address]
        do {
            addresses = try Address.session(environment: environment)
        } catch {
            throw VaultError.unavailable("the desktop's keyring cannot be reached: \(error)")
        }
        return try await open(directory: directory, on: addresses, promptTime: promptTime)
    }

    /// Opens the vault with the keyring on the bus at one of these addresses.
    package static func open(
        directory: String, on addresses: [Address], promptTime: Duration? = promptTime,
        timeout: Duration = .seconds(60), clock: any Clock<Duration> = .continuous
    ) async throws -> FileVault {
        try await SecretServiceKeyStore.using(addresses, promptTime) { keyring in
            try await FileVault.open(
                directory: directory, keyIn: keyring, called: "keyring", timeout: timeout, clock: clock)
        }
    }
}

/// The desktop's keyring as the place of the keys of any vault.
///
/// A vault in a database takes it as `keyIn`, and the name of its key, such as “keyring”, as `called`. Each use connects to the session bus, so that a key that a rotation makes later is found as well.
public struct SecretServiceKeys: VaultKeyStore {
    private let addresses: [Address]
    private let promptTime: Duration?

    /// Names the keyring. Nothing is asked yet.
    ///
    /// - Parameters:
    ///   - environment: names the session bus: `DBUS_SESSION_BUS_ADDRESS`, otherwise `bus` in `XDG_RUNTIME_DIR`.
    ///   - promptTime: how long the user has to unlock the keyring; nil never prompts.
    /// - Throws: `VaultError.unavailable` when there is no session bus.
    public init(
        environment: [String: String], promptTime: Duration? = SecretServiceVault.promptTime
    ) throws(VaultError) {
        do { addresses = try Address.session(environment: environment) } catch {
            throw .unavailable("the desktop's keyring cannot be reached: \(error)")
        }
        self.promptTime = promptTime
    }

    public func key(of identifier: VaultIdentifier) async throws -> VaultMasterKey? {
        try await SecretServiceKeyStore.using(addresses, promptTime) { try await $0.key(of: identifier) }
    }

    public func store(_ key: VaultMasterKey, of identifier: VaultIdentifier, label: String) async throws {
        try await SecretServiceKeyStore.using(addresses, promptTime) {
            try await $0.store(key, of: identifier, label: label)
        }
    }

    public func remove(_ identifier: VaultIdentifier) async throws {
        try await SecretServiceKeyStore.using(addresses, promptTime) { try await $0.remove(identifier) }
    }
}

/// Stores the master keys of file vaults in the desktop's keyring, each under its vault's identifier.
private struct SecretServiceKeyStore: VaultKeyStore {
    let keyring: SecretService

    /// Runs a body with the keyring on the bus at one of these addresses.
    static func using<Result>(
        _ addresses: [Address], _ promptTime: Duration?, _ body: (SecretServiceKeyStore) async throws -> Result
    ) async throws -> Result {
        do {
            let connection = try await Connection.open(addresses)
            defer { connection.close() }
            let keyring = try await SecretService.open(
                on: connection, prompting: promptTime.map { .upTo($0) } ?? .never)
            return try await body(SecretServiceKeyStore(keyring: keyring))
        } catch let error as DesktopServicesError {
            throw VaultError.unavailable("\(error)")
        } catch let error as DBusError {
            throw VaultError.unavailable("the desktop's keyring cannot be reached: \(error)")
        }
    }

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
        case .absent: return nil
        case .noCollection:
            // The key may be in a database that is closed, so it is locked away, and not known to be lost.
            throw VaultError.locked(
                "the desktop's keyring has no default collection. Open the keyring that has the vault's key, or log in to the desktop"
            )
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
                "the desktop's keyring has no default collection. Create a default keyring, or use the vault of files (--vault files:DIR)"
            )
        }
    }

    func remove(_ identifier: VaultIdentifier) async throws {
        if try await keyring.delete(attributes(identifier)) == .locked { throw Self.locked }
    }

    private static var locked: VaultError {
        .locked("the keyring is locked. Unlock it, or log in to the desktop")
    }

    private func attributes(_ identifier: VaultIdentifier) -> [String: String] {
        ["application": "handshake", "vault": identifier.description]
    }
}
#endif
