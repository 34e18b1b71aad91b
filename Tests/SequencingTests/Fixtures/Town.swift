import Handshake
import OAuth
import Sandbox
import Sequencing
import TestFixtures

/// A sandbox, and a user of its Sequencing.com who has signed in.
struct Town: Sendable {
    let sandbox: Sandbox
    let client: Client
    let account: Account
    let genome: Sequencing

    /// - Parameter user: the mail address of one of the sandbox's users; its first one unless stated.
    init(
        user: String? = nil, scopes: [String]? = nil, polling: Polling = Polling(jitter: 0),
        logsWholeRequests: Bool = false
    ) async throws {
        sandbox = try await Sandbox.start(Sandbox.Configuration(logsWholeRequests: logsWholeRequests))
        let security = TransportSecurity.allowingInsecureLoopback
        let origin = sandbox.sequencing.origin
        let service = Service.sequencing.at(try EndpointURL(origin, security: security))
        guard let client = sandbox.sequencing.clients.first(where: { $0.kind == .public })
        else { throw HandshakeError.configuration(member: "client", problem: "the sandbox has no public client") }
        self.client = Client(service: service, id: client.id, scopes: scopes)
        let handshake = try Handshake(self.client, vault: MemoryVault())
        account = try await handshake.signIn(through: Approval(sandbox: sandbox, user: user))
        genome = Sequencing(account, polling: polling, clock: HurriedClock())
        sandbox.clearRequests()
    }

    var hosts: Sequencing.Hosts { genome.hosts }

    /// The paths that the service has been asked for.
    var paths: [String] { sandbox.requests(.sequencing).map(\.path) }

    func inject(_ rule: String) throws {
        sandbox.inject(try FaultRule(parsing: rule))
    }
}

/// The sandbox's user at the browser: consents immediately.
private struct Approval: Browser {
    let sandbox: Sandbox
    let user: String?

    func show(_ page: SignInPage) async throws -> String? {
        guard let user else { return try await sandbox.approve(page.url) }
        return try await sandbox.approve(page.url, as: user)
    }
}
