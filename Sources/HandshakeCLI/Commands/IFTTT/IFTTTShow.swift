#if CommandLine
import ArgumentParser
import Handshake
import IFTTTConnect
import OAuth

struct IFTTTShow: BoundedCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a connection: its services, features, and whether it is on for the user.",
        discussion: """
            Without a user token the status is unknown. options, run, perform and test take the names of triggers, queries and \
            actions; --user-feature takes the identifier of a configuration.
            """)

    @Option(help: .timeout)
    var timeout = 60

    @OptionGroup var options: IFTTTOptions

    func run() async throws {
        let connection = try await IFTTTFailure.reported {
            let tokens = try await options.keptTokens()
            return try await options.api(tokens, invite: try await options.inviteCode())
                .connection(options.connection)
        }
        if options.common.json {
            Output.result(Self.json(connection).text)
        } else {
            for line in Self.lines(connection) { Output.result(line) }
        }
    }

    /// The text output. Texts of the service are escaped.
    static func lines(_ connection: Connection) -> [String] {
        let services = connection.services.map { $0.name + ($0.isPrimary ? " (owner)" : "") }.joined(separator: ", ")
        var rows = [
            ["Connection", connection.id.rawValue], ["Name", connection.name],
            ["Status", connection.status.rawValue.replacing("_", with: " ")], ["Services", services],
            ["Page", connection.url.rawValue],
        ]
        rows += connection.features.flatMap(Self.rows)
        rows += (connection.userConnection?.features ?? []).map {
            ["Configured", "\($0.featureID), \($0.isEnabled ? "on" : "off")" + ($0.id.map { " (\($0))" } ?? "")]
        }
        return Table.lines(rows)
    }

    /// A feature with the identifiers that other commands take.
    private static func rows(_ feature: Connection.Feature) -> [[String]] {
        // Identifiers first, because a long title is truncated.
        var rows = [
            ["Feature", [feature.id, feature.title, feature.details].compactMap(\.self).joined(separator: ": ")]
        ]
        rows += feature.fields.map(Self.row)
        for (kind, _, components) in feature.components {
            for component in components {
                let name = component.slug.map { "\($0)" } ?? component.id
                let label = component.label.map { ": \($0)" } ?? ""
                rows.append(["  \(kind)", "\(name) (\(component.id))\(label)"])
                rows += component.fields.map(Self.row)
            }
        }
        return rows
    }

    private static func row(_ field: FieldDefinition) -> [String] {
        let label = field.label.map { ": \($0)" } ?? ""
        return ["    Field", "\(field.id) (\(field.type.rawValue)\(field.isRequired ? ", required" : ""))\(label)"]
    }

    /// The JSON output.
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
                    connection.features.map { feature in
                        .object(
                            [
                                ("id", .optional(feature.id)), ("title", .string(feature.title)),
                                ("details", .optional(feature.details)), ("fields", json(feature.fields)),
                            ]
                                + feature.components.map { ($0.plural, .array($0.components.map(Self.json))) })
                    })
            ),
            ("configurations", .integer(Int64(connection.userConnection?.features.count ?? 0))),
            ("user_connection", connection.userConnection.map(Self.json) ?? .null),
            ("user_triggers", .array(connection.userTriggers.map(Self.json))),
        ])
    }

    private static func json(_ trigger: UserTrigger) -> JSONText {
        .object([
            ("id", .string(trigger.id)), ("trigger", .optional(trigger.slug.map { "\($0)" })),
            ("latitude", .number("\(trigger.area.latitude)")), ("longitude", .number("\(trigger.area.longitude)")),
            ("radius", trigger.area.radius.map { .number("\($0)") } ?? .null),
            ("address", .optional(trigger.area.address)),
        ])
    }

    private static func json(_ component: Connection.Component) -> JSONText {
        .object([
            ("id", .string(component.id)), ("name", .optional(component.slug.map { "\($0)" })),
            ("label", .optional(component.label)), ("fields", json(component.fields)),
        ])
    }

    private static func json(_ fields: [FieldDefinition]) -> JSONText {
        .array(
            fields.map {
                .object([
                    ("id", .string($0.id)), ("label", .optional($0.label)), ("type", .string($0.type.rawValue)),
                    ("required", .bool($0.isRequired)),
                ])
            })
    }

    /// The form of an update, plus the identifiers of the configurations, which an update ignores.
    private static func json(_ configuration: UserConnection) -> JSONText {
        let entries = configuration.document.object?["user_features"]?.array ?? []
        return .object([
            (
                "user_features",
                .array(
                    zip(configuration.features, entries).map { feature, entry in
                        var members = entry.object ?? [:]
                        members["id"] = feature.id.map(JSONValue.string)
                        return JSONText(.object(members))
                    })
            )
        ])
    }
}

extension Connection.Feature {
    /// Its triggers, queries and actions.
    fileprivate var components: [(kind: String, plural: String, components: [Connection.Component])] {
        [("Trigger", "triggers", triggers), ("Query", "queries", queries), ("Action", "actions", actions)]
    }
}

extension Connection.Component {
    /// Its slug; nil when the service does not state it.
    fileprivate var slug: ComponentSlug? {
        guard let serviceID, let kindID else { return nil }
        return ComponentSlug(service: serviceID, name: kindID)
    }
}

struct IFTTTDisconnect: BoundedCommand {
    static let configuration = CommandConfiguration(
        commandName: "disconnect", abstract: "Turn a connection off.",
        discussion: "On a terminal the command asks first, unless --yes is given. The user token stays stored.")

    @Flag(help: "Do not ask.")
    var yes = false

    @Option(help: .timeout)
    var timeout = 60

    @OptionGroup var options: IFTTTOptions

    func run() async throws {
        let tokens = try await options.knownTokens()
        let connection = try await IFTTTFailure.reported {
            guard try await tokens.token() != nil else { throw options.absent }
            let api = try options.api(tokens, invite: try await options.inviteCode())
            let connection = try await api.connection(options.connection)
            try await confirm(connection)
            let answered = try await api.disable(options.connection)
            guard answered.status != .enabled else { throw IFTTTFailure.commandError(.notConfirmed(.enabled)) }
            return answered
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
            throw CommandError(
                status: .abandoned, code: "kept", message: "Nothing was done. The connection is still on.")
        }
    }
}

struct IFTTTToken: BoundedCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Print the stored user token, or request one for a user of the partner.",
        discussion: """
            With --service-key-file, --user and --access-token-file it is requested for the partner and not stored. Pass it to a \
            program through a pipe or a variable. Other processes can read arguments.
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

    @Option(help: .timeout)
    var timeout = 60

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
                key: try await SecretLine.read(key, what: "service key", option: "--service-key-file"),
                at: try options.host.hosts())
            return try await service.userToken(
                for: user,
                accessToken: try await SecretLine.read(access, what: "access token", option: "--access-token-file"))
        default:
            throw CommandError.usage("--service-key-file, --user and --access-token-file have to be given together.")
        }
    }
}
#endif
