#if Server && Sandbox
/// What the command line of ConnectedAccounts says.
struct Options: Equatable {
    var port = 0
    var printsJSON = false
    var showsHelp = false

    static let help = """
        Starts a small app whose users connect accounts at three services, beside a sandbox of them, on this machine.

        Usage: ConnectedAccounts [--port N] [--print-json]

          --port N       the app's port, from 0 to 65535; any free one unless stated
          --print-json   prints one line with the addresses and the users, for programs
          -h, --help     prints this

        """

    /// Why a command line cannot be used.
    struct Problem: Error {
        let description: String
    }

    init() {}

    /// - Throws: ``Problem`` for an unknown option, and for a port that is none.
    init(_ arguments: [String]) throws(Problem) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "-h", "--help": showsHelp = true
            case "--print-json": printsJSON = true
            case "--port":
                guard let port = rest.popFirst().flatMap({ UInt16($0) }) else {
                    throw Problem(description: "--port needs a number from 0 to 65535")
                }
                self.port = Int(port)
            default: throw Problem(description: "unknown option \"\(argument)\"")
            }
        }
    }
}
#endif
