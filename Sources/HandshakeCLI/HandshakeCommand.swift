import ArgumentParser
import Foundation
import Handshake

/// The command `handshake`: parses, calls a kit, prints.
@main
struct HandshakeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "handshake",
        abstract: "Sign in to services by OAuth, stay signed in, and use the connection.",
        discussion: """
            Results go to standard output, everything else to standard error. The exit status is 0 when done, 2 when the user said no, \
            3 when sign-in is needed, 4 when the service answered with an error, 5 when something was refused for safety, \
            6 for network trouble, 7 for the vault, 64 for a wrong command line.
            """,
        version: "0.1.0",
        subcommands: [
            Login.self, Accounts.self, Token.self, SendRequest.self, Inspect.self, Logout.self, Doctor.self,
            RunSandbox.self, Demo.self, SequencingCommand.self, RecurseCenterCommand.self, IFTTTCommand.self,
            NearbyCommand.self, PlacesCommand.self,
        ])

    static func main() async {
        // Scripts ask this often, and the parser would first look at every command: a third of the time.
        if CommandLine.arguments.dropFirst().elementsEqual(["--version"]) {
            return Output.result(configuration.version)
        }
        signal(SIGPIPE, SIG_IGN)
        let status = await Interruption.watch {
            do {
                var command = try parseAsRoot()
                if var asynchronous = command as? any AsyncParsableCommand {
                    try await asynchronous.run()
                } else {
                    try command.run()
                }
                guard !Output.isIncomplete else {
                    Output.error("handshake: the result could not be written: \(Output.failureText)")
                    return ExitStatus.defect
                }
                return ExitStatus.done
            } catch {
                return Failure.report(error)
            }
        }
        Foundation.exit(status.rawValue)
    }
}
