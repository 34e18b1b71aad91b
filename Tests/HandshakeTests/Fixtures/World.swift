import Foundation
import HTTPTypes
import Handshake
import OAuth
import Sandbox
import Synchronization

/// A sandbox, a vault and an app that knows one of the sandbox's services.
struct World: Sendable {
    let sandbox: Sandbox
    let vault: any Vault
    let time = AdjustableTime()
    let stand: SandboxService.Name

    init(
        _ stand: SandboxService.Name = .recurseCenter, vault: any Vault = MemoryVault(),
        configuration: Sandbox.Configuration = .init()
    ) async throws {
        sandbox = try await Sandbox.start(configuration)
        self.vault = vault
        self.stand = stand
    }

    /// The service as an app describes it.
    func service(_ name: SandboxService.Name? = nil) throws -> Service {
        let stand = self[name ?? stand]
        let security = TransportSecurity.allowingInsecureLoopback
        return try Service.builtIn.first { $0.name == stand.name.rawValue }?
            .at(EndpointURL(stand.origin, security: security))
            ?? Service(
                name: "standard",
                authorizationServer: .discovered(try Issuer(stand.origin, security: security), security: security),
                defaultScopes: ["openid", "profile", "offline_access", "api"])
    }

    /// The sandbox's public client of the service.
    func client(scopes: [String]? = nil, redirect: Client.Redirect = .loopback) throws -> Client {
        let id = self[stand].clients.first { $0.kind == .public }?.id ?? ""
        return Client(service: try service(), id: id, redirect: redirect, scopes: scopes)
    }

    /// The sandbox's confidential client with this identifier, or the first one.
    func confidentialClient(_ id: String? = nil, scopes: [String]? = nil) throws -> Client {
        let client = self[stand].clients.first { $0.secret != nil && (id == nil || $0.id == id) }
        return Client.confidential(
            service: try service(), id: client?.id ?? "", secret: Secret(client?.secret ?? ""), scopes: scopes)
    }

    /// An app with this client, as a process of its own would have it.
    func app(
        _ client: Client? = nil, transport: any Transport = .platform, vault: (any Vault)? = nil,
        clock: any Clock<Duration> = .continuous
    ) throws -> Handshake {
        try Handshake(
            client ?? self.client(), vault: vault ?? self.vault,
            transport: UndatedTransport(base: transport, time: time),
            time: TimeSource(now: time.source.now, clock: clock),
            limits: Self.limits)
    }

    /// What an exchange of the app may cost. No test waits for the deadline, on a machine however slow.
    static let limits = TransferLimits(timeout: .seconds(3_600))

    /// Holds the clocks of the apps and of the sandbox at one moment. From then on they move only when they are advanced.
    ///
    /// The `Date` of the sandbox's answers stays the machine's. Apps do not see it: their proofs would follow it.
    func holdClocks() {
        sandbox.holdClock(at: Date(timeIntervalSince1970: time.hold()))
    }

    /// A signed-in account in a new app.
    func signedIn(_ client: Client? = nil, transport: any Transport = .platform) async throws -> (Handshake, Account) {
        let handshake = try app(client, transport: transport)
        let account = try await handshake.signIn(through: ApprovingBrowser(sandbox: sandbox))
        sandbox.clearRequests()
        return (handshake, account)
    }

    func inject(_ rule: String) throws {
        sandbox.inject(try FaultRule(parsing: rule))
    }

    /// How many token requests of a kind the service has received.
    func tokenRequests(_ grantType: String = "refresh_token") -> Int {
        sandbox.requests(stand).count { $0.grantType == grantType }
    }

    subscript(name: SandboxService.Name) -> SandboxService {
        switch name {
        case .sequencing: sandbox.sequencing
        case .recurseCenter: sandbox.recurseCenter
        case .ifttt: sandbox.ifttt
        default: sandbox.standard
        }
    }
}

extension SandboxService.Name {
    /// The services that one signs in to by OAuth. IFTTT gives its tokens otherwise.
    static let withSignIn: [SandboxService.Name] = [.sequencing, .recurseCenter, .standard]
}

/// The sandbox's user at the browser: consents immediately.
struct ApprovingBrowser: Browser {
    let sandbox: Sandbox

    func show(_ page: SignInPage) async throws -> String? {
        try await sandbox.approve(page.url)
    }
}

/// A browser that answers with whatever a test wants.
struct ScriptedBrowser: Browser {
    let answer: @Sendable (SignInPage) async throws -> String?

    func show(_ page: SignInPage) async throws -> String? {
        try await answer(page)
    }
}

/// The machine's clock, moved forward by a test, or a held one.
final class AdjustableTime: Sendable {
    private struct State {
        var offset = 0.0
        /// The machine's time at which the clock is held.
        var held: Double?

        var now: Double { (held ?? TimeSource.system.now()) + offset }
    }

    private let state = Mutex(State())

    func advance(by seconds: Double) {
        state.withLock { $0.offset += seconds }
    }

    var isHeld: Bool { state.withLock { $0.held != nil } }

    /// From now on the clock moves only when it is advanced.
    ///
    /// - Returns: the time at which it stands, in seconds since 1970.
    func hold() -> Double {
        state.withLock { state in
            state.held = TimeSource.system.now()
            return state.now
        }
    }

    var source: TimeSource {
        TimeSource(now: { self.state.withLock { $0.now } }, clock: ContinuousClock())
    }
}

/// Takes the time of the server's machine out of answers while the clocks are held.
private struct UndatedTransport: Transport {
    let base: any Transport
    let time: AdjustableTime

    private func undated(_ head: HTTPResponse) -> HTTPResponse {
        var head = head
        if time.isHeld { head.headerFields[.date] = nil }
        return head
    }

    func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        var response = try await base.send(request, limits: limits)
        response.head = undated(response.head)
        return response
    }

    func stream(
        _ request: RequestMessage, limits: TransferLimits,
        receive: @escaping @Sendable (HTTPResponse, [UInt8]) async throws -> Void
    ) async throws -> HTTPResponse {
        undated(try await base.stream(request, limits: limits) { try await receive(undated($0), $1) })
    }

    func presenting(_ certificate: ClientCertificate) throws(HandshakeError) -> any Transport {
        UndatedTransport(base: try base.presenting(certificate), time: time)
    }
}

/// A transport that a test can look into and change, in front of the real one.
final class TappedTransport: Transport {
    private let base: any Transport
    private let tap: @Sendable (RequestMessage, any Transport, TransferLimits) async throws -> ResponseMessage
    private let sent = Mutex<[RequestMessage]>([])

    init(
        base: any Transport = .platform,
        _ tap: @escaping @Sendable (RequestMessage, any Transport, TransferLimits) async throws -> ResponseMessage = {
            try await $1.send($0, limits: $2)
        }
    ) {
        self.base = base
        self.tap = tap
    }

    func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        sent.withLock { $0.append(request) }
        return try await tap(request, base, limits)
    }

    /// Everything that was sent.
    var requests: [RequestMessage] {
        sent.withLock { $0 }
    }
}

/// The access tokens that twenty callers of each account get who ask at the same time.
func tokensOfManyCallers(_ accounts: [Account]) async throws -> Set<String> {
    try await withThrowingTaskGroup(of: String.self) { group in
        for account in accounts {
            for _ in 0..<20 { group.addTask { try await account.accessToken().reveal() } }
        }
        return try await group.reduce(into: []) { $0.insert($1) }
    }
}

/// What a throwing call threw, as this package's error.
func handshakeError<Value>(_ body: () async throws -> Value) async -> HandshakeError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? HandshakeError
    }
}
