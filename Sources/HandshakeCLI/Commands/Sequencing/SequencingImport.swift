#if CommandLine
import ArgumentParser
import Foundation
import Handshake
import OAuth
import Sequencing

struct SequencingImport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Import genetic data from 23andMe or Ancestry into the account.",
        discussion: """
            Sequencing.com needs the login and the password of the other service, and passes them on. They are read from the terminal, \
            or as lines of standard input, and not stored. Standard input gives: login, password, then the answer to the security question \
            or the link from Ancestry's email. Downloading the data yourself and uploading it on the site needs no password.

            An import whose file does not come counts as unfinished for a day, and other imports may wait for it. --resume names its \
            number; --forget gives it up.
            """)

    enum Source: String, ExpressibleByArgument, CaseIterable {
        case twentyThreeAndMe = "23andme"
        case ancestry

        var thirdParty: ThirdPartyImport.Source { self == .ancestry ? .ancestry : .twentyThreeAndMe }
    }

    @Argument(help: "23andme or ancestry.")
    var source: Source

    @Flag(help: "Wait until the import's own file is in the list, at most 10 minutes.")
    var wait = false

    @Flag(help: "Start nothing: wait for the files of imports that were started before.")
    var resume = false

    @Option(
        name: .customLong("forget"),
        help: ArgumentHelp(
            "Start nothing: give up an unfinished import whose file will not come.", valueName: "number"))
    var forgotten: Int?

    @Option(help: .timeout)
    var timeout = 660

    @OptionGroup var options: SequencingOptions

    func validate() throws {
        guard forgotten == nil || !(wait || resume) else {
            throw ValidationError("--forget waits for nothing: leave out --wait and --resume.")
        }
    }

    /// Has a deadline of its own: an import that may run is not started again.
    func run() async throws {
        try CommandDeadline.check(timeout)
        let clock = ImportClock(timeout)
        try await CommandDeadline.run(timeout) {
            clock.mayRun ? unanswered(" within \(timeout) s") : CommandDeadline.expired(timeout)
        } _: {
            try await options.use { genome, vault in
                let unfinished = UnfinishedImports(of: genome, in: vault)
                if let forgotten { return try await forget(forgotten, unfinished) }
                if resume {
                    let left = try await left(unfinished)
                    clock.begin()
                    return try await showArrivals(left, unfinished, clock)
                }
                let (outcome, started) = try await startOnce(genome, unfinished, clock)
                guard case .started = outcome else { throw Self.refusal(outcome) }
                if wait, let started {
                    clock.begin()
                    return try await showArrivals([started], unfinished, clock)
                }
                show([])
            }
        }
    }

    /// The imports from the source whose files have not been seen.
    private func left(_ unfinished: UnfinishedImports) async throws -> [UnfinishedImport] {
        let left = try await unfinished.all.filter { $0.source == source.thirdParty }
        guard !left.isEmpty else {
            throw CommandError.usage(
                "No unfinished imports from \(source.thirdParty.rawValue). Start one with: \(command())")
        }
        return left
    }

    private func command(_ rest: String = "") -> String { options.command("import \(source.rawValue)\(rest)") }

    /// Gives up one import. Its file, if one comes after all, is in the list of files.
    private func forget(_ number: Int, _ unfinished: UnfinishedImports) async throws {
        let left = try await left(unfinished)
        guard let lost = left.first(where: { $0.id == number }) else {
            let numbers = left.map { "\($0.id)" }.joined(separator: ", ")
            throw CommandError.usage(
                "No unfinished import from \(source.thirdParty.rawValue) has the number \(number). The numbers are: \(numbers)"
            )
        }
        try await unfinished.forget(lost)
        if options.common.json { return show([], outcome: "forgotten") }
        Output.note("Import \(number) from \(source.thirdParty.rawValue) is not waited for any more.")
    }

    /// Starts an import. Where its answer is lost, the error names the command that waits for the file, and none that starts another.
    private func startOnce(
        _ genome: Sequencing, _ unfinished: UnfinishedImports, _ clock: ImportClock
    ) async throws -> (outcome: ThirdPartyImport.Outcome, started: UnfinishedImport?) {
        do {
            return try await start(genome, unfinished, clock)
        } catch SequencingError.account(.network(let problem)) where clock.mayRun && problem.mayHaveArrived {
            throw unanswered()
        }
    }

    private func start(
        _ genome: Sequencing, _ unfinished: UnfinishedImports, _ clock: ImportClock
    ) async throws -> (outcome: ThirdPartyImport.Outcome, started: UnfinishedImport?) {
        let imports = ThirdPartyImport(genome)
        let party = source.thirdParty
        let login = try await Prompt.filledLine("Login at \(party.rawValue):", wanted: "the login")
        let credentials = try ThirdPartyImport.Credentials(
            login: login,
            password: try await Prompt.password("Password there (not shown, not stored):", wanted: "the password"))
        switch source {
        case .twentyThreeAndMe:
            let (answer, started) = try await unfinished.noting(party, login: login) {
                try await clock.sending { try await imports.from23andMe(credentials) }
            }
            switch answer {
            case .ended(let outcome): return (outcome, started)
            case .question(let question):
                let text = try await Prompt.filledLine(
                    "23andMe asks: \(question.text)", wanted: "the answer to 23andMe's question")
                return try await unfinished.noting(party, login: login) {
                    try await clock.sending { try await imports.answer(text, to: question) }
                }
            }
        case .ancestry:
            switch try await imports.authorizeAncestry(credentials) {
            case .ended(let outcome): return (outcome, nil)
            case .linkMailed(let session):
                let link = try await Prompt.filledLine(
                    "Ancestry has sent you an email. Paste its link:", wanted: "the link from Ancestry's email")
                return try await unfinished.noting(party, login: login) {
                    try await clock.sending {
                        try await imports.download(link.trimmingCharacters(in: .whitespaces), in: session)
                    }
                }
            }
        }
    }

    /// Prints the own files of imports in the order of their starts, and waits for those that have not come.
    ///
    /// - Throws: why the last import without a file has none, after the other imports' files and reasons are printed. What ends a wait, an
    ///   error or the deadline, does not hide the files that were found.
    private func showArrivals(
        _ started: [UnfinishedImport], _ unfinished: UnfinishedImports, _ clock: ImportClock
    ) async throws {
        var arrivals: [Int: ImportArrival] = [:]
        do {
            // All that have come are found before any is waited for.
            for isWaiting in [false, true] {
                for awaited in started where arrivals[awaited.id]?.isEnd != true {
                    let polling = Polling(
                        firstInterval: .seconds(5), maximumInterval: .seconds(15),
                        timeout: isWaiting ? clock.left : .zero)
                    arrivals[awaited.id] = try await unfinished.arrival(of: awaited, polling: polling)
                }
            }
        } catch {
            let files = started.compactMap { arrivals[$0.id]?.file }
            if !files.isEmpty { show(files) }
            // An import that has ended is in no later list.
            let ended = started.filter { arrivals[$0.id]?.isEnd == true }
            note(ended.compactMap { awaited in arrivals[awaited.id].flatMap { problem(of: awaited, $0) } })
            throw error
        }
        let files = started.compactMap { arrivals[$0.id]?.file }
        var problems = started.compactMap { awaited in arrivals[awaited.id].flatMap { problem(of: awaited, $0) } }
        if problems.isEmpty || !files.isEmpty { show(files) }
        guard let last = problems.popLast() else { return }
        note(problems.filter { $0.message != last.message })
        throw last
    }

    /// Prints each reason once: imports have one reason where nothing shows which file is whose.
    private func note(_ problems: [CommandError]) {
        var printed: Set<String> = []
        for problem in problems where printed.insert(problem.message).inserted { Output.note(problem.message) }
    }

    private func problem(of started: UnfinishedImport, _ arrival: ImportArrival) -> CommandError? {
        switch arrival {
        case .file: nil
        case .oneOf(let possible): ambiguous(possible)
        case .late(let possible): late(started, possible)
        }
    }

    private func show(_ files: [GeneticFile], outcome: String = "started") {
        if options.common.json {
            Output.result(
                JSONText.object([("outcome", .string(outcome)), ("files", .array(files.map(SequencingFiles.json)))])
                    .text)
        } else if files.isEmpty {
            Output.note("The import has started. Wait for its file with: \(command(" --resume"))")
        } else {
            for file in files { Output.result(Self.line(file)) }
        }
    }

    private static func line(_ file: GeneticFile) -> String { "\(file.id)  \(quoted(file.name, limit: 200))" }

    private func ambiguous(_ files: [GeneticFile]) -> CommandError {
        CommandError(
            status: .serviceError, code: "import_ambiguous",
            message: """
                The import has ended, and its file is one of these; several imports ran, and Sequencing.com does not say whose file \
                is which. Look into each with: \(options.command("file ID"))
                \(files.map(Self.line).joined(separator: "\n"))
                """)
    }

    private func late(_ started: UnfinishedImport, _ files: [GeneticFile]) -> CommandError {
        let others =
            files.isEmpty
            ? ""
            : "\nThese files are new, and may be this import's or another's:\n"
                + files.map(Self.line).joined(separator: "\n")
        return CommandError(
            status: .network, code: "import_unfinished",
            message: """
                The import has started, but its own file is not in the list yet. \
                Wait again with: \(command(" --resume"))
                If it will not come, give the import up with: \(command(" --forget \(started.id)"))\(others)
                """)
    }

    /// The error once an import may run: of the deadline, and of a lost answer.
    ///
    /// - Parameter limit: the time that the command had.
    private func unanswered(_ limit: String = "") -> CommandError {
        CommandError(
            status: .network, code: "import_unfinished",
            message: """
                Sequencing.com did not answer\(limit), and the import may run. Do not start it again. \
                Wait for its file with: \(command(" --resume"))
                """)
    }

    private static func refusal(_ outcome: ThirdPartyImport.Outcome) -> CommandError {
        let code =
            switch outcome {
            case .started: "started"
            case .badCredentials: "bad_credentials"
            case .badAnswer: "bad_answer"
            case .badURL: "bad_url"
            case .serverError: "import_failed"
            }
        return CommandError(status: .serviceError, code: code, message: outcome.problem ?? "")
    }
}

extension ImportArrival {
    fileprivate var file: GeneticFile? {
        if case .file(let file) = self { file } else { nil }
    }

    /// Whether the import has ended.
    fileprivate var isEnd: Bool {
        if case .late = self { false } else { true }
    }
}
#endif
