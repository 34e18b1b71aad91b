import BusFixtures
import DBus
import Handshake
import SecretServiceVault

/// The vault whose key the keyring keeps has the contract of every vault. Without dbus-daemon and gnome-keyring there is none to test.
extension VaultContract {
    static let all: [VaultContract] = Tool.areInstalled(.busDaemon, .keyring) ? [keyring] : []

    static let keyring = VaultContract(testDescription: "files, with their key in the keyring") { clock in
        let place = try await BusWithKeyring()
        return Storage {
            let vault = try await SecretServiceVault.open(
                directory: place.bus.folder + "/vault", on: try Address.list(place.bus.addressText), promptTime: nil,
                timeout: timeout, clock: clock)
            return KeptVault(base: vault, folder: place)
        }
    }
}

/// A bus with a keyring on it. Both end with this value, the keyring first.
private final class BusWithKeyring: Sendable {
    private let keyring: Child
    let bus: BusDaemon

    init() async throws {
        let bus = try await BusDaemon()
        keyring = try await bus.startKeyring(password: "test-password")
        self.bus = bus
    }
}
