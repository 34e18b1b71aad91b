import Handshake

/// The vaults of the module itself. Those in databases have the same contract, in `Tests/Databases`.
extension VaultContract {
    static let all = [memory, files]

    static let memory = VaultContract(testDescription: "memory") { clock in
        let vault = MemoryVault(timeout: timeout, clock: clock)
        return Storage { vault }
    }

    static let files = VaultContract(testDescription: "files") { clock in
        let folder = try VaultFolder()
        return Storage { KeptVault(base: try folder.open(timeout: timeout, clock: clock), folder: folder) }
    }
}
