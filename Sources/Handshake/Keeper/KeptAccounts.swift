import OAuth

/// Where a keeper finds its accounts.
package protocol KeptAccounts: Sendable {
    /// The vault that all of them are in.
    var vault: any Vault { get }
    /// Hands over the identifiers of all accounts, page by page.
    func pages(_ body: @escaping @Sendable (KeptPage) async throws -> Void) async throws
    /// Takes over known accounts whose refresh was begun and is not finished by any process; nil when the vault cannot tell.
    ///
    /// - Parameter passedOver: keys that were given back lately.
    func unfinished(except passedOver: Set<VaultKey>) async throws -> KeptPage?
    /// The app that an account belongs to; nil when there is none any more.
    func handshake(of id: AccountID) -> Handshake?
    /// The app whose transport a webhook uses; nil when there is none.
    var first: Handshake? { get }
    /// Waits for the refreshes that are running.
    func finishRefreshes() async
}

/// Some accounts' identifiers, and what could not be read among them.
package struct KeptPage: Sendable {
    package let ids: [AccountID]
    package let damaged: [VaultError]
    /// The keys of unfinished accounts that are not kept here, and were given back.
    let givenBack: [VaultKey]
    /// Whether to ask for unfinished accounts again after a second.
    let isWatching: Bool

    package init(
        ids: [AccountID], damaged: [VaultError] = [], givenBack: [VaultKey] = [], isWatching: Bool = false
    ) {
        self.ids = ids
        self.damaged = damaged
        self.givenBack = givenBack
        self.isWatching = isWatching
    }
}

extension Vault {
    /// Takes over unfinished accounts, and gives back those that are not kept here: another keeper may have their clients.
    package func claimUnfinishedAccounts(
        except passedOver: Set<VaultKey>, where isKept: (AccountID) -> Bool
    ) async throws -> KeptPage? {
        guard let records = try await claimUnfinished(of: .account, except: passedOver) else { return nil }
        var ids: [AccountID] = []
        var others: [VaultKey] = []
        for key in records.keys {
            if let id = AccountID(key), isKept(id) { ids.append(id) } else { others.append(key) }
        }
        // What cannot be given back is handed out again by itself.
        if !others.isEmpty { try? await returnUnfinished(others) }
        return KeptPage(ids: ids, damaged: records.damaged, givenBack: others, isWatching: records.isWatching)
    }
}

extension Handshake: KeptAccounts {
    package func pages(_ body: @escaping @Sendable (KeptPage) async throws -> Void) async throws {
        try await environment.vault.forEachPage(of: .account) { [self] listing in
            try await body(page(of: listing))
        }
    }

    package func unfinished(except passedOver: Set<VaultKey>) async throws -> KeptPage? {
        try await environment.vault.claimUnfinishedAccounts(except: passedOver) { keptClient($0) != nil }
    }

    private func page(of listing: VaultListing) -> KeptPage {
        let mine = listing.keys.compactMap(AccountID.init).filter { keptClient($0) != nil }
        return KeptPage(ids: mine, damaged: listing.damaged)
    }

    package func handshake(of id: AccountID) -> Handshake? { self }
    package var first: Handshake? { self }

    func keptClient(_ id: AccountID) -> Client? {
        clients.first { client in
            client.service.name == id.service && client.id == id.client
                && client.service.authorizationServer.issuer.string == id.issuer
                && client.resources.map(\.string) == id.resources
        }
    }
}

extension KeptAccounts {
    /// The accounts' records as they are stored now, in the order of the accounts.
    ///
    /// - Returns: for each account its record, nil when there is none, or what is wrong with it alone.
    /// - Throws: ``HandshakeError/vault(_:)`` when the vault cannot be read; `CancellationError`.
    func stored(_ ids: [AccountID]) async throws -> [Result<AccountRecord?, HandshakeError>] {
        do {
            return zip(ids, try await vault.records(ids.map(\.vaultKey))).map { id, contents in
                contents.mapError(HandshakeError.vault).flatMap { bytes in
                    Result { () throws(HandshakeError) in
                        try bytes.map { bytes throws(HandshakeError) in try AccountRecord(stored: bytes, expected: id) }
                    }
                }
            }
        } catch let error as VaultError {
            throw HandshakeError.vault(error)
        }
    }

    /// An account's record as it is stored now.
    ///
    /// - Throws: ``HandshakeError/vault(_:)``; `CancellationError`.
    func stored(_ id: AccountID) async throws -> AccountRecord? { try await stored([id]).first?.get() }

    /// Stores that a webhook has taken the report of an ending, unless another session has begun since.
    ///
    /// - Throws: `VaultError`, ``HandshakeError/vault(_:)``, `CancellationError`.
    func noteReported(_ ending: KeeperEnding) async throws {
        let id = ending.account
        try await vault.update(id.vaultKey) { record in
            guard let bytes = await record.contents else { return }
            var stored = try AccountRecord(stored: bytes, expected: id)
            guard stored.unreportedEnding?.identifier == ending.identifier else { return }
            stored.isReported = true
            try await record.replace(with: stored.stored())
        }
    }

    /// How many seconds before its token expires an account can be refreshed; nil for at any time.
    func refreshMargin(of id: AccountID) -> Double? {
        handshake(of: id)?.keptClient(id)?.service.deviations.refreshMargin
    }

    /// Refreshes the token of a record that was just read, unless another process has.
    ///
    /// - Returns: the account's record afterwards.
    /// - Throws: what ``Account/refresh()`` throws.
    func refresh(_ record: AccountRecord) async throws -> AccountRecord? {
        guard let handshake = handshake(of: record.id), let client = handshake.keptClient(record.id) else { return nil }
        let account = handshake.hold(record, client: client)
        return try await account.credential(after: record.grant.accessToken).record
    }
}
