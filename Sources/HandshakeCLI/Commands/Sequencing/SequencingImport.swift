#if CommandLine
import ArgumentParser
import Foundation
import Handshake
import OAuth
import Sequencing

struct SequencingImport: BoundedCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Import genetic data from 23andMe or Ancestry into the account.",
        discussion: """
            Sequencing.com needs the login and the password of the other service, and passes them on. They are read from the terminal, \
            or as lines of standard input, and not stored. Standard input gives: login, password, then the answer to the security question \
            or the link from Ancestry's mail. Downloading the data yourself and uploading it on the site needs no password.
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

    @Option(help: .timeout)
    var timeout = 660

    @OptionGroup var options: SequencingOptions

    func run() async throws {
        try await options.use { genome, vault in
            let unfinished = UnfinishedImports(of: genome, in: vault)
            if resume { return try await showArrivals(try await left(unfinished), unfinished) }
            let (outcome, started) = try await start(genome, noting: unfinished)
            guard case .started = outcome else { throw Self.refusal(outcome) }
            if wait, let started { return try await showArrivals([started], unfinished) }
            show([])
        }
    }

    /// The imports from the source whose files have not been seen.
    private func left(_ unfinished: UnfinishedImports) async throws -> [UnfinishedImport] {
        let left = try await unfinished.all.filter { $0.source == source.thirdParty }
        guard !left.isEmpty else {
            throw CommandError.usage(
                "No unfinished imports from \(source.thirdParty.rawValue). Start one with: handshake sequencing import \(source.rawValue)"
            )
        }
        return left
    }

    private func start(
        _ genome: Sequencing, noting unfinished: UnfinishedImports
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
                try await imports.from23andMe(credentials)
            }
            switch answer {
            case .ended(let outcome): return (outcome, started)
            case .question(let question):
                let text = try await Prompt.filledLine(
                    "23andMe asks: \(question.text)", wanted: "the answer to 23andMe's question")
                return try await unfinished.noting(party, login: login) { try await imports.answer(text, to: question) }
            }
        case .ancestry:
            switch try await imports.authorizeAncestry(credentials) {
            case .ended(let outcome): return (outcome, nil)
            case .linkMailed(let session):
                let link = try await Prompt.filledLine(
                    "Ancestry has sent you a mail. Paste its link:", wanted: "the link from Ancestry's mail")
                return try await unfinished.noting(party, login: login) {
                    try await imports.download(link.trimmingCharacters(in: .whitespaces), in: session)
                }
            }
        }
    }

    /// Waits for the own files of imports, in the order of their starts, and prints them. All have one deadline.
    ///
    /// - Throws: why the first import without a file has none, after the other imports' files are printed.
    private func showArrivals(_ started: [UnfinishedImport], _ unfinished: UnfinishedImports) async throws {
        let (clock, limit) = (ContinuousClock(), Duration.seconds(600))
        let end = clock.now + limit
        var files: [GeneticFile] = []
        var problem: CommandError?
        for awaited in started {
            let left = max(clock.now.duration(to: end), .zero)
            let polling = Polling(firstInterval: .seconds(5), maximumInterval: .seconds(15), timeout: left)
            switch try await unfinished.arrival(of: awaited, polling: polling) {
            case .file(let file): files.append(file)
            case .oneOf(let possible): problem = problem ?? Self.ambiguous(possible)
            case .late(let possible): problem = problem ?? late(possible)
            }
        }
        if problem == nil || !files.isEmpty { show(files) }
        if let problem { throw problem }
    }

    private func show(_ files: [GeneticFile]) {
        if options.common.json {
            Output.result(
                JSONText.object([("outcome", .string("started")), ("files", .array(files.map(SequencingFiles.json)))])
                    .text)
        } else if files.isEmpty {
            Output.note(
                "The import has started. Wait for its file with: handshake sequencing import \(source.rawValue) --resume"
            )
        } else {
            for file in files { Output.result(Self.line(file)) }
        }
    }

    private static func line(_ file: GeneticFile) -> String { "\(file.id)  \(quoted(file.name, limit: 200))" }

    private static func ambiguous(_ files: [GeneticFile]) -> CommandError {
        CommandError(
            status: .serviceError, code: "import_ambiguous",
            message: """
                The import has ended, and its file is one of these; several imports ran, and Sequencing.com does not say whose file \
                is which. Look into each with: handshake sequencing file ID
                \(files.map(line).joined(separator: "\n"))
                """)
    }

    private func late(_ files: [GeneticFile]) -> CommandError {
        let others =
            files.isEmpty
            ? ""
            : "\nThese files are new, and may be this import's or another's:\n"
                + files.map(Self.line).joined(separator: "\n")
        return CommandError(
            status: .network, code: "import_unfinished",
            message: """
                The import has started, but its own file is not in the list yet. \
                Wait again with: handshake sequencing import \(source.rawValue) --resume\(others)
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
#endif
