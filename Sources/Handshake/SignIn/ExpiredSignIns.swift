import OAuth

extension Handshake {
    /// Removes the sign-ins and sign-outs that were begun and not finished in time. It also removes what is known of
    /// logout tokens that have expired.
    ///
    /// An expired sign-in is refused anyway; its sealed record only takes up space. A server whose sign-in route anyone may
    /// call should do this regularly. It reads every record of the vault, so once an hour is enough.
    ///
    /// - Returns: how many were removed. A record that is damaged is left as it is.
    /// - Throws: ``HandshakeError/vault(_:)``, `CancellationError`.
    @discardableResult
    public func removeExpiredSignIns() async throws -> Int {
        let now = environment.time.now()
        var count = 0
        do {
            for key in try await environment.vault.keys(of: .signIn).keys {
                let isRemoved = try await environment.vault.update(key) { locked in
                    guard let bytes = await locked.contents, let pending = try? PendingSignIn(stored: bytes),
                        pending.request.expiresAt <= now
                    else { return false }
                    try await locked.remove()
                    return true
                }
                if isRemoved { count += 1 }
            }
            for kind in [VaultKey.Kind.signOut, .logoutToken] {
                for key in try await environment.vault.keys(of: kind).keys {
                    let isRemoved = try await environment.vault.update(key) { locked in
                        guard let bytes = await locked.contents, let expiry = StoredExpiry(bytes),
                            expiry.expiresAt <= now
                        else { return false }
                        try await locked.remove()
                        return true
                    }
                    if isRemoved { count += 1 }
                }
            }
        } catch let error as VaultError {
            throw HandshakeError.vault(error)
        }
        return count
    }
}
