import ArgumentParser
import Foundation
import IFTTTConnect
import OAuth

struct IFTTTFieldOptions: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "options",
        abstract: "List what can be chosen for the fields of a trigger, query, action or feature.",
        discussion: "The names are in: handshake ifttt show CONNECTION.")

    @Option(help: ArgumentHelp("A trigger, as in location.exit_region_location.", valueName: "slug"))
    var trigger: String?

    @Option(help: ArgumentHelp("A query, as in lumen_garden.list_plants.", valueName: "slug"))
    var query: String?

    @Option(help: ArgumentHelp("An action, as in lumen_garden.start_drip.", valueName: "slug"))
    var action: String?

    @Option(help: ArgumentHelp("A feature's identifier.", valueName: "id"))
    var feature: String?

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
        guard !fields.isEmpty else { return Output.note("There is nothing to choose.") }
        let rows = fields.flatMap { name, options in
            options.map { [name, $0.value, $0.label ?? "", $0.group ?? ""] }
        }
        for line in Table.lines([["FIELD", "VALUE", "LABEL", "GROUP"]] + rows) { Output.result(line) }
    }

    private func owner() throws -> FieldOwner {
        let owners: [FieldOwner] = [
            try trigger.map { .trigger(try ComponentSlug(argument: $0)) },
            try query.map { .query(try ComponentSlug(argument: $0)) },
            try action.map { .action(try ComponentSlug(argument: $0)) }, feature.map { .feature($0) },
        ].compactMap(\.self)
        guard owners.count == 1, let owner = owners.first else {
            throw CommandError.usage("name one of --trigger, --query, --action and --feature")
        }
        return owner
    }

    private static func json(_ option: FieldValue.Option) -> JSONText {
        .object([
            ("value", .string(option.value)), ("label", .optional(option.label)), ("group", .optional(option.group)),
        ])
    }
}

struct IFTTTUpdate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "update", abstract: "Replace how a user has configured a connection.",
        discussion: """
            What the configuration leaves out is removed. A pending connection works afterwards.

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

    @OptionGroup var service: IFTTTServiceOptions

    func run() async throws {
        // In this order, when both come on standard input.
        let partner = try service.service()
        let wanted = try wanted()
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

    private func wanted() throws -> UserConnection {
        do {
            return try UserConnection(document: try JSONValue(parsing: try content()))
        } catch let error as ConnectError {
            throw CommandError.usage(
                "\(quoted(configuration, limit: 200)): \(error); see its form with: handshake help ifttt update")
        } catch let error as JSONValue.SyntaxError {
            throw CommandError.usage("\(quoted(configuration, limit: 200)) is not JSON: \(error)")
        }
    }

    private func content() throws -> [UInt8] {
        if configuration == "-" {
            var text = ""
            while let line = readLine(strippingNewline: false) { text += line }
            return Array(text.utf8)
        }
        guard let content = FileManager.default.contents(atPath: Settings.absolute(configuration)) else {
            throw CommandError.usage("\(quoted(configuration, limit: 200)) cannot be read")
        }
        return Array(content)
    }
}

/// What running and performing share.
struct IFTTTRunOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A value that takes the place of the stored one, this once; repeatable.", valueName: "name=value"))
    var field: [String] = []

    @Option(
        name: .customLong("user-feature"),
        help: ArgumentHelp("Which of the user's configurations; the first unless stated.", valueName: "id"))
    var userFeature: String?

    @OptionGroup var service: IFTTTServiceOptions

    func options() throws -> RunOptions {
        var fields: [String: FieldValue] = [:]
        for pair in field {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw CommandError.usage("--field takes NAME=VALUE, not “\(pair)”")
            }
            guard fields.updateValue(.text(parts[1]), forKey: parts[0]) == nil else {
                throw CommandError.usage("--field \(parts[0]) is given twice")
            }
        }
        return RunOptions(for: service.user, userFeatureID: userFeature, fields: fields)
    }
}

struct IFTTTRun: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run an action of a connection, once.")

    @OptionGroup var run: IFTTTRunOptions

    // Behind the connection, which is the group's.
    @Argument(help: "The action, as in lumen_garden.start_drip.", transform: { try ComponentSlug(argument: $0) })
    var action: ComponentSlug

    func run() async throws {
        let options = try run.options()
        try await IFTTTFailure.reported {
            try await run.service.service().run(action, in: run.service.options.connection, options)
        }
        if run.service.options.common.json {
            Output.result(JSONText.object([("action", .string("\(action)")), ("ran", .bool(true))]).text)
        } else {
            Output.note("\(action) was run.")
        }
    }
}

struct IFTTTPerform: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "perform", abstract: "Perform a query of a connection and print what it finds, page by page.",
        discussion: "With --json each row is one JSON object on a line of its own.")

    /// The most rows that one page is asked for; more come page by page.
    private static let longestPage = 50

    @Option(help: ArgumentHelp("How many rows at most; all unless stated.", valueName: "number"))
    var limit: Int?

    @Option(help: ArgumentHelp("A complex ingredient that is to come as a list; repeatable.", valueName: "name"))
    var include: [String] = []

    @OptionGroup var run: IFTTTRunOptions

    // Behind the connection, which is the group's.
    @Argument(help: "The query, as in lumen_garden.list_plants.", transform: { try ComponentSlug(argument: $0) })
    var query: ComponentSlug

    func run() async throws {
        guard limit.map({ $0 > 0 }) ?? true else { throw CommandError.usage("--limit is positive") }
        let options = try run.options()
        try await IFTTTFailure.reported {
            let page = QueryPage.Request(limit: limit.map { min($0, Self.longestPage) }, includes: include)
            let rows = try run.service.service().rows(
                of: query, in: run.service.options.connection, options, page: page)
            var count = 0
            for try await row in rows {
                if let limit, count >= limit { break }
                count += 1
                show(row)
            }
            if count == 0 { Output.note("\(query) found nothing.") }
        }
    }

    private func show(_ row: QueryRows.Element) {
        let members = row.sorted { $0.key < $1.key }.map { ($0.key, Self.json($0.value)) }
        if run.service.options.common.json {
            Output.result(JSONText.object(members).text)
        } else {
            for line in Table.lines(members.map { [$0.0, $0.1.text] }) { Output.result(line) }
            Output.result("")
        }
    }

    private static func json(_ ingredient: QueryPage.Ingredient) -> JSONText {
        switch ingredient {
        case .value(let value): JSONText(value)
        case .query(let fields): .object([("query", JSONText(.object(fields)))])
        case .list(let page):
            .array(page.rows.map { .object($0.sorted { $0.key < $1.key }.map { ($0.key, json($0.value)) }) })
        }
    }
}

extension ComponentSlug {
    /// `service.name` from the command line.
    init(argument text: String) throws {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else {
            throw CommandError.usage(
                "“\(quoted(text, limit: 80))” is no service and name, as in lumen_garden.start_drip")
        }
        self.init(service: parts[0], name: parts[1])
    }
}
