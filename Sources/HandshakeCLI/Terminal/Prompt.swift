#if CommandLine
import OAuth

/// Questions to the user on a terminal; elsewhere the lines of standard input are the answers.
enum Prompt {
    /// The answer to a question, as it was typed.
    ///
    /// - Parameter wanted: what the answer is, for the error when there is none.
    static func line(_ question: String, wanted: String) async throws -> String {
        if StandardInput.isTerminal { Output.error(question) }
        if let line = try await StandardInput.line() { return line }
        guard StandardInput.isTerminal else { throw CommandError.usage("Standard input ended before \(wanted).") }
        throw CommandError(status: .abandoned, code: "no_answer", message: "There was no answer. Nothing was done.")
    }

    /// An answer that is not empty; a terminal is asked again, standard input is not.
    static func filledLine(_ question: String, wanted: String) async throws -> String {
        while true {
            let line = try await line(question, wanted: wanted)
            if !line.isEmpty || !StandardInput.isTerminal { return line }
        }
    }

    /// An answer that is not shown while it is typed.
    static func password(_ question: String, wanted: String) async throws -> Secret {
        guard StandardInput.isTerminal else { return Secret(try await line(question, wanted: wanted)) }
        // Before the question is shown, since the answer may come immediately.
        Terminal.hideInput()
        defer {
            Terminal.showInput()
            Output.error("")
        }
        return Secret(try await line(question, wanted: wanted))
    }
}
#endif
