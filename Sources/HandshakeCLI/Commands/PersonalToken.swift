import Foundation
import Handshake
import OAuth

/// A token that the user made at the service and brought (`login --token-file`).
struct PersonalToken {
    /// What stands in the client's place: no app was registered for such a token.
    static let clientID = "personal-access-token"

    let token: Secret

    /// Reads one line of a file, or of standard input for `-`; never from the command line, where every process can read it.
    init(from path: String) throws {
        guard let line = SecretLine.read(from: path) else {
            throw CommandError.usage(
                path == "-" ? "no token came on standard input" : "\(path) holds no token that can be read")
        }
        token = line
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

/// One line with a secret, from a file or from standard input.
enum SecretLine {
    static func read(from path: String) -> Secret? {
        let line: String?
        if path == "-" {
            line = readLine()
        } else {
            line = (try? String(contentsOfFile: Settings.absolute(path), encoding: .utf8))?
                .split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).first.map(String.init)
        }
        guard let line, !line.isEmpty else { return nil }
        return Secret(line)
    }
}
