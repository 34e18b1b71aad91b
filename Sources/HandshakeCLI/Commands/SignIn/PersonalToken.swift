#if CommandLine
import Foundation
import Handshake
import OAuth

/// A personal token that the user created at the service (`login --token-file`).
struct PersonalToken {
    /// The client identifier of accounts without a registered app.
    static let clientID = "personal-access-token"

    let token: Secret

    /// Reads one line of a file, or of standard input for `-`.
    init(from path: String) async throws {
        token = try await SecretLine.read(path, what: "token", option: "--token-file")
    }

    /// Makes the account after the service has accepted the token.
    func signIn(_ client: Client, as name: String, in vault: any Vault) async throws -> Account {
        let grant = Grant(
            accessToken: token, expiresAt: nil, issuedAt: Date().timeIntervalSince1970, refreshToken: nil,
            scopes: client.scopes)
        // In a vault of its own, so that a wrong token does not replace a working account.
        let trial = try await Handshake(client, vault: MemoryVault()).adopt(grant, as: name)
        if client.service.identityEndpoint != nil {
            do {
                _ = try await trial.identity()
            } catch HandshakeError.signInRequired {
                throw CommandError(
                    status: .signInNeeded, code: "token_refused",
                    message:
                        "\(client.service.displayName) rejected the token. Create another one there and sign in again.")
            }
        }
        return try await Handshake(client, vault: vault).adopt(grant, as: name)
    }
}
#endif
