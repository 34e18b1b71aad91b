#if CommandLine
import ArgumentParser
import Handshake
import OAuth
import RecurseCenter
import Sandbox
import Sequencing

struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract:
            "Start a sandbox, sign in to three services, show the user and a genetic report, and turn a connection on.",
        discussion: """
            Nothing leaves this machine and nothing is stored. --headless needs no browser and uses the first sample file. \
            Otherwise you are asked in the terminal which of the sandbox's genetic files to use.
            """)

    @Flag(help: "Without a browser: the sandbox's user signs in.")
    var headless = false

    @Flag(help: "Print the result as one JSON object.")
    var json = false

    @Flag(help: "Print nothing but results and errors.")
    var quiet = false

    func run() async throws {
        let sandbox = try await Sandbox.start()
        do {
            let visits = try await visit(sandbox)
            let activated = try await DemoConnection.activate(on: sandbox, isHeadless: headless)
            await sandbox.stop()
            print(visits, activated)
        } catch {
            await sandbox.stop()
            throw error
        }
    }

    /// One service of the demo, and what came of it.
    private struct Visit {
        let service: Service
        let identity: Identity
        let scopes: [String]
        let refreshes: Int
        let genes: DemoGenes?
        let profile: Profile?
    }

    private func visit(_ sandbox: Sandbox) async throws -> [Visit] {
        var visits: [Visit] = []
        for (service, client) in try clients(of: sandbox) {
            if !headless { introduce(service) }
            let handshake = try Handshake(client, vault: MemoryVault())
            let account = try await signIn(handshake, sandbox)
            let before = account.status.generation
            try await account.refresh()
            let identity = try await account.identity()
            let refreshes = account.status.generation - before
            Output.note("\(client.service.displayName): signed in, refreshed the token, asked for the user.")
            let genes =
                service.name == .sequencing ? try await DemoGenes.read(Sequencing(account), asks: !headless) : nil
            let profile = service.name == .recurseCenter ? try await profile(of: account) : nil
            visits.append(
                Visit(
                    service: client.service, identity: identity, scopes: account.status.scopes, refreshes: refreshes,
                    genes: genes, profile: profile))
        }
        return visits
    }

    private func profile(of account: Account) async throws -> Profile {
        do {
            return try await RecurseCenter(account).profile(.me)
        } catch let error as RecurseCenterError {
            throw RecurseCenterOptions.commandError(error)
        }
    }

    private func signIn(_ handshake: Handshake, _ sandbox: Sandbox) async throws -> Account {
        headless
            ? try await handshake.signIn(through: SandboxUserAgent(sandbox: sandbox))
            : try await handshake.signIn(through: AnnouncedBrowser())
    }

    private func clients(of sandbox: Sandbox) throws -> [(SandboxService, Client)] {
        let security = TransportSecurity.allowingInsecureLoopback
        return try [sandbox.sequencing, sandbox.recurseCenter, sandbox.standard].map { server in
            let service =
                try Service.builtIn.first { $0.name == server.name.rawValue }?
                .at(EndpointURL(server.origin, security: security))
                ?? Service(
                    name: "standard", displayName: "Standards-compliant server",
                    authorizationServer: .discovered(try Issuer(server.origin, security: security), security: security),
                    defaultScopes: ["openid", "profile", "offline_access"])
            guard let client = server.clients.first(where: { $0.kind == .public }) else {
                throw CommandError(
                    status: .defect, code: "sandbox",
                    message: "The sandbox's \(server.name.rawValue) has no public client. Report this defect.")
            }
            return (server, Client(service: service, id: client.id))
        }
    }

    /// Prints the user and password for the sandbox's page.
    private func introduce(_ service: SandboxService) {
        guard let user = service.users.first else { return }
        Output.note("\nThe sandbox's user of \(service.name.rawValue): \(user.name), password \(user.password)")
    }

    private func print(_ visits: [Visit], _ activated: DemoConnection) {
        if json {
            Output.result(
                JSONText.object([
                    (
                        "services",
                        .array(
                            visits.map { visit in
                                .object(
                                    [
                                        ("service", .string(visit.service.name)),
                                        ("subject", .string(visit.identity.subject)),
                                        ("name", .optional(visit.identity.name)),
                                        ("scope", .string(visit.scopes.joined(separator: " "))),
                                        ("refreshes", .integer(Int64(visit.refreshes))),
                                    ] + (visit.genes?.members ?? [])
                                        + (visit.profile.map { [("batch", .string($0.batchLabel))] } ?? []))
                            })
                    ), ("connection", IFTTTShow.json(activated.connection)),
                ]).text)
            return
        }
        let rows =
            [["SERVICE", "USER", "NAME", "SCOPE", "REFRESHED"]]
            + visits.map { visit in
                [
                    visit.service.displayName, visit.identity.subject, visit.identity.name ?? "",
                    visit.scopes.joined(separator: " "), "\(visit.refreshes)×",
                ]
            }
        for line in Table.lines(rows) { Output.result(line) }
        for genes in visits.compactMap(\.genes) {
            Output.result("")
            for line in genes.lines { Output.result(line) }
        }
        for profile in visits.compactMap(\.profile) {
            Output.result("")
            for line in Table.lines([["PROFILE", profile.name, profile.batchLabel]]) { Output.result(line) }
        }
        Output.result("")
        for line in activated.lines { Output.result(line) }
    }
}

/// The sandbox's own user: signs in and consents without a browser, then visits the redirect as a browser would.
private struct SandboxUserAgent: Browser {
    let sandbox: Sandbox

    func show(_ page: SignInPage) async throws -> String? {
        try await sandbox.approve(page.url)
    }
}
#endif
