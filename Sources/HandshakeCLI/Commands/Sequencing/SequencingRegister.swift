import ArgumentParser
import Handshake
import OAuth
import Sequencing

struct SequencingRegister: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "register", abstract: "Open an account at Sequencing.com; the rest comes by mail.")

    @OptionGroup var request: SequencingRegistrationOptions

    func run() async throws {
        try await request.execute { try await $0.register($1) }
    }
}

struct SequencingResetPassword: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset-password", abstract: "Ask Sequencing.com for a new password; the rest comes by mail.")

    @OptionGroup var request: SequencingRegistrationOptions

    func run() async throws {
        try await request.execute { try await $0.resetPassword($1) }
    }
}

/// What the two commands about accounts share.
struct SequencingRegistrationOptions: ParsableArguments {
    @Argument(help: "The address of electronic mail.")
    var email: String

    @Option(name: .customLong("client-id"), help: ArgumentHelp("The app's identifier at the service.", valueName: "id"))
    var clientID: String?

    @OptionGroup var options: SequencingHostOptions

    func execute(
        _ ask: (Registration, Sequencing.EmailAddress) async throws -> Registration.Outcome
    ) async throws {
        let settings = try Settings.load()
        guard let id = settings.choose(clientID, "CLIENT_ID", settings.service("sequencing").clientID) else {
            throw CommandError.usage("--client-id is missing: the identifier that Sequencing.com gave to the app")
        }
        let outcome = try await SequencingFailure.reported {
            let email = try Sequencing.EmailAddress(email)
            return try await ask(Registration(.identifier(id), at: try options.hosts()), email)
        }
        switch outcome {
        case .mailSent:
            if options.json {
                Output.result(JSONText.object([("outcome", .string("mail_sent")), ("email", .string(email))]).text)
            } else {
                Output.note("Sequencing.com has sent mail to \(email). The link in it completes the request.")
            }
        case .refused(let code, let messages):
            throw CommandError(
                status: .serviceError, code: "refused",
                message: "Sequencing.com refused (\(code)): \(messages.joined(separator: " "))")
        }
    }
}
