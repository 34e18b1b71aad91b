#if CommandLine
import ArgumentParser
import Handshake
import OAuth

/// A word on the command line where a command should be.
///
/// The argument parser calls it an unexpected argument and does not say which commands there are.
struct UnknownCommand {
    /// The commands before the word, such as `handshake services`.
    let parent: String
    let word: String
    /// The commands that could stand there.
    let known: [String]

    /// Finds the word; nil when every word up to the first option or argument is a command.
    init?(in arguments: some Sequence<String>) {
        var command: any ParsableCommand.Type = HandshakeCommand.self
        var path = [command._commandName]
        for argument in arguments {
            let commands = command.configuration.subcommands
            guard !commands.isEmpty, !argument.hasPrefix("-"), argument != "help" else { return nil }
            guard let next = commands.first(where: { $0._commandName == argument }) else {
                (parent, word, known) = (path.joined(separator: " "), argument, commands.map { $0._commandName })
                return
            }
            command = next
            path.append(argument)
        }
        return nil
    }

    /// What is wrong and what was probably meant.
    var message: String {
        let text = quoted(word, limit: 80)
        if parent == "handshake services",
            BuiltInService.named(word) != nil || Service.builtIn.contains(where: { $0.name == word })
        {
            return
                "“\(text)” is a service, not a command. See what is known of it with: handshake services show \(text)"
        }
        return "There is no command “\(parent) \(text)”. \(NearestName.question(word, among: known))"
            + "List the commands with: \(parent) --help"
    }
}
#endif
