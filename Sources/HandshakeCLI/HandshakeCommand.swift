#if CommandLine
import ArgumentParser
import Foundation
import Handshake
import Logging

/// The command `handshake`: parses, calls a kit, prints.
@main
struct HandshakeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "handshake",
        abstract: "Sign in to services with OAuth, stay signed in, and use the account.",
        discussion: """
            Results go to standard output, everything else to standard error. Exit status: 0 done; 1 another error; 2 declined or \
            cancelled by the user, or timed out; 3 sign-in required; 4 the service answered with an error; 5 refused for safety; \
            6 network error; 7 vault or key unusable, or a file of settings or secrets that cannot be read or that others \
            have access to; 64 wrong command line or settings; 130 interrupted (143 by SIGTERM).
            """,
        version: "0.1.0",
        subcommands: [
            Login.self, PublicKey.self, Accounts.self, Token.self, Headers.self, SendRequest.self, Inspect.self,
            Logout.self,
            Services.self, VaultCommand.self, Keep.self, Doctor.self,
            RunSandbox.self, Demo.self, SequencingCommand.self, RecurseCenterCommand.self, IFTTTCommand.self,
            NearbyCommand.self, PlacesCommand.self,
        ])

    static func main() async {
        // Scripts ask for it often, and the parser takes a third of the time of this.
        if CommandLine.arguments.dropFirst().elementsEqual(["--version"]) {
            return Output.result(configuration.version)
        }
        LoggingSystem.bootstrap { _ in NoteLogHandler() }
        Interruption.record()
        signal(SIGPIPE, SIG_IGN)
        let status = await Interruption.watch {
            do {
                try await execute()
                guard !Output.isIncomplete else {
                    Output.error("handshake: The result could not be written to standard output: \(Output.failureText)")
                    return ExitStatus.defect
                }
                return ExitStatus.done
            } catch {
                return Failure.report(error)
            }
        }
        Foundation.exit(status.rawValue)
    }

    private static func execute() async throws {
        // Programs ask for a token before each request, and the parser takes longer than the vault.
        if let token = WantedToken(plain: CommandLine.arguments.dropFirst()) {
            return try await CommandDeadline.run(Token.defaultTimeout) {
                try await token.print(from: try VaultChoice(nil, key: nil, settings: try Settings.load()))
            }
        }
        var command = try command(for: Array(CommandLine.arguments.dropFirst()))
        if let bounded = command as? any BoundedCommand {
            try await bounded.runBounded()
        } else if var asynchronous = command as? any AsyncParsableCommand {
            try await asynchronous.run()
        } else {
            try command.run()
        }
    }

    /// Parses the command that the first arguments name alone, because the parser would first describe all others to
    /// itself: that takes longer than printing a token. What fails so, or asks for help, is parsed again from the root, whose
    /// errors and help texts have the whole name.
    static func command(for arguments: [String]) throws -> any ParsableCommand {
        var command: any ParsableCommand.Type = self
        var rest = arguments[...]
        while let name = rest.first,
            let next = command.configuration.subcommands.first(where: { $0.configuration.commandName == name })
        {
            command = next
            rest = rest.dropFirst()
        }
        guard command.configuration.subcommands.isEmpty, let parsed = try? command.parseAsRoot(Array(rest)),
            type(of: parsed) == command
        else { return try parseAsRoot(arguments) }
        return parsed
    }
}
#endif
