#if Server && Sandbox
import ExampleServer
import Foundation
import Handshake
import HandshakeServer
import Hummingbird
import Logging
import OAuth
import RecurseCenter
import Sandbox

/// Serves a circle of the Recurse Center.
///
/// `swift run CircleServer` serves one beside a sandbox of the service, for a try on one machine. With `--address` it serves the
/// real one, behind a proxy that has TLS. A circle of another community differs in ``member(of:)``: it asks another service.
///
/// `--help` lists the options.
@main
struct CircleServer {
    private static let help = """
        Serves a circle of the Recurse Center: its members recognise each other nearby, without a network.

        Usage: CircleServer [--port N] [--address URL] [--folder PATH] [--print-json]

          --port N        the port on this machine, from 1 to 65535; 8765 unless stated
          --address URL   the public address of the circle, behind a proxy with TLS that adds callers to X-Forwarded-For;
                          people sign in at the Recurse Center, whose photos are left out where they have more than
                          4,096 bytes. Without it, a sandbox of the service runs in this process, and nothing leaves
                          the machine.
          --folder PATH   where members are stored; a folder that is removed in the end unless stated
          --print-json    prints one line with the addresses, for programs
          -h, --help      prints this

        With --address, CIRCLE_CLIENT_ID and CIRCLE_CLIENT_SECRET are the app's registration at the service, with the redirect URI
        ADDRESS/v1/callback. On standard input, "remove NUMBER" removes a member for good, "readmit NUMBER" lets one join
        again, and "count" says how many there are.

        """

    static func main() async {
        let options = ServerOptions.ofProcess("CircleServer", help: help, port: 8_765, own: ["--address", "--folder"])
        do {
            try await run(options)
        } catch {
            endAfter(error, in: "CircleServer", port: options.port)
        }
    }

    private static func run(_ options: ServerOptions) async throws {
        guard options.values["--address"] == nil else {
            try await serve(options, service: .recurseCenter, sandbox: nil)
            return
        }
        let sandbox = try await Sandbox.start()
        do {
            let origin = try EndpointURL(sandbox.recurseCenter.origin, security: .allowingInsecureLoopback)
            try await serve(options, service: .recurseCenter.at(origin), sandbox: sandbox)
        } catch {
            await sandbox.stop()
            throw error
        }
        await sandbox.stop()
    }

    private static func serve(_ options: ServerOptions, service: Service, sandbox: Sandbox?) async throws {
        let temporary = FileManager.default.temporaryDirectory.appendingPathComponent("circle-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: temporary) }
        let folder = options.values["--folder"] ?? temporary
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let vault = try FileVault(directory: "\(folder)/circle", keyFile: "\(folder)/key/key")
        let address = try PublicAddress(options.values["--address"] ?? "http://127.0.0.1:\(options.port)/circle")
        let circle = try await MemberCircle(named: "Recurse Center", at: address, in: vault)
        let isProxied = sandbox == nil
        var log = Logger(label: "CircleServer")
        log.logLevel = .warning
        let routes = try CircleRoutes<BasicRequestContext>(
            circle, joiningThrough: try client(of: service, at: address, isSandbox: sandbox != nil), log: log,
            address: { isProxied ? CircleRoutes<BasicRequestContext>.forwardedAddress($0, $1) : "127.0.0.1" },
            applicant: member(of:))
        let router = Router()
        routes.add(to: router.group(RouterPath(address.path)))
        log.logLevel = .error
        let application = Application(
            router: router,
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: options.port)),
            onServerRunning: { _ in announce(address, sandbox, isJSON: options.printsJSON) }, logger: log)
        let orders = Task.detached { await follow(circle) }
        defer { orders.cancel() }
        try await application.runService()
    }

    /// The app's registration at the service. Its vault holds an account only while a browser signs in.
    private static func client(of service: Service, at address: PublicAddress, isSandbox: Bool) throws -> Handshake {
        let environment = ProcessInfo.processInfo.environment
        let (id, secret) = ("CIRCLE_CLIENT_ID", "CIRCLE_CLIENT_SECRET")
        guard isSandbox || (environment[id] != nil && environment[secret] != nil) else {
            throw ServerOptions.Problem(description: "--address needs \(id) and \(secret)")
        }
        let client = Client.confidential(
            service: service, id: isSandbox ? "recurse-app" : environment[id] ?? "",
            secret: Secret(isSandbox ? "recurse-app-secret" : environment[secret] ?? ""),
            redirect: .uri(try RedirectURI("\(address)/v1/callback")))
        return try Handshake(client, vault: MemoryVault())
    }

    /// Who an account belongs to: every user with a profile is a member.
    @Sendable private static func member(of account: Account) async throws -> CircleApplicant? {
        let center = RecurseCenter(account)
        let profile = try await center.profile(.me)
        guard let number = UInt32(exactly: profile.id.number) else { return nil }
        // A name and no photo is better than nothing. One that is too large is left out, and the log says so. The service's have 150 by
        // 150 pixels and no smaller form, so many are: an app with an image library shrinks them to CircleApplicant.maximumPhotoSize
        // here, as a JPEG of 96 by 96 pixels, quality 60.
        let photo = try? await center.photo(of: profile)
        return CircleApplicant(
            number: number, name: profile.name, batch: profile.batchLabel, photo: photo.map { Array($0.bytes) })
    }

    private static func announce(_ address: PublicAddress, _ sandbox: Sandbox?, isJSON: Bool) {
        let user = sandbox?.recurseCenter.users.first
        let text =
            isJSON
            ? #"{"circle":"\#(address)","recurse_center":"\#(sandbox?.recurseCenter.origin ?? "")"}"#
            : "The circle is \(address)\n"
                + (user.map { "At the sandbox: \($0.name) \($0.password)\n" } ?? "")
                + "Ctrl-C ends it. \"remove NUMBER\" removes a member, \"readmit NUMBER\" lets one join again, \"count\" counts."
        say(text)
    }

    /// Writes a line immediately, also where standard output is a pipe.
    private static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    /// Does what the operator types.
    private static func follow(_ circle: MemberCircle) async {
        while let line = readLine() {
            let words = line.split(separator: " ")
            switch (words.first, words.dropFirst().first.flatMap { UInt32($0) }) {
            case ("remove", let number?):
                do {
                    try await circle.remove(number)
                    say("\(number) is no member any more.")
                } catch {
                    say("Nothing was removed: \(error)")
                }
            case ("readmit", let number?):
                do {
                    try await circle.readmit(number)
                    say("\(number) may join again.")
                } catch {
                    say("No one was readmitted: \(error)")
                }
            case ("count", nil): say("\(await circle.count) members.")
            default: say("Type \"remove NUMBER\", \"readmit NUMBER\" or \"count\".")
            }
        }
    }
}
#endif
