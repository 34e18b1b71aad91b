import ArgumentParser
import Handshake
import IFTTTConnect
import OAuth

struct IFTTTShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a connection: its services, features, and whether it is on for the user.",
        discussion: "Without a kept token it is shown as to anybody; its status is then unknown.")

    @OptionGroup var options: IFTTTOptions

    func run() async throws {
        let tokens = try? await options.knownTokens()
        let connection = try await IFTTTFailure.reported {
            try await options.api(tokens).connection(options.connection)
        }
        if options.common.json {
            Output.result(Self.json(connection).text)
        } else {
            for line in Self.lines(connection) { Output.result(line) }
        }
    }

    /// For people. What comes from the service is made harmless.
    static func lines(_ connection: Connection) -> [String] {
        let services = connection.services.map { $0.name + ($0.isPrimary ? " (owner)" : "") }.joined(separator: ", ")
        var rows = [
            ["Connection", connection.id.rawValue], ["Name", connection.name],
            ["Status", connection.status.rawValue.replacing("_", with: " ")], ["Services", services],
            ["Page", connection.url.rawValue],
        ]
        rows += connection.features.map {
            ["Feature", [$0.title, $0.details].compactMap(\.self).joined(separator: ": ")]
        }
        return Table.lines(rows)
    }

    /// For programs.
    static func json(_ connection: Connection) -> JSONText {
        .object([
            ("id", .string(connection.id.rawValue)), ("name", .string(connection.name)),
            ("description", .string(connection.description)), ("status", .string(connection.status.rawValue)),
            ("url", .string(connection.url.rawValue)),
            (
                "services",
                .array(
                    connection.services.map {
                        .object([
                            ("id", .string($0.id)), ("name", .string($0.name)), ("short_name", .string($0.shortName)),
                            ("primary", .bool($0.isPrimary)), ("brand_color", .string("\($0.brandColor)")),
                        ])
                    })
            ),
            (
                "features",
                .array(
                    connection.features.map {
                        .object([
                            ("id", .optional($0.id)), ("title", .string($0.title)), ("details", .optional($0.details)),
                        ])
                    })
            ),
            ("configurations", .integer(Int64(connection.userConnection?.features.count ?? 0))),
        ])
    }
}

struct IFTTTDisconnect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disconnect", abstract: "Turn a connection off.",
        discussion: "On a terminal the command asks first, unless --yes is given. The user token is kept.")

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup var options: IFTTTOptions

    func run() async throws {
        let tokens = try await options.knownTokens()
        let connection = try await IFTTTFailure.reported {
            guard try await tokens.token() != nil else { throw options.absent }
            let api = try options.api(tokens)
            let connection = try await api.connection(options.connection)
            try await confirm(connection)
            return try await api.disable(options.connection)
        }
        if options.common.json {
            Output.result(IFTTTShow.json(connection).text)
        } else {
            Output.note("\(quoted(connection.name, limit: 200)) is off.")
        }
    }

    private func confirm(_ connection: Connection) async throws {
        guard StandardInput.isTerminal, !yes else { return }
        let answer = try await Prompt.line(
            "Disconnect “\(quoted(connection.name, limit: 200))”? [y/N]", wanted: "the answer")
        guard ["y", "yes"].contains(answer.lowercased()) else {
            throw CommandError(status: .abandoned, code: "kept", message: "nothing was done; it is still connected")
        }
    }
}

struct IFTTTToken: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Print the user token: the kept one, or one for a user of the partner.",
        discussion: """
            With --service-key-file, --user and --access-token-file it is asked for in the partner's name and not kept. Give it to a \
            program through a pipe or a variable, not as an argument, which every process can read.
            """)

    @Option(
        name: .customLong("service-key-file"),
        help: ArgumentHelp("A file with the partner's service key, or -.", valueName: "file"))
    var serviceKeyFile: String?

    @Option(help: ArgumentHelp("The partner's own identifier of the user.", valueName: "id"))
    var user: String?

    @Option(
        name: .customLong("access-token-file"),
        help: ArgumentHelp("A file with the partner's token that was granted to IFTTT, or -.", valueName: "file"))
    var accessTokenFile: String?

    @OptionGroup var options: IFTTTOptions

    func run() async throws {
        let token: UserToken = try await IFTTTFailure.reported { try await self.token() }
        if options.common.json {
            Output.result(JSONText.object([("user_token", .string(token.secret.reveal()))]).text)
        } else {
            Output.result(token.secret.reveal())
        }
    }

    private func token() async throws -> UserToken {
        switch (serviceKeyFile, user, accessTokenFile) {
        case (nil, nil, nil):
            guard let token = try await options.knownTokens().token() else { throw options.absent }
            return token
        case (let key?, let user?, let access?):
            // In this order, when both come on standard input.
            let service = ConnectService(
                key: try SecretFile.read(key, what: "service key"), at: Hosts(of: try options.service()))
            return try await service.userToken(
                for: user, accessToken: try SecretFile.read(access, what: "access token"))
        default:
            throw CommandError.usage("--service-key-file, --user and --access-token-file belong together")
        }
    }
}
