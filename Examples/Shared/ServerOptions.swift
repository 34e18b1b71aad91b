#if Server && Sandbox
import Foundation

/// The command line of a sample that serves pages: `--port`, `--print-json`, `--help` and what the sample has beside them.
package struct ServerOptions: Equatable, Sendable {
    package private(set) var port: Int
    package private(set) var printsJSON = false
    package private(set) var showsHelp = false
    /// The values of the sample's own options, by name.
    package private(set) var values: [String: String] = [:]

    /// Why a command line cannot be used.
    package struct Problem: Error, Equatable {
        package let description: String

        package init(description: String) {
            self.description = description
        }
    }

    /// - Parameters:
    ///   - arguments: without the program's name.
    ///   - port: the port unless one is stated; 0 for any free one, otherwise 0 is refused.
    ///   - own: the names of the sample's own options, each with a value.
    /// - Throws: ``Problem`` for an unknown option, and for a value that is missing or none.
    package init(_ arguments: [String], port: UInt16 = 0, own: Set<String> = []) throws(Problem) {
        self.port = Int(port)
        let least: UInt16 = port == 0 ? 0 : 1
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "-h", "--help": showsHelp = true
            case "--print-json": printsJSON = true
            case "--port":
                guard let port = rest.popFirst().flatMap({ UInt16($0) }), port >= least else {
                    throw Problem(description: "--port needs a number from \(least) to 65535")
                }
                self.port = Int(port)
            case _ where own.contains(argument):
                guard let value = rest.popFirst() else { throw Problem(description: "\(argument) needs a value") }
                values[argument] = value
            default: throw Problem(description: "unknown option \"\(argument)\"")
            }
        }
    }

    /// The options of this process. Prints the help or what is wrong, and ends the process, where it is not to go on.
    package static func ofProcess(
        _ name: String, help: String, port: UInt16 = 0, own: Set<String> = []
    ) -> ServerOptions {
        do {
            let options = try ServerOptions(Array(CommandLine.arguments.dropFirst()), port: port, own: own)
            guard options.showsHelp else { return options }
            FileHandle.standardOutput.write(Data(help.utf8))
            exit(0)
        } catch {
            FileHandle.standardError.write(Data("\(name): \(error.description)\n\(help)".utf8))
            exit(64)
        }
    }
}
#endif
