import Handshake
import PostgresVault

/// The samples of the documentation, compiled.
enum PostgresSamples {
    static func open() async throws -> PostgresVault {
        // Once, at installation.
        try await PostgresVault.migrate("postgresql://app@db.example.com/vault", keyFolder: "/etc/app/keys")
        let vault = try await PostgresVault.open("postgresql://app@db.example.com/vault", keyFolder: "/etc/app/keys")
        return vault
    }
}

private func severalMachines(_ client: Client) async throws -> Handshake {
    let vault = try await PostgresVault.open("postgresql://vault_app@db.example.com/vault", keyFolder: "/etc/app/keys")
    let handshake = try Handshake(client, vault: vault)
    return handshake
}
