import OAuth
import Synchronization

extension Handshake {
    /// Removes the sign-ins and sign-outs that were begun and not finished in time. It also removes what is known of
    /// logout tokens that have expired.
    ///
    /// An expired sign-in is refused anyway; its sealed record only takes up space. A server whose sign-in route anyone may
    /// call should do this regularly. It reads every record of these three kinds, and in a vault of files the name of every
    /// record, so once an hour is enough.
    ///
    /// - Returns: how many were removed. A record that is damaged, that another process holds or whose key is missing is left
    ///   as it is.
    /// - Throws: ``HandshakeError/vault(_:)`` when the vault as a whole cannot be used, `CancellationError`.
    @discardableResult
    public func removeExpiredSignIns() async throws -> Int {
        do {
            var count = try await removeExpired(.signIn) { (try? PendingSignIn(stored: $0))?.request.expiresAt }
            for kind in [VaultKey.Kind.signOut, .logoutToken] {
                count += try await removeExpired(kind) { StoredExpiry($0)?.expiresAt }
            }
            return count
        } catch let error as VaultError {
            throw HandshakeError.vault(error)
        }
    }

    /// Removes the records of a kind that have expired. One that cannot be used now keeps no other.
    ///
    /// - Parameter expiry: the time in a record's contents; nil when it has none.
    private func removeExpired(
        _ kind: VaultKey.Kind, _ expiry: @Sendable ([UInt8]) -> Double?
    ) async throws -> Int {
        let (vault, now) = (environment.vault, environment.time.now())
        let count = Mutex(0)
        // A page at a time: a vault may have more names than a process has memory for.
        try await vault.forEachPage(of: kind) { page in
            for key in page.keys {
                try Task.checkCancellation()
                do {
                    let isRemoved = try await vault.update(key) { locked in
                        guard let bytes = await locked.contents, let time = expiry(bytes), time <= now else {
                            return false
                        }
                        try await locked.remove()
                        return true
                    }
                    if isRemoved { count.withLock { $0 += 1 } }
                } catch let error as VaultError where error.isOfOneRecord {
                    continue
                }
            }
        }
        return count.withLock { $0 }
    }
}
