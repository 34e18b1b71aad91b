#if CommandLine
import ArgumentParser
import Handshake
import OAuth
import Sequencing

struct SequencingRegister: BoundedCommand {
    static let configuration = CommandConfiguration(
        commandName: "register", abstract: "Create an account at Sequencing.com, confirmed by email.")

    @Option(help: .timeout)
    var timeout = 60

    @OptionGroup var request: SequencingRegistrationOptions

    func run() async throws {
        try await request.execute { try await $0.register($1) }
    }
}

struct SequencingResetPassword: BoundedCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset-password", abstract: "Reset a password at Sequencing.com, confirmed by email.")

    @Option(help: .timeout)
    var timeout = 60

    @OptionGroup var request: SequencingRegistrationOptions

    func run() async throws {
        try await request.execute { try await $0.resetPassword($1) }
    }
}

/// What the two commands about accounts share.
struct SequencingRegistrationOptions: ParsableArguments {
    @Argument(help: "The email address.")
    var email: String

    @Option(name: .customLong("client-id"), help: ArgumentHelp("The app's identifier at the service.", valueName: "id"))
    var clientID: String?

    @OptionGroup var options: SequencingHostOptions

    func execute(
        _ ask: (Registration, Sequencing.EmailAddress) async throws -> Registration.Outcome
    ) async throws {
        let settings = try Settings.load()
        guard let id = settings.choose(clientID, "CLIENT_ID", settings.service("sequencing").clientID) else {
            throw CommandError.usage("--client-id is missing. Give the identifier of your app at Sequencing.com.")
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
                Output.note("Sequencing.com has sent an email to \(email). Open its link to complete the request.")
            }
        case .refused(let code, let messages):
            throw CommandError(
                status: .serviceError, code: "refused",
                message: "Sequencing.com refused the request (\(code)): \(messages.joined(separator: " "))")
        }
    }
}
#endif
