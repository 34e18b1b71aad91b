import Handshake
import OAuth
import RecurseCenter
import Sandbox

/// A sandbox, and a user of its Recurse Center who has signed in.
struct Hub: Sendable {
    let sandbox: Sandbox
    let account: Account
    let center: RecurseCenter
    let time = TestTime()

    /// - Parameters:
    ///   - shape: which of the service's two shapes of a person is asked for.
    ///   - isOfOldTimes: whether the server is Hacker School's of 2014, without `/profiles`.
    ///   - personalToken: whether the user brings a personal access token instead of signing in.
    init(
        shape: RecurseCenter.Shape? = nil, isOfOldTimes: Bool = false, personalToken: Bool = false,
        retry: RetryPolicy = RetryPolicy(jitter: 0)
    ) async throws {
        sandbox = try await Sandbox.start()
        let security = TransportSecurity.allowingInsecureLoopback
        let stand = sandbox.recurseCenter
        let base = try EndpointURL(stand.origin, security: security)
        let service = isOfOldTimes ? Service.hackerSchool(at: base) : Service.recurseCenter.at(base)
        if isOfOldTimes { sandbox.inject(try FaultRule(parsing: "recurse-center /api/v1/profiles* => status 404")) }
        guard let client = stand.clients.first(where: { $0.kind == .public })
        else { throw HandshakeError.configuration(member: "client", problem: "the sandbox has no public client") }
        let handshake = try Handshake(Client(service: service, id: client.id), vault: MemoryVault())
        if personalToken {
            account = try await handshake.adopt(
                Grant(
                    accessToken: Secret(stand.personalAccessToken ?? ""), expiresAt: nil, issuedAt: 0,
                    refreshToken: nil, scopes: []))
        } else {
            account = try await handshake.signIn(through: Approval(sandbox: sandbox))
        }
        center = RecurseCenter(account, shape: shape, retry: retry, time: time.source)
        sandbox.clearRequests()
    }

    /// The paths below the API that the service has been asked for.
    var paths: [String] {
        sandbox.requests(.recurseCenter).map { $0.path.replacing("/api/v1/", with: "") }
    }

    var refreshes: Int {
        sandbox.requests(.recurseCenter).count { $0.grantType == "refresh_token" }
    }

    func inject(_ rule: String) throws {
        sandbox.inject(try FaultRule(parsing: "recurse-center \(rule)"))
    }

    func person(_ id: Int64) throws -> PersonID {
        guard let id = PersonID(id) else { throw RecurseCenterError.input(member: "id", problem: "not positive") }
        return id
    }

    func profile(_ id: Int64) async throws -> Profile {
        try await center.profile(.id(person(id)))
    }
}

/// The sandbox's user at the browser: consents immediately.
private struct Approval: Browser {
    let sandbox: Sandbox

    func show(_ page: SignInPage) async throws -> String? {
        try await sandbox.approve(page.url)
    }
}

/// Runs a test body at a hub of its own and stops its sandbox afterwards, also after a failure.
func withHub(
    shape: RecurseCenter.Shape? = nil, isOfOldTimes: Bool = false, personalToken: Bool = false,
    retry: RetryPolicy = RetryPolicy(jitter: 0), _ body: (Hub) async throws -> Void
) async throws {
    let hub = try await Hub(shape: shape, isOfOldTimes: isOfOldTimes, personalToken: personalToken, retry: retry)
    do { try await body(hub) } catch {
        await hub.sandbox.stop()
        throw error
    }
    await hub.sandbox.stop()
}
