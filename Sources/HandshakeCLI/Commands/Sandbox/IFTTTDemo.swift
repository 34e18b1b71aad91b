#if CommandLine
import Handshake
import IFTTTConnect
import OAuth
import Sandbox

/// The demo's part about IFTTT: a connection turned on from end to end, and shown on.
struct DemoConnection {
    let connection: Connection

    /// Turns the sandbox's first connection on for a new user.
    ///
    /// - Parameter isHeadless: whether the sandbox's own user goes through the pages; otherwise a person does, in the
    ///   browser.
    static func activate(on sandbox: Sandbox, isHeadless: Bool) async throws -> DemoConnection {
        let service = Service.ifttt.at(try EndpointURL(sandbox.ifttt.origin, security: .allowingInsecureLoopback))
        guard let connect = sandbox.ifttt.connect, let first = connect.connections.first else {
            throw CommandError(
                status: .defect, code: "sandbox",
                message: "The sandbox has no connection. Report this defect.")
        }
        let email = "new@example.test"
        let loopback = try LoopbackBrowser(AnnouncedBrowser())
        let browser: any ConnectBrowser = isHeadless ? SandboxVisitor(sandbox: sandbox) : loopback
        var configuration = ConnectActivation.Configuration(
            try ConnectionID(first.id), callback: loopback.callbackURL, suggestedEmail: email)
        configuration.addresses = ActivationAddresses(Hosts(of: service))
        let client = Client(service: service, id: first.partnerID, redirect: .loopback(path: "/connect_callback"))
        let tokens = UserTokens(in: try Handshake(client, vault: MemoryVault()))
        let controller = ConnectController(
            ConnectActivation(configuration), tokens: tokens, environment: environment(browser, sandbox, email),
            through: .init(hosts: Hosts(of: service)))
        return try await IFTTTFailure.reported {
            let run = ActivationRun(controller: controller, email: email, timeout: .seconds(300))
            return DemoConnection(connection: try await run.result().0)
        }
    }

    /// The partner's own OAuth code, so that the user need not sign in there again.
    private static func environment(
        _ browser: any ConnectBrowser, _ sandbox: Sandbox, _ email: String
    ) -> ConnectEnvironment {
        var environment = ConnectEnvironment(browser: browser, tokens: .redirect)
        environment.oauthCode = { Secret(try sandbox.issueOAuthCode(for: email)) }
        return environment
    }

    /// For people.
    var lines: [String] {
        Table.lines([
            ["CONNECTION", connection.name], ["Status", connection.status.rawValue],
            ["Services", connection.services.map(\.name).joined(separator: ", ")],
        ])
    }
}

/// The sandbox's own user at IFTTT, without a browser.
private struct SandboxVisitor: ConnectBrowser {
    let sandbox: Sandbox

    func open(_ destination: ConnectActivation.Destination) async throws -> String? {
        try await sandbox.activate(destination.url)
    }
}
#endif
