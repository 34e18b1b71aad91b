import Beacons
import Circles
import Foundation
import Handshake

/// What is stored of a circle that the user is in (circles dossier 8): a state, a table, packs of photos.
struct CircleRecords: Sendable {
    let vault: any Vault
    let community: String
    /// The circle's scope in hexadecimal digits.
    let scope: String

    init(in vault: any Vault, community: String, scope: CircleScope) {
        self.vault = vault
        self.community = community
        self.scope = Beacons.Hexadecimal.encode(scope.bytes)
    }

    private init(in vault: any Vault, community: String, scopeText: String) {
        self.vault = vault
        self.community = community
        scope = scopeText
    }

    /// The circles of a community that the user is in.
    static func all(in vault: any Vault, community: String) async throws -> [CircleRecords] {
        try await vault.keys(of: .circle).keys.compactMap { key in
            let parts = key.components
            guard parts.count == 3, parts[0] == community, parts[2] == "state" else { return nil }
            return CircleRecords(in: vault, community: community, scopeText: parts[1])
        }.sorted { $0.scope < $1.scope }
    }

    /// The circles of a community of which anything is stored, also where the state cannot be read: such a record is not listed.
    static func traces(in vault: any Vault, community: String) async throws -> [CircleRecords] {
        let scopes = try await vault.keys(of: .circle).keys.compactMap { key -> String? in
            let parts = key.components
            return parts.count >= 3 && parts[0] == community && parts[2] != "farewell" ? parts[1] : nil
        }
        return Set(scopes).sorted().map { CircleRecords(in: vault, community: community, scopeText: $0) }
    }

    func state() async throws -> State? {
        guard let bytes = try await vault.record(key("state")) else { return nil }
        return try Self.decode(bytes)
    }

    /// Changes the state; nil removes it.
    @discardableResult
    func change<Result: Sendable>(_ body: @Sendable (inout State?) throws -> Result) async throws -> Result {
        try await vault.update(key("state")) { record in
            var state = try await record.contents.map { try Self.decode($0) }
            let result = try body(&state)
            if let state {
                try await record.replace(with: Array(try JSONEncoder().encode(state)))
            } else {
                try await record.remove()
            }
            return result
        }
    }

    /// Changes the state, if there is one.
    func changeState(_ body: @Sendable (inout State) -> Void) async throws {
        try await change { state in
            guard var changed = state else { return }
            body(&changed)
            state = changed
        }
    }

    private static func decode(_ bytes: [UInt8]) throws -> State {
        guard let state = try? JSONDecoder().decode(State.self, from: Data(bytes)) else {
            throw VaultError.damaged(what: "your membership in a circle", reason: "it is not a record of this version")
        }
        return state
    }

    /// A watch that runs begins again.
    func noteChange() async throws { try await ChangeMark.note(in: vault, community: community) }

    func key(_ parts: String...) -> VaultKey { VaultKey(.circle, [community, scope] + parts) }
}
