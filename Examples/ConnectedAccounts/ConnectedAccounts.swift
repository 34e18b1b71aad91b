#if Server && Sandbox
import CoreMetrics
import ExampleServer
import Foundation
import Handshake
import HandshakeServer
import Hummingbird
import OAuth
import Sandbox
import ServiceLifecycle
import Synchronization

/// An app with a log-in of its own, whose users connect accounts at three services on one page.
///
/// `swift run ConnectedAccounts` starts it beside a sandbox of the services in the same process and prints its address;
/// nothing leaves the machine. An app of your own differs in ``App``: it has its own users and clients, signs in at the
/// services themselves, and opens one permanent vault; here `--folder` makes the vault permanent. With `--traits SQLite,Everything` the
/// vault is one SQLite file.
///
/// `--help` lists the options.
@main
struct ConnectedAccounts {
    private static let help = """
        Starts a small app whose users connect accounts at three services, beside a sandbox of them, on this machine.

        Usage: ConnectedAccounts [--port N] [--folder PATH] [--sandbox-port N] [--provider URL --provider-client ID]
                                 [--print-json]

          --port N               the app's port, from 0 to 65535; any free one unless stated
          --folder PATH          keeps the accounts and the log-ins in this folder, which is created; otherwise they are
                                 deleted at the end
          --sandbox-port N       the first port of the services, any free ones unless stated; with --folder 8100 unless
                                 stated, since accounts belong to a service's address
          --provider URL         the issuer of an OpenID server of your own, in place of the sandbox's. Register a public
                                 client there with the redirect URI http://127.0.0.1:PORT/connect/standard/callback.
                                 /frontchannel-logout and /backchannel-logout beside it end log-ins of the app, the first
                                 of them only where the server is at 127.0.0.1 too
          --provider-client ID   the identifier of that client
          --print-json           prints one line with the addresses and the users, for programs
          -h, --help             prints this

        """

    static func main() async {
        let options = ServerOptions.ofProcess(
            "ConnectedAccounts", help: help, own: ["--folder", "--sandbox-port", "--provider", "--provider-client"])
        let kept = options.values["--folder"]
        if kept?.isEmpty ?? false { end("--folder needs a path", status: 64) }
        guard (options.values["--provider"] == nil) == (options.values["--provider-client"] == nil) else {
            end("give --provider and --provider-client together", status: 64)
        }
        do {
            if let url = options.values["--provider"] { _ = try Issuer(url, security: .allowingInsecureLoopback) }
        } catch {
            end("--provider: \(error)", status: 64)
        }
        // The sandbox takes six ports, one after the other.
        guard let port = options.values["--sandbox-port"].map({ UInt16($0) }) ?? (kept == nil ? 0 : 8_100),
            port <= 65_530
        else {
            end("--sandbox-port needs a number from 0 to 65530", status: 64)
        }
        let temporary = FileManager.default.temporaryDirectory.appendingPathComponent("connected-accounts-\(UUID())")
        defer { try? FileManager.default.removeItem(at: temporary) }
        let sandbox: Sandbox
        let vault: any Vault
        do {
            vault = try App.vault(in: kept ?? temporary.path)
            sandbox = try await Sandbox.start(Sandbox.Configuration(port: Int(port)))
        } catch {
            try? FileManager.default.removeItem(at: temporary)
            end("\(error)", status: 1)
        }
        do {
            try await run(options, sandbox, vault, Members(in: kept ?? temporary.path))
        } catch {
            await sandbox.stop()
            try? FileManager.default.removeItem(at: temporary)
            endAfter(error, in: "ConnectedAccounts", port: options.port)
        }
        await sandbox.stop()
    }

    /// Ends the process with a line that says why.
    private static func end(_ problem: String, status: Int32) -> Never {
        FileHandle.standardError.write(Data("ConnectedAccounts: \(problem)\n".utf8))
        exit(status)
    }

    private static func run(
        _ options: ServerOptions, _ sandbox: Sandbox, _ vault: any Vault, _ members: Members
    ) async throws {
        // Before the first Handshake, which reads the chosen system once.
        let figures = PrometheusFigures()
        MetricsSystem.bootstrap(figures)
        let closing = Closing()
        let provider = options.values["--provider"].map {
            App.Provider(issuer: $0, clientID: options.values["--provider-client"] ?? "")
        }
        var application = Entrance().application(named: "ConnectedAccounts", port: options.port) { origin in
            let app = try App(
                at: origin, on: sandbox, provider: provider, vault: vault, members: members, figures: figures)
            closing.note(app.handshake)
            announce(origin, sandbox, provider, isJSON: options.printsJSON)
            return app.router
        }
        // It ends after the server.
        application.addServices(closing)
        try await application.runService()
    }

    private static func announce(
        _ origin: String, _ sandbox: Sandbox, _ provider: App.Provider?, isJSON: Bool
    ) {
        let services = [sandbox.sequencing, sandbox.recurseCenter] + (provider == nil ? [sandbox.standard] : [])
        let text =
            isJSON
            ? #"{"origin":"\#(origin)","sandbox":"\#(sandbox.standard.origin)","vault":"\#(App.vaultKind)"}"#
            : """
            ConnectedAccounts is open at \(origin)/
            Log in as ada or grace, with the password \(Members.password).
            At the services: \(services.compactMap(\.users.first).map { "\($0.name) \($0.password)" }.joined(separator: ", "))
            Accounts are in \(App.vaultName)
            Ctrl-C closes the app and the services.
            """
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }
}

/// Lets the refreshes of the app finish before its process ends.
///
/// An app whose address is known before it runs adds `HandshakeService(handshake)` instead.
private final class Closing: ServiceLifecycle.Service {
    private let handshake = Mutex<Handshake?>(nil)

    func note(_ handshake: Handshake) { self.handshake.withLock { $0 = handshake } }

    func run() async throws {
        try? await gracefulShutdown()
        await handshake.withLock { $0 }?.finishRefreshes()
    }
}
#endif
