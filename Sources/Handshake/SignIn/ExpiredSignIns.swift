import OAuth

extension Handshake {
    /// Removes the sign-ins that were begun and not finished in time.
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
        } catch let error as VaultError {
            throw HandshakeError.vault(error)
        }
        return count
    }
}
