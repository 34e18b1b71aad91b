import SQLiteVault

/// The samples of the documentation, compiled.
enum SQLiteSamples {
    static func open(data: String, config: String) throws -> SQLiteVault {
        try SQLiteVault.migrate("\(data)/accounts.sqlite", keyFile: "\(config)/accounts.key")  // once, at installation
        let vault = try SQLiteVault("\(data)/accounts.sqlite", keyFile: "\(config)/accounts.key")
        return vault
    }
}
