#if CommandLine
import ArgumentParser
import Handshake
import OAuth
import Sequencing

/// `handshake sequencing connect`: the link by which another service hands files over (Sequencing dossier, section 3.3).
struct SequencingConnect: BoundedCommand {
    static let configuration = CommandConfiguration(
        commandName: "connect", abstract: "Make a link that copies files from the web into an account.",
        discussion: """
            The user opens the link, or --deliver opens it here. The link contains the client's secret, encrypted with a key that is part of the \
            secret: give it only to the user whom it names.
            """)

    @Argument(help: "The email address of the account. Sequencing.com creates one if there is none.")
    var email: String

    @Option(help: ArgumentHelp("A genetic file to copy; can be repeated.", valueName: "name=url"))
    var file: [String] = []

    @Option(help: ArgumentHelp("A report to copy; can be repeated.", valueName: "name=url"))
    var report: [String] = []

    @Option(
        name: .customLong("client-secret-file"),
        help: ArgumentHelp("A file with the app's client secret; - reads standard input.", valueName: "file"))
    var clientSecretFile: String?

    @Flag(help: "Open the link here instead of printing it.")
    var deliver = false

    @Option(help: .timeout)
    var timeout = 60

    @OptionGroup var options: SequencingHostOptions

    func run() async throws {
        let settings = try Settings.load()
        let table = settings.service("sequencing")
        guard let path = settings.choose(clientSecretFile, "CLIENT_SECRET_FILE", table.clientSecretFile) else {
            throw CommandError.usage(
                "--client-secret-file is missing. Give a file with the secret of your app at Sequencing.com.")
        }
        let files = try file.map { try Self.file($0, .geneticData) } + report.map { try Self.file($0, .report) }
        let secret = try await SecretLine.read(path, what: "client secret", option: "--client-secret-file")
        try await SequencingFailure.reported {
            let request = try ConnectRequest(email: Sequencing.EmailAddress(email), files: files)
            let link = try LegacyConnectCodec(secret: secret).link(request, at: try options.hosts())
            try await tell(link)
        }
    }

    private func tell(_ link: EndpointURL) async throws {
        guard deliver else {
            return Output.result(options.json ? JSONText.object([("url", .string(link.string))]).text : link.string)
        }
        switch try await ConnectDelivery().deliver(link) {
        case .accepted where options.json: Output.result(JSONText.object([("outcome", .string("accepted"))]).text)
        case .accepted: Output.note("Sequencing.com accepted the request and downloads the files.")
        case .refused(let status):
            throw CommandError(
                status: .serviceError, code: "refused",
                message:
                    "Sequencing.com refused the request (status \(status)). Check that the client secret is that of your app."
            )
        }
    }

    private static func file(_ text: String, _ kind: ConnectRequest.File.Kind) throws -> ConnectRequest.File {
        let option = kind == .report ? "--report" : "--file"
        guard let separator = text.firstIndex(of: "=") else {
            throw CommandError.usage("\(option) takes NAME=URL, not “\(quoted(text, limit: 200))”.")
        }
        do {
            return try ConnectRequest.File(
                name: String(text[..<separator]), kind: kind, url: String(text[text.index(after: separator)...]))
        } catch .input(let member, let problem) {
            throw CommandError.usage("\(option) “\(quoted(text, limit: 200))”: the \(member) \(problem).")
        } catch { throw SequencingFailure.commandError(error) }
    }
}
#endif
