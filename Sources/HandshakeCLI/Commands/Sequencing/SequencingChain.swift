#if CommandLine
import ArgumentParser
import Foundation
import Handshake
import OAuth
import Sequencing

struct SequencingChain: BoundedCommand {
    static let configuration = CommandConfiguration(
        commandName: "chain", abstract: "Run one app chain on a file and print its report.",
        discussion: "Without --file, the account's only own file is used; with several, a terminal is asked.")

    @Argument(help: "The chain, for example Chain9 or 9.", transform: SequencingRunOptions.code)
    var chain: AppCode

    @OptionGroup var run: SequencingRunOptions

    var timeout: Int { run.timeout }

    func run() async throws {
        try await run.execute([chain])
    }
}

struct SequencingChains: BoundedCommand {
    static let configuration = CommandConfiguration(
        commandName: "chains", abstract: "Run several app chains on a file in one request and print their reports.",
        discussion: """
            The exit status is 4 when one of them has no report; the other reports are printed. When all fail with the same error, \
            the status is that error's.
            """)

    @Argument(help: "The chains, for example Chain9 Chain88.", transform: SequencingRunOptions.code)
    var chains: [AppCode]

    @OptionGroup var run: SequencingRunOptions

    var timeout: Int { run.timeout }

    func run() async throws {
        try await run.execute(chains)
    }
}

/// What the two commands that run chains share.
struct SequencingRunOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The file's identifier.", valueName: "id"))
    var file: String?

    @Option(help: .timeout)
    var timeout = 120

    @OptionGroup var options: SequencingOptions

    func execute(_ chains: [AppCode]) async throws {
        // Slightly shorter, so that the last error names the jobs that continue at the service.
        let polling = Polling(timeout: .seconds(timeout) - .milliseconds(500))
        let last = try await options.use(polling: polling) { genome in
            let id = try await chooseFile(genome)
            return try await follow(genome.run(chains.map { ChainCall($0, on: id) }))
        }
        if options.common.json {
            Output.result(JSONText.object([("chains", .array(zip(chains, last.chains).map(Self.json)))]).text)
        } else {
            for (chain, state) in zip(chains, last.chains) { show(chain, state, alone: chains.count == 1) }
        }
        try fail(last)
    }

    private func follow(_ run: ChainRun) async throws -> ChainProgress {
        let bar = ProgressLine()
        defer { bar.clear() }
        var last: ChainProgress?
        for try await step in run {
            bar.show(
                "\(step.endedCount) of \(step.chains.count) ended",
                done: Double(step.endedCount) / Double(step.chains.count))
            last = step
        }
        guard let last else { throw CancellationError() }
        return last
    }

    /// A chain's code from the command line.
    static func code(_ text: String) throws -> AppCode {
        guard let code = AppCode(text) else {
            throw ValidationError("“\(quoted(text, limit: 80))” is not the code of an app chain, for example Chain9.")
        }
        return code
    }

    /// The chains without a report decide the exit status: if all have the same error, it is that one.
    private func fail(_ last: ChainProgress) throws {
        let errors = last.chains.compactMap { state -> SequencingError? in
            switch state.result {
            case .failure(let error): error
            case .success(let report): report.succeeded ? nil : .unsuccessful(report)
            case nil: nil
            }
        }
        if let error = errors.first, errors.count == last.chains.count, Set(errors.map(\.code)).count == 1 {
            throw SequencingFailure.commandError(error)
        }
        guard errors.isEmpty else {
            throw CommandError(
                status: .serviceError, code: "chains_failed",
                message: "\(errors.count) of \(last.chains.count) chains have no report. The reasons are above.")
        }
    }

    /// - Parameter alone: whether it is the only chain, whose failure is the command's.
    private func show(_ chain: AppCode, _ state: ChainState, alone: Bool) {
        switch state.result {
        case .success(let report):
            Output.result("\(chain)\(report.succeeded ? "" : ": no result for this file")")
            let rows = report.properties.map { ["  " + Self.words(of: $0.name), $0.value.text] }
            for line in Table.lines(rows) { Output.result(line) }
        case .failure(let error): if !alone { Output.note("\(chain): \(error)") }
        case nil: break
        }
    }

    /// A property's name as words: “Risk description” for `RiskDescription`.
    private static func words(of name: String) -> String {
        var words = ""
        for character in name {
            let begins = character.isUppercase && words.last?.isLowercase == true
            words +=
                (begins ? " " : "")
                + (words.isEmpty ? character.uppercased() : begins ? character.lowercased() : String(character))
        }
        return words
    }

    private static func json(_ chain: AppCode, _ state: ChainState) -> JSONText {
        var members: [(String, JSONText)] = [
            ("chain", .string(chain.string)), ("job", state.job.map { .integer($0.number) } ?? .null),
        ]
        switch state.result {
        case .success(let report):
            members += [
                ("succeeded", .bool(report.succeeded)), ("properties", .array(report.properties.map(Self.json))),
            ]
        case .failure(let error):
            members.append(
                ("error", .object([("code", .string(error.code)), ("message", .string(error.description))])))
        case nil: break
        }
        return .object(members)
    }

    private static func json(_ property: ReportProperty) -> JSONText {
        .object([
            ("name", .string(property.name)), ("type", .string(property.value.type)),
            ("value", .string(property.value.text)),
            ("title", .optional(property.title)), ("subtitle", .optional(property.subtitle)),
            ("description", .optional(property.description)), ("subtype", .optional(property.subtype)),
        ])
    }
}

extension SequencingRunOptions {
    /// The file that the user named, otherwise the only own one, otherwise the one chosen at the terminal.
    private func chooseFile(_ genome: Sequencing) async throws -> FileID {
        if let file {
            guard let id = FileID(file) else {
                throw CommandError.usage(
                    "“\(quoted(file, limit: 80))” is not the identifier of a file. List them with: handshake sequencing files"
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
                    : "The account has \(files.count) files. Choose one with --file ID. List them with: handshake sequencing files"
            )
        }
        return try await FileQuestion.ask(own.isEmpty ? files : own).id
    }
}
#endif
