import Handshake
import OAuth

/// An account that an earlier `login` made, found by its name.
struct KnownAccount {
    let account: Account
    let client: Client
    let handshake: Handshake

    /// Opens the account.
    ///
    /// - Throws: ``CommandError`` with status 3 when there is none, and with its cure when its record is damaged.
    static func open(_ name: String, in vault: any Vault) async throws -> KnownAccount {
        try await naming(name) { try await find(name, in: vault) }
    }

    /// Opens the account.
    ///
    /// - Throws: ``CommandError`` with status 3 when there is none; ``HandshakeError/vault(_:)``.
    static func find(_ name: String, in vault: any Vault) async throws -> KnownAccount {
        guard let client = try await Registrations(in: vault).client(named: name) else { throw absent(name) }
        let handshake = try Handshake(client, vault: vault)
        guard let account = try await handshake.account(name) else { throw absent(name) }
        return KnownAccount(account: account, client: client, handshake: handshake)
    }

    /// Runs a body; when it finds an account's record damaged, the error says how to be rid of it.
    static func naming<Result>(_ name: String, _ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch HandshakeError.vault(let error) {
            throw curable(error, of: name)
        }
    }

    /// The error with its cure, if it has one.
    static func curable(_ error: VaultError, of name: String) -> any Error {
        guard case .damaged = error else { return error }
        return CommandError(
            status: .vault, code: error.code,
            message: "\(error); handshake logout \(name) --local removes it, and then you can sign in again")
    }

    /// Uses the account. When that fails or is interrupted, a refresh that is running is let finish before the process ends.
    func use<Result>(_ body: (Account) async throws -> Result) async throws -> Result {
        do {
            return try await body(account)
        } catch {
            await handshake.finishRefreshes()
            throw error
        }
    }

    /// There is no such account.
    static func absent(_ name: String) -> CommandError {
        CommandError(
            status: .signInNeeded, code: "sign_in_required",
            message: "there is no account “\(name)”; sign in with: handshake login \(name)")
    }
}
