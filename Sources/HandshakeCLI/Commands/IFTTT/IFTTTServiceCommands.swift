#if CommandLine
import ArgumentParser
import Foundation
import IFTTTConnect
import OAuth

struct IFTTTFieldOptions: BoundedCommand {
    static let configuration = CommandConfiguration(
        commandName: "options",
        abstract: "List the choices for the fields of a trigger, query, action or feature.",
        discussion: """
            handshake ifttt show CONNECTION lists the names. --feature together with another option selects that feature's part.
            """)

    @Option(help: ArgumentHelp("A trigger, as in location.exit_region_location.", valueName: "slug"))
    var trigger: String?

    @Option(help: ArgumentHelp("A query, as in lumen_garden.list_plants.", valueName: "slug"))
    var query: String?

    @Option(help: ArgumentHelp("An action, as in lumen_garden.start_drip.", valueName: "slug"))
    var action: String?

    @Option(help: ArgumentHelp("A feature's identifier.", valueName: "id"))
    var feature: String?

    @Option(help: .timeout)
    var timeout = 60

    @OptionGroup var service: IFTTTServiceOptions

    func run() async throws {
        let owner = try owner()
        let options = try await IFTTTFailure.reported {
            try await service.service().fieldOptions(of: owner, in: service.options.connection, for: service.user)
        }
        let fields = options.options.sorted { $0.key < $1.key }
        if service.options.common.json {
            let members = fields.map { ($0.key, JSONText.array($0.value.map(Self.json))) }
            return Output.result(JSONText.object([("options", .object(members))]).text)
        }
        guard !fields.isEmpty else { return Output.note("There are no choices.") }
        let rows = fields.flatMap { name, options in
            options.map { [name, $0.value, $0.label ?? "", $0.group ?? ""] }
        }
        for line in Table.lines([["FIELD", "VALUE", "LABEL", "GROUP"]] + rows) { Output.result(line) }
    }

    private func owner() throws -> FieldOwner {
        let parts: [FieldOwner] = [
            try trigger.map { .trigger(try ComponentSlug($0, of: .trigger), feature: feature) },
            try query.map { .query(try ComponentSlug($0, of: .query), feature: feature) },
            try action.map { .action(try ComponentSlug($0, of: .action), feature: feature) },
        ].compactMap(\.self)
        guard parts.count <= 1, let owner = parts.first ?? feature.map(FieldOwner.feature) else {
            throw CommandError.usage("Give one of --trigger, --query and --action, or --feature, or both.")
        }
        return owner
    }

    private static func json(_ option: FieldValue.Option) -> JSONText {
        .object([
            ("value", .string(option.value)), ("label", .optional(option.label)), ("group", .optional(option.group)),
        ])
    }
}

struct IFTTTUpdate: BoundedCommand {
    static let configuration = CommandConfiguration(
        commandName: "update", abstract: "Replace how a user has configured a connection.",
        discussion: """
            What the configuration leaves out is removed. A pending connection is active afterwards.

            The configuration is a JSON object such as
              {"user_features": [{"feature_id": "ft01", "enabled": true,
                "user_fields": [],
                "user_feature_triggers": [{"feature_trigger_id": "tr01",
                  "user_fields": [{"field_id": "location",
                    "value": {"lat": 52.52, "lng": 13.405, "radius": 200}}]}],
                "user_feature_queries": [],
                "user_feature_actions": [{"feature_action_id": "ac01",
                  "user_fields": [{"field_id": "zone", "value": "zone-7"}]}]}]}
            feature_id and enabled are in each feature; an empty list may be left out. The identifiers are in \
            “handshake ifttt show CONNECTION”, the values of a field to choose from in “handshake ifttt options”. What the user has \
            now is the user_connection of “handshake ifttt show CONNECTION --json”, in this form.
            """)

    @Option(
        help: ArgumentHelp(
            "A file with the configuration, or - for the rest of standard input.", valueName: "file"))
    var configuration: String

    @Option(help: .timeout)
    var timeout = 60

    @OptionGroup var service: IFTTTServiceOptions

    func run() async throws {
        // In this order, when both come on standard input.
        let partner = try await service.service()
        let wanted = try await wanted()
        let id = service.options.connection
        let connection = try await IFTTTFailure.reported {
            _ = try await partner.update(id, to: wanted, for: service.user)
            return try await partner.connection(id, for: service.user)
        }
        if service.options.common.json {
            Output.result(IFTTTShow.json(connection).text)
        } else {
            Output.note("\(quoted(connection.name, limit: 200)) is configured.")
        }
    }

    private func wanted() async throws -> UserConnection {
        do {
            return try UserConnection(document: try JSONValue(parsing: try await content()))
        } catch let error as ConnectError {
            throw CommandError.usage(
                "\(GivenFile.name(configuration)): \(error). See the format with: handshake help ifttt update")
        } catch let error as JSONValue.SyntaxError {
            throw CommandError.usage("\(GivenFile.name(configuration)) is not valid JSON: \(error.problem).")
        }
    }

    private func content() async throws -> [UInt8] {
        if configuration == "-" { return Array(try await StandardInput.rest().utf8) }
        return try await GivenFile.read(configuration, limit: 1 << 24)
    }
}

extension ComponentSlug {
    /// The component that a command line names.
    enum Kind: String {
        case trigger, query, action

        var example: String {
            switch self {
            case .trigger: "location.exit_region_location"
            case .query: "lumen_garden.list_plants"
            case .action: "lumen_garden.start_drip"
            }
        }
    }

    /// `service.name` from the command line.
    ///
    /// - Throws: ``CommandError``.
    init(_ text: String, of kind: Kind) throws(CommandError) {
        guard let slug = ComponentSlug(text) else {
            let article = kind == .action ? "an" : "a"
            throw CommandError.usage(
                "“\(quoted(text, limit: 80))” is not \(article) \(kind.rawValue). Write SERVICE.\(kind.rawValue.uppercased()), for example \(kind.example)."
            )
        }
        self = slug
    }
}
#endif
