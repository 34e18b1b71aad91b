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
