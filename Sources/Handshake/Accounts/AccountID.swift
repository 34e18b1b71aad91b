import OAuth

/// Identifies a user's account at a service. It is seen through one client, for one set of APIs.
public struct AccountID: Sendable, Hashable, Codable {
    /// The service's name.
    public let service: String
    /// The authorization server's issuer. An account never speaks to another one.
    public let issuer: String
    /// The client's identifier at the service.
    public let client: String
    /// The APIs that the tokens are for; usually none is named.
    public let resources: [String]
    /// The app's own name for the account. It is a user's key in a server, and `default` where there is one user.
    public let name: String

    /// The name used when an app has one account a service.
    public static let defaultName = "default"

    /// The account of a client under a name.
    public init(_ client: Client, name: String = AccountID.defaultName) {
        service = client.service.name
        issuer = client.service.authorizationServer.issuer.string
        self.client = client.id
        resources = client.resources.map(\.string)
        self.name = name
    }

    /// The account of the same client under another name.
    func named(_ name: String) -> AccountID {
        AccountID(service: service, issuer: issuer, client: client, resources: resources, name: name)
    }

    private init(service: String, issuer: String, client: String, resources: [String], name: String) {
        self.service = service
        self.issuer = issuer
        self.client = client
        self.resources = resources
        self.name = name
    }

    /// The record that holds the account.
    var vaultKey: VaultKey { vaultKey(.account) }

    /// The account's one record of a kind.
    package func vaultKey(_ kind: VaultKey.Kind) -> VaultKey {
        VaultKey(kind, [service, issuer, client, name] + resources)
    }

    /// The account whose record has this key; nil when it is another kind of record.
    package init?(_ key: VaultKey) {
        guard key.kind == .account, key.components.count >= 4 else { return nil }
        service = key.components[0]
        issuer = key.components[1]
        client = key.components[2]
        name = key.components[3]
        resources = Array(key.components[4...])
    }
}

extension AccountID {
    // By bytes, as vaults name their records: Swift takes spellings that Unicode calls equivalent for one string, and two users for one. It
    // also takes quadratic time to compare long runs of combining marks.
    public static func == (left: AccountID, right: AccountID) -> Bool {
        left.parts.elementsEqual(right.parts) { $0.utf8.elementsEqual($1.utf8) }
    }

    public func hash(into hasher: inout Hasher) {
        for part in parts {
            for byte in part.utf8 { hasher.combine(byte) }
            hasher.combine(part.utf8.count)
        }
    }

    private var parts: [String] { [name, service, issuer, client] + resources }

    /// Whether the account has this name, byte for byte.
    func isNamed(_ name: String) -> Bool { self.name.utf8.elementsEqual(name.utf8) }
}

extension AccountID: CustomStringConvertible {
    public var description: String {
        name == Self.defaultName ? service : "\(service)/\(quoted(name, limit: 100))"
    }
}
