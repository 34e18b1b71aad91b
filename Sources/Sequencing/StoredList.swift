import Handshake

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What an account has not finished: a list in one record of a vault, the same for every process that uses the vault.
struct StoredList<Element: Codable & Hashable & Sendable>: Sendable {
    private let vault: any Vault
    private let key: VaultKey

    init(_ kind: VaultKey.Kind, of account: AccountID, in vault: any Vault) {
        self.vault = vault
        key = account.vaultKey(kind)
    }

    var elements: [Element] {
        get async throws {
            do { return try decode(try await vault.record(key)) } catch { throw Self.placing(error) }
        }
    }

    /// Changes the list while no other process can. Writes only a list that has changed, and removes an empty one.
    func change<Result: Sendable>(_ body: @Sendable (inout [Element]) -> Result) async throws -> Result {
        do {
            return try await vault.update(key) { record in
                let known = try decode(await record.contents)
                var elements = known
                let result = body(&elements)
                if elements.isEmpty {
                    if !known.isEmpty { try await record.remove() }
                } else if elements != known {
                    try await record.replace(with: Array(try JSONEncoder().encode(elements)))
                }
                return result
            }
        } catch {
            throw Self.placing(error)
        }
    }

    func remove() async throws {
        do { try await vault.remove(key) } catch { throw Self.placing(error) }
    }

    private func decode(_ bytes: [UInt8]?) throws -> [Element] {
        guard let bytes else { return [] }
        do { return try JSONDecoder().decode([Element].self, from: Data(bytes)) } catch {
            throw VaultError.damaged(what: "the list of unfinished \(key.kind.rawValue)", reason: "it cannot be read")
        }
    }

    private static func placing(_ error: any Error) -> any Error {
        if let error = error as? VaultError { return SequencingError.account(.vault(error)) }
        return SequencingError.placing(error)
    }
}
