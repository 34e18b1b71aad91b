import Beacons
import Circles
import Foundation
import HTTPTypes
import Handshake
import Hummingbird
import Logging
import OAuth
import RecurseCenter
import Sandbox
import Synchronization
import TestFixtures

@testable import HandshakeServer
@testable import Nearby

/// A circle of the sandbox's Recurse Center, its server, and people who join it. Time is the test's.
final class CircleWorld: Sendable {
    /// Where the circle is reached from outside: requests go to the port of this process.
    static let address = "https://circle.example/rc"

    let sandbox: Sandbox
    let vault: any Vault
    /// Where the server's client has accounts while browsers sign in.
    let accounts: MemoryVault
    let circle: MemberCircle
    let server: RunningServer
    let wire: WireClient
    let time: SharedTime

    var now: Double { time.now }
    var timestamp: Timestamp { Timestamp(clampingMicroseconds: Int64(now * 1_000_000)) }

    private init(
        sandbox: Sandbox, vault: any Vault, accounts: MemoryVault, circle: MemberCircle, server: RunningServer,
        wire: WireClient, time: SharedTime
    ) {
        self.sandbox = sandbox
        self.vault = vault
        self.accounts = accounts
        self.circle = circle
        self.server = server
        self.wire = wire
        self.time = time
    }

    /// Runs a test body in a world of its own.
    ///
    /// - Parameters:
    ///   - vault: where the circle stores its members.
    ///   - isMember: whom the service knows as a member.
    ///   - photo: the photo that the app hands over of a member.
    ///   - log: what the routes log to.
    ///   - caller: where a request comes from; nil takes the other end of the connection.
    ///   - naming: what the service calls a member, by the name in the sandbox.
    ///   - asking: gets the account by which the routes ask who a member is.
    static func with(
        vault: any Vault = MemoryVault(), isMember: @escaping @Sendable (Int64) -> Bool = { _ in true },
        photo: @escaping @Sendable (Int64) -> [UInt8] = { CircleWorld.photo(of: $0) }, log: Logger = World.log,
        caller: (@Sendable (Request, CircleContext) -> String?)? = nil,
        naming: @escaping @Sendable (String) -> String = { $0 },
        asking: @escaping @Sendable (Account) async throws -> Void = { _ in },
        _ body: (CircleWorld) async throws -> Void
    ) async throws {
        let sandbox = try await Sandbox.start()
        let clock = SharedTime()
        let circle = try await MemberCircle(
            named: "Recurse Center", at: try PublicAddress(address), in: vault, time: clock.serverSource)
        let router = Router(context: CircleContext.self)
        let service = Service.recurseCenter.at(
            try EndpointURL(sandbox.recurseCenter.origin, security: .allowingInsecureLoopback))
        let client = Client.confidential(
            service: service, id: "recurse-app", secret: Secret("recurse-app-secret"),
            redirect: .uri(try RedirectURI("\(address)/v1/callback")))
        let accounts = MemoryVault()
        let routes = try CircleRoutes<CircleContext>(
            circle, joiningThrough: try Handshake(client, vault: accounts), log: log, address: caller
        ) { account in
            try await asking(account)
            let profile = try await RecurseCenter(account).profile(.me)
            guard isMember(profile.id.number) else { return nil }
            return CircleApplicant(
                number: UInt32(profile.id.number), name: naming(profile.name), batch: profile.batchLabel,
                photo: photo(profile.id.number))
        }
        routes.add(to: router.group("rc"))
        let server = try await RunningServer.start(router)
        let world = CircleWorld(
            sandbox: sandbox, vault: vault, accounts: accounts, circle: circle, server: server,
            wire: try WireClient(origin: server.origin), time: clock)
        do {
            try await body(world)
        } catch {
            await world.stop()
            throw error
        }
        await world.stop()
    }

    private func stop() async {
        await server.stop()
        await sandbox.stop()
    }

    static let day = 86_400.0

    /// What stands for a JPEG image of a member.
    static func photo(of number: Int64) -> [UInt8] { [0xFF, 0xD8, 0xFF] + Array("photo of \(number)".utf8) }

    /// Two devices that have joined, and have fetched each other's keys.
    func pair() async throws -> (ada: CircleDevice, adas: JoinedCircle, zoe: CircleDevice, zoes: JoinedCircle) {
        let (ada, zoe) = (CircleDevice(self), CircleDevice(self))
        let adas = try await ada.join()
        let zoes = try await zoe.join(as: CircleDevice.zoe)
        try await adas.synchronize()
        return (ada, adas, zoe, zoes)
    }
}

/// The time of a circle's server and of all its members, which a test moves. Pauses end immediately.
final class SharedTime: Sendable {
    /// 2026-01-01T00:05:00Z, in the middle of a term.
    private let moment = Mutex(1_767_225_900.0)

    var now: Double { moment.withLock(\.self) }
    var source: TimeSource { TimeSource(now: { [self] in now }, clock: HurriedClock()) }
    /// The server's, which waits for the content of a request as long as it takes.
    var serverSource: TimeSource { TimeSource(now: { [self] in now }, clock: ManualClock()) }

    func advance(by seconds: Double) { moment.withLock { $0 += seconds } }
}

/// One device of a member.
struct CircleDevice: Sendable {
    static let zoe = "zoe@example.test"
    static let quentin = "quentin@example.test"

    let world: CircleWorld
    let vault: any Vault
    let transport: Redirecting
    let environment: CircleEnvironment

    /// - Parameters:
    ///   - world: the circle.
    ///   - vault: what it stores. Two devices with one vault are two processes.
    ///   - clockError: how far its clock is ahead, in seconds.
    ///   - draw: what the device draws from a range.
    init(
        _ world: CircleWorld, vault: any Vault = MemoryVault(), clockError: Double = 0,
        draw: @escaping @Sendable (ClosedRange<Double>) -> Double = { $0.lowerBound }
    ) {
        self.world = world
        self.vault = vault
        transport = Redirecting(to: world.server.origin)
        environment = CircleEnvironment(
            vault: vault, community: "recurse-center", transport: transport,
            time: TimeSource(now: { world.now + clockError }, clock: HurriedClock()), random: draw)
    }

    /// Tells the server of the sign-outs that it could not be told of before.
    func deliverFarewells() async {
        let people = StoredPeople(in: vault, community: "recurse-center")
        await people.deliverFarewells(over: transport, at: world.now)
    }

    /// Joins as a user of the sandbox: walks through the pages as a browser does.
    func join(
        as user: String = "ada@example.test", answer: String = "yes", replacing: Bool = false
    ) async throws -> JoinedCircle {
        let joining = try await CircleJoining.begin(
            at: CircleWorld.address, in: environment, replacingIdentity: replacing)
        try await CircleBrowser(world).walk(joining.page, code: joining.code, as: user, answer: answer)
        return try await joining.finish()
    }

    /// The seed of what this device sends in the circle.
    func seed() async throws -> RollingSeed? {
        try await CircleRecords(in: vault, community: "recurse-center", scope: world.circle.scope).state()?.ownSeed
    }

    /// Who a member's beacon of now is to this device.
    func recognizes(_ device: CircleDevice, _ circle: JoinedCircle) async throws -> (person: UserNumber, trust: Trust)?
    {
        guard let seed = try await device.seed() else { return nil }
        return try await recognizes(seed, circle)
    }

    /// Who sends the identifier of now that derives from a seed.
    func recognizes(_ seed: RollingSeed, _ circle: JoinedCircle) async throws -> (person: UserNumber, trust: Trust)? {
        let window = try RollingWindow(at: world.timestamp)
        let uuid = RollingUUID(seed.token(in: window))
        for (trust, keys) in try await circle.dayKeys() {
            var recognition = Recognition()
            recognition.add(keys, trust: trust)
            if let person = recognition.person(of: .rollingService(uuid), at: world.timestamp) {
                return (person, trust)
            }
        }
        return nil
    }
}

/// Sends what is for the circle's public address to the test's server, and remembers it.
final class Redirecting: Transport {
    private let authority: String
    private let log = Mutex<[String]>([])
    private let conditions = Mutex<[String]>([])
    private let failure = Mutex<TransportError?>(nil)
    private let octets = Mutex(0)
    private let lastTimeout = Mutex(Duration.zero)
    private let replacement = Mutex<Replacement?>(nil)
    private let interception = Mutex<Interception?>(nil)

    /// What happens around a request: gets method and path with query, and what sends it.
    typealias Interception =
        @Sendable (_ line: String, _ pass: @Sendable () async throws -> ResponseMessage) async throws -> ResponseMessage

    private struct Replacement {
        let content: String
        let isMeant: @Sendable (String) -> Bool
    }

    init(to origin: String) {
        authority = String(origin.dropFirst("http://".count))
    }

    /// Method and path with query, oldest first.
    var sent: [String] { log.withLock(\.self) }

    /// Of these, the ones that say what the device has: the answer may be that it is the same.
    var conditional: [String] { conditions.withLock(\.self) }

    /// How many bytes of content have come back.
    var received: Int { octets.withLock(\.self) }

    /// The timeout of the last request.
    var timeout: Duration { lastTimeout.withLock(\.self) }

    /// Nothing gets through from now on; nil ends that.
    func fail(_ error: TransportError?) { failure.withLock { $0 = error } }

    /// Answers have another content from now on: a server lies.
    ///
    /// - Parameter isMeant: which ones, by method and path with query.
    func replace(with content: String, where isMeant: @escaping @Sendable (String) -> Bool) {
        replacement.withLock { $0 = Replacement(content: content, isMeant: isMeant) }
    }

    /// Surrounds requests from now on; nil ends that.
    func intercept(with body: Interception?) { interception.withLock { $0 = body } }

    /// Surrounds sign-outs from now on.
    func interceptSignOut(
        with body:
            @escaping @Sendable (_ pass: @Sendable () async throws -> ResponseMessage) async throws ->
            ResponseMessage
    ) {
        intercept { line, pass in try await line == "DELETE /rc/v1/me/token" ? body(pass) : pass() }
    }

    func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        let line = "\(request.head.method.rawValue) \(request.head.path ?? "")"
        log.withLock { $0.append(line) }
        if request.head.headerFields[.ifNoneMatch] != nil { conditions.withLock { $0.append(line) } }
        lastTimeout.withLock { $0 = limits.timeout }
        if let error = failure.withLock(\.self) { throw error }
        var request = request
        request.head.scheme = "http"
        request.head.authority = authority
        let pass = { @Sendable [request] in try await PlatformTransport().send(request, limits: limits) }
        var response: ResponseMessage
        if let interception = interception.withLock(\.self) {
            response = try await interception(line, pass)
        } else {
            response = try await pass()
        }
        octets.withLock { $0 += response.content.count }
        if let replacement = replacement.withLock(\.self), replacement.isMeant(line) {
            response.content = Array(replacement.content.utf8)
        }
        return response
    }
}

/// A browser that keeps cookies and follows the forms of the joining pages.
final class CircleBrowser: Sendable {
    private let world: CircleWorld
    /// The values by name: what is set again is replaced.
    private let cookies = Mutex<[String: String]>([:])

    init(_ world: CircleWorld) {
        self.world = world
    }

    /// Takes the cookies of another tab, whose answers came later.
    func take(from tab: CircleBrowser) {
        let later = tab.cookies.withLock(\.self)
        cookies.withLock { $0.merge(later) { $1 } }
    }

    struct Stuck: Error {
        let status: Int
        let text: String
    }

    func send(_ method: String, _ target: String, body: String = "") async throws -> WireClient.Answer {
        let sent = cookies.withLock(\.self).map { "\($0.key)=\($0.value)" }
        var headers = ["Cookie": sent.joined(separator: "; "), "Accept": "text/html"]
        if method == "POST" {
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            headers["Origin"] = "https://circle.example"
        }
        let answer = try await world.wire.send(method, target, headers: headers, body: body)
        for field in answer.fields where field.name.lowercased() == "set-cookie" {
            let parts = field.value.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1).map(String.init)
            if parts.count == 2 { cookies.withLock { $0[parts[0]] = parts[1] } }
        }
        return answer
    }

    /// Goes through the pages to the end.
    func walk(_ page: String, code: String, as user: String, answer: String) async throws {
        let target = String(page.dropFirst("https://circle.example".count))
        let shown = try await send("GET", target)
        guard shown.status == 200, shown.text.contains(code) else {
            throw Stuck(status: shown.status, text: shown.text)
        }
        let asked = try await approve(target, as: user)
        guard asked.status == 200, let token = Self.token(asked.text) else {
            // Who is no member is told so by the device, too.
            if asked.status == 403 { return }
            throw Stuck(status: asked.status, text: asked.text)
        }
        let done = try await send("POST", "/rc/v1/join", body: "token=\(token)&answer=\(answer)")
        guard done.status == 200 else { throw Stuck(status: done.status, text: done.text) }
    }

    /// Signs in at the service and comes back.
    func approve(_ target: String, as user: String) async throws -> WireClient.Answer {
        let away = try await send("POST", target)
        guard away.status == 303, let location = away["Location"] else {
            throw Stuck(status: away.status, text: away.text)
        }
        let back = try await world.sandbox.approve(location, as: user)
        return try await send("GET", String(back.dropFirst("https://circle.example".count)))
    }

    static func token(_ page: String) -> String? {
        page.firstMatch(of: /name="token" value="([^"]+)"/).map { String($0.1) }
    }
}
