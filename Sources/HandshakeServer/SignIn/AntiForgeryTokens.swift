#if Server
import Crypto
import Handshake
import OAuth

/// Anti-forgery tokens, one for each user and service: only this user's page can read it.
///
/// They derive from a key in the vault, so that all processes and concurrent requests
/// agree.
struct AntiForgeryTokens: Sendable {
    private static let record = VaultKey(.antiForgery, [])

    let vault: any Vault
    let random: RandomSource

    /// The token of a user for a service.
    ///
    /// - Throws: ``VaultError``, `CancellationError`.
    func token(of user: String, for service: String) async throws -> Secret {
        let code = HMAC<SHA256>.authenticationCode(
            for: Array("\(service)\u{0}\(user)".utf8), using: SymmetricKey(data: try await key()))
        return Secret(Base64URL.encode(code))
    }

    private func key() async throws -> [UInt8] {
        if let key = try await vault.record(Self.record), key.count == 32 { return key }
        return try await vault.update(Self.record) { record in
            if let key = await record.contents, key.count == 32 { return key }
            let key = random.bytes(32)
            try await record.replace(with: key)
            return key
        }
    }
}
#endif
