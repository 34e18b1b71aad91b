#if CommandLine
import ArgumentParser
import Foundation
import IFTTTConnect
import OAuth

/// What running and performing share.
struct IFTTTRunOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A value instead of the stored one, for this call; repeatable.", valueName: "name=value"))
    var field: [String] = []

    @Option(
        name: .customLong("field-json"),
        help: ArgumentHelp(
            "The same for a value that is not text: a place, such as {\"lat\":52.5,\"lng\":13.4,\"radius\":200}, or a list of choices, such as [\"a\",\"b\"].",
            valueName: "name=json"))
    var fieldJSON: [String] = []

    @Option(
        name: .customLong("user-feature"),
        help: ArgumentHelp("Which of the user's configurations; the first unless given.", valueName: "id"))
    var userFeature: String?

    @OptionGroup var service: IFTTTServiceOptions

    func options() throws -> RunOptions {
        var fields: [String: FieldValue] = [:]
        func set(_ pair: String, _ option: String, _ form: String, _ read: (String, String) throws -> FieldValue) throws
        {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw CommandError.usage("\(option) takes NAME=\(form), not “\(quoted(pair, limit: 80))”.")
            }
            guard fields.updateValue(try read(parts[1], parts[0]), forKey: parts[0]) == nil else {
                throw CommandError.usage("The field “\(quoted(parts[0], limit: 80))” is given twice.")
            }
        }
        for pair in field { try set(pair, "--field", "VALUE") { text, _ in .text(text) } }
        for pair in fieldJSON { try set(pair, "--field-json", "JSON", Self.value) }
        return RunOptions(for: service.user, userFeatureID: userFeature, fields: fields)
    }

    private static func value(_ text: String, of field: String) throws -> FieldValue {
        do {
            return try FieldValue(written: try JSONValue(parsing: Array(text.utf8)), at: field)
        } catch let error as ConnectError {
            throw CommandError.usage("--field-json \(error)")
        } catch is JSONValue.SyntaxError {
            throw CommandError.usage(
                "--field-json “\(quoted(field, limit: 80))”: “\(quoted(text, limit: 80))” is not valid JSON.")
        }
    }
}

struct IFTTTRun: BoundedCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run an action of a connection, once.")

    @Option(help: .timeout)
    var timeout = 60

    @OptionGroup var run: IFTTTRunOptions

    // After the connection, which the option group declares.
    @Argument(help: "The action, as in lumen_garden.start_drip.")
    var action: String

    func run() async throws {
        let action = try ComponentSlug(action, of: .action)
        let options = try run.options()
        try await IFTTTFailure.reported {
            try await run.service.service().run(action, in: run.service.options.connection, options)
        }
        if run.service.options.common.json {
            Output.result(JSONText.object([("action", .string("\(action)")), ("ran", .bool(true))]).text)
        } else {
            Output.note("IFTTT ran \(action).")
        }
    }
}

struct IFTTTPerform: BoundedCommand {
    static let configuration = CommandConfiguration(
        commandName: "perform", abstract: "Perform a query of a connection and print its rows.",
        discussion: "With --json each row is one JSON object on a line of its own.")

    /// The maximum page size; more rows are fetched page by page.
    private static let maximumPageSize = 50

    @Option(help: ArgumentHelp("The maximum number of rows; by default all.", valueName: "number"))
    var limit: Int?

    @Option(help: ArgumentHelp("A complex ingredient to return as a list; repeatable.", valueName: "name"))
    var include: [String] = []

    @Option(help: .timeout)
    var timeout = 60

    @OptionGroup var run: IFTTTRunOptions

    // After the connection, which the option group declares.
    @Argument(help: "The query, as in lumen_garden.list_plants.")
    var query: String

    func run() async throws {
        let query = try ComponentSlug(query, of: .query)
        guard limit.map({ $0 > 0 }) ?? true else { throw CommandError.usage("--limit takes a number of 1 or more.") }
        let options = try run.options()
        try await IFTTTFailure.reported {
            let page = QueryPage.Request(limit: limit.map { min($0, Self.maximumPageSize) }, includes: include)
            let rows = try await run.service.service().rows(
                of: query, in: run.service.options.connection, options, page: page)
            var count = 0
            for try await row in rows {
                count += 1
                show(row)
                // Stops before the next row, which may be on another page.
                if count == limit { break }
            }
            if count == 0 { Output.note("\(query) has no rows.") }
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

struct IFTTTTest: BoundedCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Have IFTTT send the partner a webhook as if a trigger had fired.")

    @Option(
        name: .customLong("user-feature"),
        help: ArgumentHelp("Which of the user's configurations; the first unless given.", valueName: "id"))
    var userFeature: String?

    @Option(help: .timeout)
    var timeout = 60

    @OptionGroup var service: IFTTTServiceOptions

    // After the connection, which the option group declares.
    @Argument(help: "The trigger, as in location.exit_region_location.")
    var trigger: String

    func run() async throws {
        let trigger = try ComponentSlug(trigger, of: .trigger)
        try await IFTTTFailure.reported {
            try await service.service().test(
                trigger, in: service.options.connection, RunOptions(for: service.user, userFeatureID: userFeature))
        }
        if service.options.common.json {
            Output.result(JSONText.object([("trigger", .string("\(trigger)")), ("tested", .bool(true))]).text)
        } else {
            Output.note("IFTTT tests \(trigger) and sends the partner a webhook.")
        }
    }
}
#endif
