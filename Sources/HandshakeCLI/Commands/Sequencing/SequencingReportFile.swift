#if CommandLine
import ArgumentParser
import Handshake
import OAuth
import Sequencing

struct SequencingReportFile: BoundedCommand {
    static let configuration = CommandConfiguration(
        commandName: "report-file", abstract: "Save a report's file.",
        discussion: "The file appears under its name only when it is complete.")

    @Argument(help: "The file's number: the value of a document (Pdf) or a file of data (DataFile) in a report.")
    var id: Int64

    @Option(name: .shortAndLong, help: ArgumentHelp("Where to save it.", valueName: "path"))
    var output: String

    @Flag(help: "Replace an existing file.")
    var force = false

    @Option(help: .timeout)
    var timeout = 3600

    @OptionGroup var options: SequencingOptions

    func run() async throws {
        let path = Settings.absolute(output)
        let bar = ProgressLine()
        defer { bar.clear() }
        try await options.use { genome, _ in
            try await genome.save(ReportFileID(id), to: path, replacing: force) { bar.show($0) }
        }
        bar.clear()
        if options.common.json {
            Output.result(JSONText.object([("id", .integer(id)), ("path", .string(path))]).text)
        } else {
            Output.note("Saved as “\(quoted(path, limit: 4096))”.")
        }
    }
}
#endif
