#if CommandLine
import ArgumentParser
import Handshake
import Sandbox

struct RunSandbox: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sandbox", abstract: "Run local stand-ins of services until interrupted.",
        discussion: """
            --service NAME adds a stand-in for a service that login knows by name, such as github, made from its public description. The command \
            that signs in to it needs no app of yours: handshake sandbox --service github

            A fault RULE is [SERVICE] [METHOD] PATH => ACTION [#N] [xN], as in 'recurse-center POST /oauth/token => status 503 x1'. \
            #N: the Nth request alone; xN: N times. \
            Actions: delay SECONDS, status CODE [BODY], cut BYTES, garbage, drop, redirect URL [STATUS], endless, huge BYTES, \
            header NAME VALUE, body JSON, empty, malformed, numbers-as-strings, strings-as-numbers, without NAME, null NAME, \
            member NAME VALUE. \
            The standard server's signed texts (id_token, response, userinfo, introspection, logout_token): TEXT claim NAME VALUE, \
            TEXT header NAME VALUE, TEXT sign KEY, TEXT late SECONDS.

            Many have names, such as id-token:wrong-nonce or response:expired. --faults lists them.
            """)

    @Option(help: "The first of six ports, or more with --service; 0 lets the kernel choose.")
    var port: Int = 0

    @Option(
        help: ArgumentHelp(
            "A service to imitate too, of those that handshake services lists; up to five times.", valueName: "name"))
    var service: [String] = []

    @Flag(help: "Print one JSON object with origins, clients and users as the first line.")
    var printJson = false

    @Option(help: ArgumentHelp("A fault to inject; repeatable.", valueName: "rule"))
    var fault: [String] = []

    @Flag(help: "List the faults that have names, with the rules they stand for, and exit.")
    var faults = false

    @Option(
        help: ArgumentHelp(
            "How long access tokens are valid; each service's own time unless given. What never expires stays so.",
            valueName: "seconds"))
    var tokenLifetime: Int?

    @Flag(help: "The Recurse Center reports \"unauthorized\" with status 200, as in 2014.")
    var legacyErrors = false

    @Flag(
        name: .customLong("mask-as-404"),
        help: "The Recurse Center answers \"not found\" instead of \"unauthorized\".")
    var maskAs404 = false

    @Flag(
        name: .customLong("log-whole-requests"),
        help: "Log whole requests with headers, bodies and secrets (GET /_sandbox/requests).")
    var logsWholeRequests = false

    @Flag(help: "Print nothing but results and errors.")
    var quiet = false

    func run() async throws {
        guard !faults else { return listFaults() }
        guard (0...65_530).contains(port) else { throw CommandError.usage("--port takes 0 to 65530.") }
        if let tokenLifetime, !(1...3_155_760_000).contains(tokenLifetime) {
            throw CommandError.usage("--token-lifetime takes 1 to 3155760000 seconds, which are a hundred years.")
        }
        guard !(legacyErrors && maskAs404) else {
            throw CommandError.usage("--legacy-errors and --mask-as-404 cannot be given together.")
        }
        let imitations = try Imitations(service, keepsSecret: !printJson)
        defer { imitations.end() }
        let services = imitations.services
        let rules = try fault.map { rule throws(FaultRuleError) in try FaultRule(parsing: rule, imitating: services) }
        let sandbox = try await Sandbox.start(
            .init(
                port: port, faults: rules, accessTokenLifetime: tokenLifetime, logsWholeRequests: logsWholeRequests),
            imitating: services)
        if legacyErrors { sandbox.answerUnauthorized(with: .legacy200) }
        if maskAs404 { sandbox.answerUnauthorized(with: .maskedAs404) }
        if printJson {
            Output.result(sandbox.descriptionJSON())
        } else {
            do {
                try describe(sandbox, imitations)
            } catch {
                await sandbox.stop()
                throw error
            }
        }
        do {
            try await Task.sleep(for: .seconds(Double(Int32.max)))
        } catch {
            await sandbox.stop()
            throw error
        }
    }

    private func listFaults() {
        for fault in NamedFault.all {
            Output.result("\(fault.name)  \(fault.note)")
            for rule in fault.rules { Output.result("  \(rule)") }
        }
    }

    /// The command that signs in at a stand-in; nil where `login` is not the way.
    private static func login(at service: SandboxService) -> String? {
        if service.name == .resources { return "handshake login --resource \(service.origin)/mcp" }
        guard let client = service.clients.first else { return nil }
        let name = service.name.rawValue
        if Service.builtIn.contains(where: { $0.name == name }) {
            return "handshake login \(name) --client-id \(client.id) --base-url \(service.origin)"
        }
        return name == StandardStandIn.name.rawValue
            ? "handshake login \(name) --client-id \(client.id) --issuer \(service.origin)" : nil
    }

    /// The same for a client that has no sign-in with a browser; nil where there is none.
    private static func deviceLogin(at service: SandboxService) -> String? {
        guard service.name == StandardStandIn.name,
            let client = service.clients.first(where: { $0.kind == .public && $0.redirectURIs.isEmpty })
        else { return nil }
        return "handshake login device --client-id \(client.id) --issuer \(service.origin) --device"
    }

    /// The command that uses the key of IFTTT's stand-in; nil elsewhere.
    private static func notify(at service: SandboxService) -> String? {
        guard let connect = service.connect, let partner = connect.partners.first, let user = connect.accounts.first
        else { return nil }
        return "printf \(partner.serviceKey) | handshake ifttt notify --user \(user.partnerUserID) "
            + "--service-key-file - --base-url \(service.origin)"
    }

    /// What a client shows to the token endpoint.
    private static func credential(of client: SandboxClient, at service: SandboxService) -> String {
        if let secret = client.secret { return "secret \(secret)" }
        if client.certificate != nil { return "has a certificate; --print-json has it" }
        if client.privateKey != nil { return "signs; --print-json has its key" }
        return client.kind == .public
            ? "public" : "signs; its key file is at \(service.origin)/_sandbox/service-account"
    }

    private func describe(_ sandbox: Sandbox, _ imitations: Imitations) throws {
        for service in sandbox.services {
            let imitation = try imitations.login(at: service)
            Output.result("\(service.name.rawValue)  \(service.origin)")
            for client in service.clients {
                let isInFile = imitation != nil && client.secret != nil
                let credential = isInFile ? "its secret is in the file below" : Self.credential(of: client, at: service)
                Output.result("  client  \(client.id)  \(credential)")
            }
            for user in service.users { Output.result("  user    \(user.name)  password \(user.password)") }
            for partner in service.connect?.partners ?? [] {
                Output.result("  key     \(partner.serviceKey)  service \(partner.id)")
            }
            if let command = imitation ?? Self.login(at: service) ?? Self.notify(at: service) {
                Output.result("  try     \(command)")
            }
            if let command = Self.deviceLogin(at: service) { Output.result("  try     \(command)") }
        }
        Output.note("All accounts and secrets are fictitious. Stop with Ctrl-C.")
    }
}
#endif
