#if CommandLine
import ArgumentParser
import FileSelector
import Handshake
import OAuth
import Sequencing

struct SequencingFile: BoundedCommand {
    static let configuration = CommandConfiguration(
        commandName: "file", abstract: "Show what is known of a genetic file.",
        discussion: "The file's identifier is in the first column of: handshake sequencing files")

    @Argument(help: "The file's identifier.")
    var id: String

    @Option(help: .timeout)
    var timeout = 60

    @OptionGroup var options: SequencingOptions

    func run() async throws {
        let wanted = FileID(id)
        let found: GeneticFile? = try await options.use { genome, _ in
            guard let wanted else { return nil }
            return try await genome.file(wanted)
        }
        guard let file = found else {
            throw CommandError(
                status: .serviceError, code: "file_not_found",
                message:
                    "The account has no file “\(quoted(id, limit: 200))”. List the files with: \(options.command("files"))"
            )
        }
        if options.common.json {
            Output.result(JSONText.object([("file", SequencingFiles.json(file))]).text)
        } else {
            for line in Table.lines(file.englishDetails.map { [$0.label, $0.value] }) { Output.result(line) }
        }
    }
}
#endif
