import Foundation
import Handshake
import OAuth

/// A token that the user made at the service and brought (`login --token-file`).
struct PersonalToken {
    /// What stands in the client's place: no app was registered for such a token.
    static let clientID = "personal-access-token"

    let token: Secret

    /// Reads one line of a file, or of standard input for `-`.
    init(from path: String) async throws {
        token = try await SecretLine.read(path, what: "token")
    }

    /// Makes the account, once the service has taken the token.
    func signIn(_ client: Client, as name: String, in vault: any Vault) async throws -> Account {
        let grant = Grant(
            accessToken: token, expiresAt: nil, issuedAt: Date().timeIntervalSince1970, refreshToken: nil,
            scopes: client.scopes)
        // Tried in a vault of its own: a wrong token does not replace an account that works.
        let trial = try await Handshake(client, vault: MemoryVault()).adopt(grant, as: name)
        if client.service.identityEndpoint != nil {
            do {
                _ = try await trial.identity()
            } catch HandshakeError.signInRequired {
                throw CommandError(
                    status: .signInNeeded, code: "token_refused",
                    message: "\(client.service.displayName) does not accept this token; make another one there")
            }
        }
        return try await Handshake(client, vault: vault).adopt(grant, as: name)
    }
}
