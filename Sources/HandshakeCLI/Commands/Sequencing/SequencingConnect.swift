#if CommandLine
import ArgumentParser
import Handshake
import OAuth
import Sequencing
import Synchronization

/// `handshake sequencing connect`: the link by which another service hands files over (Sequencing dossier, section 3.3).
struct SequencingConnect: AsyncParsableCommand {
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

    /// Has a deadline of its own: a request that may have arrived is not sent again.
    func run() async throws {
        let delivery = Delivery()
        try await CommandDeadline.run(timeout) {
            delivery.expire()
            return delivery.isBegun
                ? Self.unconfirmed(status: .network, code: "timed_out") : CommandDeadline.expired(timeout)
        } _: {
            try await run(delivery)
        }
    }

    private func run(_ delivery: Delivery) async throws {
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
            try await tell(link, delivery)
        }
    }

    private func tell(_ link: EndpointURL, _ delivery: Delivery) async throws {
        guard deliver else {
            return Output.result(options.json ? JSONText.object([("url", .string(link.string))]).text : link.string)
        }
        switch try await outcome(of: link, delivery) {
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

    private func outcome(of link: EndpointURL, _ delivery: Delivery) async throws -> ConnectDelivery.Outcome {
        delivery.begin()
        do {
            return try await ConnectDelivery().deliver(link)
        } catch let error as SequencingError {
            switch error {
            case .account(.network(let problem)) where problem.mayHaveArrived:
                throw Self.unconfirmed(status: .network, code: error.code)
            case .service: throw Self.unconfirmed(status: .serviceError, code: error.code)
            default: throw error
            }
        } catch is CancellationError {
            // An interruption has no message. The deadline's error says it itself.
            if !delivery.isExpired { Output.note(Self.unconfirmed(status: .network, code: "cancelled").message) }
            throw CancellationError()
        }
    }

    /// The error of a delivery that may have arrived: another one would copy the files twice.
    private static func unconfirmed(status: ExitStatus, code: String) -> CommandError {
        CommandError(
            status: status, code: code,
            message: "Sequencing.com has not confirmed the request. The files may still be copied: "
                + "look at the account's files before you run this again.")
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

/// Whether a link was opened, and whether the command's time is over.
///
/// A class, because the deadline asks from another task.
private final class Delivery: Sendable {
    private let opened = Atomic(false)
    private let expired = Atomic(false)

    var isBegun: Bool { opened.load(ordering: .relaxed) }
    var isExpired: Bool { expired.load(ordering: .relaxed) }

    func begin() { opened.store(true, ordering: .relaxed) }

    func expire() { expired.store(true, ordering: .relaxed) }
}
#endif
