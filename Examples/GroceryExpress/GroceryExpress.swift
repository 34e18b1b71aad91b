#if Server && Sandbox
import ExampleServer
import Foundation
import Hummingbird
import IFTTTConnect
import Sandbox

/// A grocer's web shop with a few Connect Buttons: what a partner of IFTTT has to build, and nothing else (dossier 9,
/// F107 to F111).
///
/// `swift run GroceryExpress` starts it beside a sandbox of IFTTT in the same process and prints its address; nothing
/// leaves the machine, except that `/react.html` loads React from unpkg.com. An app of your own differs in ``Shop``:
/// its own users instead of the sandbox's, its own service key, a vault that lasts, and `Hosts` as they are.
///
/// `--help` lists the options.
@main
struct GroceryExpress {
    private static let help = """
        Starts a sample web shop with Connect Buttons beside a sandbox of IFTTT, on this machine.

        Usage: GroceryExpress [--port N] [--undo SECONDS] [--print-json]

          --port N         the shop's port, from 0 to 65535; any free one unless stated
          --undo SECONDS   waits these seconds (1 to 60), in which the customer can undo, before it turns a connection off;
                           without it, the button asks first
          --print-json     prints one line with the addresses, for programs
          -h, --help       prints this

        """

    static func main() async {
        let options = ServerOptions.ofProcess("GroceryExpress", help: help, own: ["--undo"])
        let seconds = options.values["--undo"].map { Double($0) ?? 0 }
        if let seconds, !(1...60).contains(seconds) {
            FileHandle.standardError.write(Data("GroceryExpress: --undo needs a number from 1 to 60\n".utf8))
            exit(64)
        }
        do {
            let sandbox = try await Sandbox.start()
            do {
                try await run(options, on: sandbox, undo: seconds)
            } catch {
                await sandbox.stop()
                throw error
            }
            await sandbox.stop()
        } catch {
            endAfter(error, in: "GroceryExpress", port: options.port)
        }
    }

    private static func run(_ options: ServerOptions, on sandbox: Sandbox, undo seconds: Double?) async throws {
        let books = try Shop.Books(on: sandbox, disconnection: seconds.map { .undoable(seconds: $0) } ?? .confirmed)
        var application = Entrance().application(named: "GroceryExpress", port: options.port) { origin in
            let shop = try Shop(at: origin, on: sandbox, with: books)
            announce(origin, sandbox, isJSON: options.printsJSON)
            return shop.router
        }
        // What customers agreed to have counted is sent while the shop is open, and when it closes.
        application.addServices(books.analytics)
        try await application.runService()
    }

    private static func announce(_ origin: String, _ sandbox: Sandbox, isJSON: Bool) {
        let text =
            isJSON
            ? #"{"origin":"\#(origin)","sandbox":"\#(sandbox.ifttt.origin)"}"#
            : """
            GroceryExpress is open at \(origin)/
            IFTTT's stand-in, with its mailbox and its controls, is at \(sandbox.ifttt.origin)/
            Ctrl-C closes both.
            """
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }
}
#endif
