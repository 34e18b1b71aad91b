#if CommandLine
import ArgumentParser
import Foundation
import Handshake
import OAuth
import Sequencing

struct SequencingChain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chain", abstract: "Run one app chain on a file and print its report.",
        discussion: "Without --file, the account's only own file is used; with several, a terminal is asked.")

    @Argument(help: "The chain, for example Chain9 or 9.", transform: SequencingRunOptions.code)
    var chain: AppCode

    @OptionGroup var run: SequencingRunOptions

    func run() async throws {
        try await run.execute([chain])
    }
}

struct SequencingChains: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chains", abstract: "Run several app chains on a file in one request and print their reports.",
        discussion: """
            The exit status is 4 when one of them has no report; the other reports are printed. When all fail with the same error, \
            the status is that error's. If the wait fails, it prints the reports that have arrived and ends with that failure's status.
            """)

    @Argument(help: "The chains, for example Chain9 Chain88.", transform: SequencingRunOptions.code)
    var chains: [AppCode]

    @OptionGroup var run: SequencingRunOptions

    func run() async throws {
        try await run.execute(chains)
    }
}

/// What the two commands that run chains share.
struct SequencingRunOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The file's identifier.", valueName: "id"))
    var file: String?

    @OptionGroup var reports: SequencingReportOptions

    func execute(_ chains: [AppCode]) async throws {
        try await reports.show { genome, _ in
            let id = try await chooseFile(genome)
            // One that is named twice would run twice.
            var named: Set<AppCode> = []
            return .start(chains.filter { named.insert($0).inserted }.map { ChainCall($0, on: id) })
        }
    }

    /// A chain's code from the command line.
    static func code(_ text: String) throws -> AppCode {
        guard let code = AppCode(text) else {
            throw ValidationError("“\(quoted(text, limit: 80))” is not the code of an app chain, for example Chain9.")
        }
        return code
    }
}

extension SequencingRunOptions {
    /// The file that the user named, otherwise the only own one, otherwise the one chosen at the terminal.
    private func chooseFile(_ genome: Sequencing) async throws -> FileID {
        if let file {
            guard let id = FileID(file) else {
                throw CommandError.usage(
                    "“\(quoted(file, limit: 80))” is not the identifier of a file. List them with: \(reports.options.command("files"))"
                )
            }
            return id
        }
        let files = try await genome.files()
        let own = files.filter { !$0.isSample }
        if own.count == 1, let only = own.first { return only.id }
        guard FileQuestion.canBeAsked else {
            throw CommandError.usage(
                files.isEmpty
                    ? "The account has no files. Upload one at sequencing.com."
                    : "The account has \(files.count) files. Choose one with --file ID. List them with: \(reports.options.command("files"))"
            )
        }
        return try await FileQuestion.ask(own.isEmpty ? files : own).id
    }
}
#endif
