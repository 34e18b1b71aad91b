import Handshake
import OAuth

/// Profiles in a vault, one record for each person.
struct ProfileStore: Sendable {
    /// A profile and the time it was fetched.
    struct Record: Sendable {
        let profile: Profile
        let fetchedAt: Double
    }

    let vault: any Vault
    let community: String
    let account: String

    /// Reads at most `capacity` profiles. What cannot be read is fetched again.
    func records(capacity: Int) async -> [PersonID: Record] {
        var records: [PersonID: Record] = [:]
        for key in (try? await vault.keys(of: .profile).keys) ?? [] {
            guard records.count < capacity, let id = id(of: key), let record = await record(id) else { continue }
            records[id] = record
        }
        return records
    }

    func write(_ record: Record, of id: PersonID) async throws {
        let profile = JSONValue.object(record.profile.members)
        let dated = DatedRecord(storedAt: record.fetchedAt, content: Array(profile.json.utf8))
        try await vault.replace(key(id), with: dated.bytes)
    }

    /// - Returns: whether there was one.
    @discardableResult
    func remove(_ id: PersonID) async throws -> Bool {
        try await vault.remove(key(id))
    }

    private func record(_ id: PersonID) async -> Record? {
        guard let bytes = try? await vault.record(key(id)), let dated = DatedRecord(bytes),
            let value = try? JSONValue(parsing: dated.content), let profile = try? Profile(value), profile.id == id
        else { return nil }
        return Record(profile: profile, fetchedAt: dated.storedAt)
    }

    private func key(_ id: PersonID) -> VaultKey {
        VaultKey(.profile, [community, account, id.description])
    }

    private func id(of key: VaultKey) -> PersonID? {
        guard key.components.count == 3, let id = Int64(key.components[2]).flatMap({ PersonID($0) }),
            key == self.key(id)
        else { return nil }
        return id
    }
}
