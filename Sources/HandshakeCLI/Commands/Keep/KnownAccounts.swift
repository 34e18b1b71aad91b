#if CommandLine
import Handshake
import OAuth
import Synchronization

/// The accounts of earlier `login`s, each with the client that was remembered for it.
final class KnownAccounts: KeptAccounts {
    let vault: any Vault
    private let registrations: Registrations
    /// Nil before the first listing.
    private let apps = Mutex<[AccountID: App]?>(nil)

    private struct App: Sendable {
        let handshake: Handshake
        /// The registration as it is stored: another one makes another app.
        let stored: [UInt8]?
    }

    init(in vault: any Vault) {
        self.vault = vault
        registrations = Registrations(in: vault)
    }

    func pages(_ body: @escaping @Sendable (KeptPage) async throws -> Void) async throws {
        let before = apps.withLock { $0 }
        var found: [AccountID: App] = [:]
        let (names, damaged) = try await registrations.names()
        try await body(KeptPage(ids: [], damaged: damaged))
        for name in names {
            do {
                guard let client = try await registrations.client(named: name) else { continue }
                let id = AccountID(client, name: name)
                let stored = try await vault.record(VaultKey(.registration, [name]))
                // An app that is in use knows what it has begun, and its server.
                if let app = before?[id], app.stored == stored {
                    found[id] = app
                } else {
                    found[id] = App(handshake: try Handshake(client, vault: vault), stored: stored)
                }
            } catch HandshakeError.vault(let error) {
                guard case .damaged = error else { throw HandshakeError.vault(error) }
                try await body(KeptPage(ids: [], damaged: [error]))
            }
        }
        let all = found
        apps.withLock { $0 = all }
        try await body(KeptPage(ids: Array(all.keys)))
    }

    func unfinished(except passedOver: Set<VaultKey>) async throws -> KeptPage? {
        // Before the first listing no account is known here: another keeper would wait for what is taken.
        guard apps.withLock({ $0 != nil }) else { return KeptPage(ids: []) }
        return try await vault.claimUnfinishedAccounts(except: passedOver) { handshake(of: $0) != nil }
    }

    func handshake(of id: AccountID) -> Handshake? { apps.withLock { $0?[id]?.handshake } }

    var first: Handshake? { apps.withLock { $0?.first?.value.handshake } }

    func finishRefreshes() async {
        await withDiscardingTaskGroup { group in
            for app in apps.withLock({ Array(($0 ?? [:]).values) }) {
                group.addTask { await app.handshake.finishRefreshes() }
            }
        }
    }
}
#endif
