#if CommandLine
import ArgumentParser
import FileSelector
import Handshake
import OAuth
import Sequencing

struct SequencingFiles: BoundedCommand {
    static let configuration = CommandConfiguration(
        commandName: "files", abstract: "List genetic files.",
        discussion: "Without an option, all files are listed: the account's own and the service's samples.")

    @Flag(help: "Every file (the default).")
    var all = false

    @Flag(help: "Sample files.")
    var sample = false

    @Flag(help: "The user's uploads.")
    var uploaded = false

    @Flag(help: "Files shared with the user.")
    var shared = false

    @Flag(help: "Files saved from apps.")
    var fromApps = false

    @Flag(help: "Files of altruists.")
    var altruist = false

    @Option(help: ArgumentHelp("Only files that contain every word.", valueName: "text"))
    var search: String?

    @Option(help: "How the list is ordered: service, name, newest, oldest or category.", transform: Self.order)
    var order: FileSelectorState.Order = .service

    @Option(help: .timeout)
    var timeout = 60

    @OptionGroup var options: SequencingOptions

    func run() async throws {
        let list = try await options.use { genome, _ in try await genome.fileList(subset) }
        let files = list.files
        let shown = GeneticFile.matching(files, search: search ?? "", order: order)
        if options.common.json {
            let unreadable = JSONText.integer(Int64(list.unreadable.count))
            Output.result(
                JSONText.object([("files", .array(shown.map(Self.json))), ("unreadable", unreadable)]).text)
            return
        }
        for error in list.unreadable { Output.note("One file cannot be shown: \(error)") }
        guard !shown.isEmpty else {
            let why = files.isEmpty ? "There are no such files." : "None of \(files.count) files matches the search."
            return Output.note(why)
        }
        let rows = shown.map { file in
            [
                file.id.string, file.englishCategory, file.displayName, file.type ?? "", file.population ?? "",
                file.englishDateAdded ?? "",
            ]
        }
        for line in Table.lines([["ID", "CATEGORY", "NAME", "TYPE", "POPULATION", "ADDED"]] + rows) {
            Output.result(line)
        }
    }

    private var subset: FileSubset {
        let chosen: [(Bool, FileSubset)] = [
            (all, .all), (sample, .sample), (uploaded, .uploaded), (shared, .shared), (fromApps, .fromApps),
            (altruist, .altruist),
        ]
        let subset = chosen.filter(\.0).reduce(into: FileSubset()) { $0.insert($1.1) }
        return subset.isEmpty ? .all : subset
    }

    private static func order(_ text: String) throws -> FileSelectorState.Order {
        guard let order = FileSelectorState.Order(rawValue: text) else {
            throw ValidationError(
                "--order takes one of \(FileSelectorState.Order.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return order
    }

    static func json(_ file: GeneticFile) -> JSONText {
        .object([
            ("id", .string(file.id.string)), ("name", .string(file.name)), ("display_name", .string(file.displayName)),
            ("category", .string(file.category.word)), ("added", .optional(file.dateAdded)),
            ("extension", .optional(file.fileExtension)), ("type", .optional(file.type)),
            ("subtype", .optional(file.subtype)), ("population", .optional(file.population)),
            ("sex", .optional(file.sex?.word)), ("persona", .optional(file.personaName)),
            ("description", .optional(file.personaDescription)),
        ])
    }
}
#endif
