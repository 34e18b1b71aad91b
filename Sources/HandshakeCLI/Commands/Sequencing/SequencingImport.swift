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

    @Flag(help: "Wait until the new file is in the list, at most 10 minutes.")
    var wait = false

    @Option(help: .timeout)
    var timeout = 660

    @OptionGroup var options: SequencingOptions

    func run() async throws {
        try await options.use { genome in
            let (outcome, known) = try await start(genome)
            guard case .started = outcome else { throw Self.refusal(outcome) }
            try await report(genome, known: known)
        }
    }

    /// The files before the import. Listed immediately before each call that may start it, since questions to the user take time.
    private func known(_ genome: Sequencing) async throws -> Set<FileID> {
        wait ? Set(try await genome.files().map(\.id)) : []
    }

    private func start(_ genome: Sequencing) async throws -> (ThirdPartyImport.Outcome, known: Set<FileID>) {
        let imports = ThirdPartyImport(genome)
        let login = try await Prompt.filledLine(
            "Login at \(source == .ancestry ? "Ancestry" : "23andMe"):", wanted: "the login")
        let credentials = try ThirdPartyImport.Credentials(
            login: login,
            password: try await Prompt.password("Password there (not shown, not stored):", wanted: "the password"))
        switch source {
        case .twentyThreeAndMe:
            let before = try await known(genome)
            switch try await imports.from23andMe(credentials) {
            case .ended(let outcome): return (outcome, before)
            case .question(let question):
                let answer = try await Prompt.filledLine(
                    "23andMe asks: \(question.text)", wanted: "the answer to 23andMe's question")
                let before = try await known(genome)
                return (try await imports.answer(answer, to: question), before)
            }
        case .ancestry:
            switch try await imports.authorizeAncestry(credentials) {
            case .ended(let outcome): return (outcome, [])
            case .linkMailed(let session):
                let link = try await Prompt.filledLine(
                    "Ancestry has sent you a mail. Paste its link:", wanted: "the link from Ancestry's mail")
                let before = try await known(genome)
                return (try await imports.download(link.trimmingCharacters(in: .whitespaces), in: session), before)
            }
        }
    }

    private func report(_ genome: Sequencing, known: Set<FileID>) async throws {
        let polling = Polling(firstInterval: .seconds(5), maximumInterval: .seconds(15), timeout: .seconds(600))
        let files =
            wait ? try await genome.newFiles(besides: known, from: source.thirdParty, polling: polling) : []
        if wait, files.isEmpty {
            throw CommandError(
                status: .network, code: "import_unfinished",
                message: """
                    The import has started, but its file was not in the list after ten minutes. \
                    Look later with: handshake sequencing files --uploaded
                    """)
        }
        if options.common.json {
            Output.result(
                JSONText.object([("outcome", .string("started")), ("files", .array(files.map(SequencingFiles.json)))])
                    .text)
        } else if files.isEmpty {
            Output.note("The import has started. The new file will appear in: handshake sequencing files --uploaded")
        } else {
            for file in files { Output.result("\(file.id)  \(quoted(file.name, limit: 200))") }
        }
    }

    private static func refusal(_ outcome: ThirdPartyImport.Outcome) -> CommandError {
        let (code, message) =
            switch outcome {
            case .started: ("started", "The import has started.")
            case .badCredentials: ("bad_credentials", "The other service rejected the login and password.")
            case .badAnswer: ("bad_answer", "The answer to the security question is wrong. Start the import again.")
            case .badURL: ("bad_url", "The link does not lead to a download. Copy it whole from the mail.")
            case .serverError(let number):
                ("import_failed", "The import failed at the service (error \(number)). Try again later.")
            }
        return CommandError(status: .serviceError, code: code, message: message)
    }
}
#endif
