import ArgumentParser
import Handshake
import OAuth
import Sequencing

struct SequencingReportFile: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report-file", abstract: "Save a report's file.",
        discussion: "The file appears under its name only when it is complete.")

    @Argument(help: "The file's number: the value of a Pdf property.")
    var id: Int64

    @Option(name: .shortAndLong, help: ArgumentHelp("Where to save it.", valueName: "path"))
    var output: String

    @Flag(help: "Replace a file that is there.")
    var force = false

    @OptionGroup var options: SequencingOptions

    func run() async throws {
        let genome = try await options.genome()
        let path = Settings.absolute(output)
        let bar = ProgressLine()
        defer { bar.clear() }
        try await SequencingFailure.reported {
            try await genome.save(ReportFileID(id), to: path, replacing: force) { state in
                bar.show(
                    "\(state.received) bytes", done: state.total.map { Double(state.received) / Double(max($0, 1)) })
            }
        }
        bar.clear()
        if options.common.json {
            Output.result(JSONText.object([("id", .integer(id)), ("path", .string(path))]).text)
        } else {
            Output.note("Saved as \(path).")
        }
    }
}
