#if Server && Sandbox
/// What the command line of CircleServer says.
struct Options: Equatable {
    var port = 8_765
    var address: String?
    var folder: String?
    var printsJSON = false
    var showsHelp = false

    static let help = """
        Serves a circle of the Recurse Center: its members recognise each other nearby, without a network.

        Usage: CircleServer [--port N] [--address URL] [--folder PATH] [--print-json]

          --port N        the port on this machine, from 1 to 65535; 8765 unless stated
          --address URL   the public address of the circle, behind a proxy with TLS; people sign in at the Recurse Center.
                          Without it, a sandbox of the service runs in this process, and nothing leaves the machine.
          --folder PATH   where members are stored; a folder that is removed in the end unless stated
          --print-json    prints one line with the addresses, for programs
          -h, --help      prints this

        With --address, CIRCLE_CLIENT_ID and CIRCLE_CLIENT_SECRET are the app's registration at the service, with the redirect URI
        ADDRESS/v1/callback. On standard input, "remove NUMBER" removes a member, and "count" says how many there are.

        """

    /// Why a command line cannot be used.
    struct Problem: Error {
        let description: String
    }

    init() {}

    /// - Throws: ``Problem`` for an unknown option, and for a value that is none.
    init(_ arguments: [String]) throws(Problem) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "-h", "--help": showsHelp = true
            case "--print-json": printsJSON = true
            case "--port":
                guard let port = rest.popFirst().flatMap({ UInt16($0) }), port > 0 else {
                    throw Problem(description: "--port needs a number from 1 to 65535")
                }
                self.port = Int(port)
            case "--address", "--folder":
                guard let value = rest.popFirst() else { throw Problem(description: "\(argument) needs a value") }
                if argument == "--address" { address = value } else { folder = value }
            default: throw Problem(description: "unknown option \"\(argument)\"")
            }
        }
    }
}
#endif
