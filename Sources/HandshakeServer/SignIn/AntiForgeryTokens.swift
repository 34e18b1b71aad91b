#if Server
import Crypto
import Handshake
import OAuth

/// Anti-forgery tokens, one for each user and service: only this user's page can read it. And tickets for an app's browser.
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
        try await code(of: "\(service)\u{0}\(user)")
    }

    /// Checks the token that a page has sent.
    ///
    /// - Throws: the refusal for another one; ``VaultError``, `CancellationError`.
    func check(
        _ given: String, of user: String, for service: String, otherwise refusal: RequestRefusal = .staleToken
    ) async throws {
        guard try await token(of: user, for: service).matches(Secret(given)) else { throw refusal }
    }

    /// How long a ticket is valid, in seconds: the system may ask the user before it opens a browser for an app.
    static let ticketLifetime = 300.0

    /// Proof, in an address, that the app wants a sign-in of its user to start. Reusable until it expires; valid for this user only.
    ///
    /// - Throws: ``VaultError``, `CancellationError`.
    func ticket(of user: String, for service: String, now: Double) async throws -> String {
        let end = Int64(exactly: (now + Self.ticketLifetime).rounded(.down)) ?? 0
        let code = try await ticketCode(end, user, service)
        return "\(end).\(code.reveal())"
    }

    /// Whether a text is a ticket for the user and the service that has not expired. The code covers the end; that it is far ahead only
    /// says that the clock of another machine is.
    ///
    /// - Throws: ``VaultError``, `CancellationError`.
    func isTicket(_ text: String, of user: String, for service: String, now: Double) async throws -> Bool {
        let parts = text.split(separator: ".", maxSplits: 1).map(String.init)
        guard text.utf8.count <= 64, parts.count == 2, let end = Int64(parts[0]), now <= Double(end)
        else { return false }
        return try await ticketCode(end, user, service).matches(Secret(parts[1]))
    }

    /// The first character keeps it apart from a token: no service has such a name.
    private func ticketCode(_ end: Int64, _ user: String, _ service: String) async throws -> Secret {
        try await code(of: "\u{1}\(end)\u{0}\(service)\u{0}\(user)")
    }

    private func code(of text: String) async throws -> Secret {
        let code = HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: SymmetricKey(data: try await key()))
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
