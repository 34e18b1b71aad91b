#if CommandLine
import ArgumentParser
import Handshake
import OAuth

struct Inspect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show an account's grant without its secrets, and the verified ID-token claims.")

    @Argument(help: "The account.")
    var account: String

    @OptionGroup var common: CommonOptions

    func run() async throws {
        let vault = try await common.existingVault(try Settings.load())
        let known = try await KnownAccount.open(account, in: vault)
        let members = describe(known)
        if common.json {
            Output.result(JSONText.object(members).text)
        } else {
            for line in Table.lines(Self.rows(members)) { Output.result(line) }
        }
    }

    private func describe(_ known: KnownAccount) -> [(String, JSONText)] {
        let status = known.account.status
        let server = known.client.service.authorizationServer
        var members = Accounts.members(of: status, name: account)
        members += [
            ("token_type", .string("Bearer")), ("issued_at", .seconds(status.issuedAt)),
            ("generation", .integer(Int64(status.generation))),
            ("confidential_client", .bool(known.client.isConfidential)),
            ("endpoints", .string(Self.origin(of: server, known: status.server))),
            ("transport", .string(server.security.rawValue)),
            ("subject", .optional(status.identity?.subject)),
            (
                "id_token",
                status.identity.map { claims in
                    .object(claims.claims.sorted { $0.key < $1.key }.map { ($0.key, JSONText($0.value)) })
                } ?? .null
            ),
        ]
        return members
    }

    /// Whether the server's endpoints were discovered or given by hand.
    private static func origin(of server: Service.AuthorizationServer, known: AuthorizationServerMetadata?) -> String {
        switch server {
        case .discovered: (known?.source ?? .discovered).rawValue
        case .described(let metadata): metadata.source.rawValue
        }
    }

    private static func rows(_ members: [(String, JSONText)]) -> [[String]] {
        members.flatMap { name, value -> [[String]] in
            switch value {
            case .null: []
            case .string(let text): [[name, text]]
            case .object(let inner): inner.map { ["\(name).\($0.0)", $0.1.plain] }
            default: [[name, name.hasSuffix("_at") ? Moment.text(Double(value.text)) : value.text]]
            }
        }
    }
}

extension JSONText {
    /// The value for people: strings without quotes.
    var plain: String {
        if case .string(let text) = self { text } else { text }
    }
}
#endif
