import Handshake
import IFTTTConnect

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An attempt at rest: it waits in the vault for its redirect, which may come to another process.
///
/// An actor, because writes have to stay in order.
actor StoredActivation {
    private struct Record: Codable {
        var version = 1
        let activation: ConnectActivation
    }

    private let key: VaultKey
    private let vault: any Vault
    /// What the vault has; nil for nothing.
    private var kept: ConnectActivation?
    /// Whether an attempt that was ended by ``remove()`` may still be reported by updates under way.
    private var isEnded = false

    init(of connection: ConnectionID, user: String, vault: any Vault) {
        key = VaultKey(.activation, [connection.rawValue, user, "app"])
        self.vault = vault
    }

    /// The activation that an earlier process has left, with today's configuration; nil when there is none to go on with.
    func activation(for configuration: ConnectActivation.Configuration) async -> ConnectActivation? {
        // What cannot be read is an attempt that has to be begun again.
        guard let bytes = try? await vault.record(key),
            let record = try? JSONDecoder().decode(Record.self, from: Data(bytes)), record.version == 1,
            record.activation.configuration.connection == configuration.connection,
            record.activation.configuration.redirect == configuration.redirect
        else { return nil }
        kept = record.activation
        return record.activation.restarted(configuration, isLoaded: true)
    }

    /// Keeps an activation while its redirect is awaited, and nothing otherwise.
    func keep(_ activation: ConnectActivation) async {
        guard activation.awaitsRedirect else {
            isEnded = false
            // What cannot be removed now is removed at the next change.
            if kept != nil { try? await delete() }
            return
        }
        guard !isEnded, activation != kept, let bytes = try? JSONEncoder().encode(Record(activation: activation)) else {
            return
        }
        do {
            try await vault.update(key) { record in
                // The user may have logged out before the record was free.
                guard await !self.isEnded else { return }
                try await record.replace(with: Array(bytes))
            }
            if !isEnded { kept = activation }
        } catch {
            // Without the record, a redirect counts in this process only.
        }
    }

    /// Deletes what is kept, also when the caller is cancelled. The attempt is not kept again.
    ///
    /// - Throws: `ConnectError/account(_:)` when the vault cannot be written.
    func remove() async throws {
        isEnded = true
        try await delete()
    }

    private func delete() async throws {
        do {
            _ = try await Task { [vault, key] in try await vault.remove(key) }.value
        } catch let error as VaultError {
            throw ConnectError.account(.vault(error))
        }
        kept = nil
    }
}
