package import OAuth

/// What servers have registered for the sign-ins of one account that are not done.
///
/// A command stores a registration as soon as the server has answered, before the page opens. Otherwise every sign-in that
/// the user abandons would leave one more client at the server. Only the account that it was made for uses it, because it is
/// removed at the server together with the account.
package struct UnfinishedRegistrations: Sendable {
    private static let mark = "unfinished"
    private let account: String
    private let vault: any Vault

    /// The registrations for an account.
    package init(of account: String, in vault: any Vault) {
        self.account = account
        self.vault = vault
    }

    /// The client that an earlier try registered at this server, as long as it serves this one.
    ///
    /// - Parameters:
    ///   - key: the client's own; nil for one without. A client that authenticates otherwise is not used.
    ///   - isForDevices: whether the user approves on another device.
    package func client(
        at found: some RegisteringServer, redirect: Client.Redirect, key: SigningKey?, onDevices isForDevices: Bool,
        time: TimeSource = .system
    ) async throws -> Client? {
        guard let stored = try await stored(vaultKey(found.server.issuer, found.registeredFor)),
            let registration = stored.registration, stored.credential?.key?.thumbprint == key?.thumbprint,
            registration.covers(found.scopes), registration.serves(redirect),
            !registration.hasExpired(at: time.now()), !isForDevices || registration.isForDevices
        else { return nil }
        return try found.client(of: stored, registration)
    }

    /// Stores a client that has just been registered, in place of an earlier one at the same server.
    package func keep(_ client: Client) async throws {
        guard client.registration != nil else { return }
        let api = client.confinement?.string ?? DiscoveredServer.noAPI
        let bytes = try Registrations.stored(client)
        try await reported {
            try await vault.update(vaultKey(client.service.authorizationServer.issuer, api)) {
                try await $0.replace(with: bytes)
            }
        }
    }

    /// All of them that can be read.
    package func clients() async throws -> [Client] {
        var clients: [Client] = []
        for key in try await keys() {
            if let client = try await stored(key) { clients.append(client) }
        }
        return clients
    }

    /// Forgets them, also those that are damaged.
    ///
    /// - Parameter id: the only client to forget; nil for all.
    /// - Returns: those that could be read, which the server still knows.
    @discardableResult
    package func forget(_ id: String? = nil) async throws -> [Client] {
        var clients: [Client] = []
        for key in try await keys() {
            let client = try await stored(key)
            if let id, client?.id.utf8.elementsEqual(id.utf8) != true { continue }
            _ = try await reported { try await vault.remove(key) }
            if let client { clients.append(client) }
        }
        return clients
    }

    /// A damaged one is as good as none: the app is registered again.
    private func stored(_ key: VaultKey) async throws -> Client? {
        do {
            return try await reported { try await vault.record(key) }.map {
                try Registrations.client(stored: $0, as: account)
            }
        } catch HandshakeError.vault(.damaged) {
            return nil
        }
    }

    private func keys() async throws -> [VaultKey] {
        try await reported { try await vault.keys(of: .appRegistration) }.keys.filter { key in
            key.components.count == 4 && key.components[2] == Self.mark
                && key.components[3].utf8.elementsEqual(account.utf8)
        }
    }

    private func vaultKey(_ issuer: Issuer, _ api: String) -> VaultKey {
        VaultKey(.appRegistration, [issuer.string, api, Self.mark, account])
    }

    private func reported<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as VaultError {
            throw HandshakeError.vault(error)
        }
    }
}
