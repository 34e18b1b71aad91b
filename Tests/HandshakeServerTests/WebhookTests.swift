import Foundation
import Handshake
import HandshakeServer
import Hummingbird
import IFTTTConnect
import OAuth
import Sandbox
import Synchronization
import Testing
import WireFixtures

/// What the app's handler was handed.
private final class Inbox: Sendable {
    private let held = Mutex<[ConnectWebhook]>([])
    private let failures = Mutex(0)

    var webhooks: [ConnectWebhook] { held.withLock { $0 } }

    func fail(_ times: Int) { failures.withLock { $0 = times } }

    func take(_ webhook: ConnectWebhook) throws {
        let fails = failures.withLock { left in
            defer { left = max(left - 1, 0) }
            return left > 0
        }
        if fails { throw Absent() }
        held.withLock { $0.append(webhook) }
    }
}

@Suite("Webhooks")
struct WebhookTests {
    private static let key = "sandbox-service-key-lumen-garden"
    private static let now = 1_735_689_600.0
    private let time = TimeSource(now: { WebhookTests.now }, clock: ContinuousClock())

    private func server(
        _ inbox: Inbox, vault: any Vault = MemoryVault(), time: TimeSource? = nil, patience: Duration = .seconds(10)
    ) async throws -> RunningServer {
        let router = Router()
        let routes = try WebhookRoutes<BasicRequestContext>(
            serviceKey: Secret(Self.key), former: Secret("key-of-last-year"), vault: vault, time: time ?? self.time,
            patience: patience, log: World.log
        ) { try inbox.take($0) }
        routes.add(to: router)
        return try await RunningServer.start(router)
    }

    private func body(sentAt: Double = now, _ more: String = "") -> String {
        #"{"sent_at":\#(Int(sentAt * 1000)),"data":{"connection_id":"aB3dE5fG","user_id":"garden-1001"\#(more)},"#
            + #""event_data":{"enabled_at":"1735689599000"}}"#
    }

    private func post(
        _ server: RunningServer, _ body: String, event: String = "connection/enabled", key: String? = key,
        id: String? = "id-1", type: String = "application/json"
    ) async throws -> WireClient.Answer {
        var headers = ["Content-Type": type]
        headers["IFTTT-Service-Key"] = key
        headers["X-Request-ID"] = id
        return try await WireClient(origin: server.origin).send(
            "POST", "/ifttt/v1/webhooks/\(event)", headers: headers, body: body)
    }

    @Test("F076: every event of the sandbox arrives, typed and once")
    func events() async throws {
        let sandbox = try await Sandbox.start()
        let inbox = Inbox()
        let server = try await server(inbox, time: .system)
        #expect(sandbox.setWebhookPrefix(server.origin))
        let hosts = Hosts(allAt: try EndpointURL(sandbox.ifttt.origin, security: .allowingInsecureLoopback))
        let api = ConnectAPI(.user(try #require(UserToken(Secret("utk_sandbox_ada")))), at: hosts)
        let id = try ConnectionID("aB3dE5fG")
        _ = try await api.disable(id)
        _ = try await api.enable(id)
        let service = ConnectService(key: Secret(Self.key), at: hosts)
        try await service.test(
            ComponentSlug(service: "location", name: "exit_region_location"), in: id, RunOptions(for: "garden-1001"))
        // Webhooks go out one after another behind the answers.
        for _ in 0..<200 where inbox.webhooks.count < 3 { try await Task.sleep(for: .milliseconds(20)) }
        let webhooks = inbox.webhooks
        #expect(webhooks.count == 3 && webhooks.allSatisfy { $0.user == "garden-1001" && $0.connection == id })
        guard case .disabled(let off?) = webhooks.first?.event,
            case .enabled(.some) = webhooks.dropFirst().first?.event,
            case .fired(let trigger) = webhooks.last?.event
        else { return #expect(Bool(false), "\(webhooks)") }
        #expect(
            off > 1_700_000_000 && trigger.id == "location.exit_region_location" && trigger.userFeatureTriggerID != nil)
        await server.stop()
        await sandbox.stop()
    }

    @Test(
        "without the service key nothing is read and nothing is taken",
        arguments: [
            nil, "", "sandbox-service-key-lumen-gardem", "sandbox-service-key-lumen-garden ", "key-of-the-year",
        ])
    func forged(key: String?) async throws {
        let inbox = Inbox()
        let server = try await server(inbox)
        let answer = try await post(server, "{", key: key?.trimmingCharacters(in: .whitespaces) == Self.key ? "x" : key)
        #expect(answer.status == 401 && answer.string("code") == "unauthorized" && inbox.webhooks.isEmpty)
        await server.stop()
    }

    @Test("the key before is taken while it is being replaced, and an empty key makes no route")
    func formerKey() async throws {
        let inbox = Inbox()
        let server = try await server(inbox)
        #expect(try await post(server, body(), key: "key-of-last-year").status == 200 && inbox.webhooks.count == 1)
        #expect(throws: HandshakeServerError.self) {
            _ = try WebhookRoutes<BasicRequestContext>(serviceKey: Secret(""), vault: MemoryVault()) { _ in }
        }
        await server.stop()
    }

    @Test("a webhook that comes again is answered with 200 and not handed over, on any server")
    func replay() async throws {
        let (inbox, vault) = (Inbox(), MemoryVault())
        let (one, two) = (try await server(inbox, vault: vault), try await server(inbox, vault: vault))
        #expect(try await post(one, body()).status == 200)
        #expect(try await post(one, body()).status == 200)
        #expect(try await post(two, body()).status == 200)
        #expect(inbox.webhooks.count == 1)
        // Without an identifier the content is one.
        #expect(try await post(one, body(), id: nil).status == 200)
        #expect(try await post(two, body(), id: nil).status == 200)
        #expect(inbox.webhooks.count == 2)
        await one.stop()
        await two.stop()
    }

    @Test("two servers that get one webhook at once hand it over once")
    func race() async throws {
        let (inbox, vault) = (Inbox(), MemoryVault())
        let (one, two) = (try await server(inbox, vault: vault), try await server(inbox, vault: vault))
        async let first = post(one, body())
        async let second = post(two, body())
        let statuses = try await [first.status, second.status]
        #expect(inbox.webhooks.count == 1 && statuses.contains(200))
        #expect(statuses.allSatisfy { [200, 503].contains($0) })
        await one.stop()
        await two.stop()
    }

    @Test("what the app could not take may come again")
    func handlerFails() async throws {
        let inbox = Inbox()
        inbox.fail(1)
        let server = try await server(inbox)
        #expect(try await post(server, body()).status == 500 && inbox.webhooks.isEmpty)
        #expect(try await post(server, body()).status == 200 && inbox.webhooks.count == 1)
        await server.stop()
    }

    @Test(
        "a webhook of another time is refused",
        arguments: [-900.5, 900.5, -86_400, 1e9, -now])
    func otherTime(offset: Double) async throws {
        let inbox = Inbox()
        let server = try await server(inbox)
        #expect(try await post(server, body(sentAt: Self.now + offset)).status == 422 && inbox.webhooks.isEmpty)
        #expect(try await post(server, body(sentAt: Self.now + (offset < 0 ? -899 : 899))).status == 200)
        await server.stop()
    }

    @Test(
        "what is no webhook is refused with the place that is wrong",
        arguments: [
            ("", ""), ("[]", ""), (#"{"sent_at":"soon"}"#, "/sent_at"), (#"{"sent_at":1e400,"data":{}}"#, "/sent_at"),
            (#"{"sent_at":-1,"data":{}}"#, "/sent_at"), (#"{"sent_at":1735689600000}"#, "/data"),
            (#"{"sent_at":1735689600000,"data":{"connection_id":"../x"}}"#, "/data/connection_id"),
            (#"{"sent_at":1735689600000,"data":{"connection_id":"aB3dE5fG","user_id":7}}"#, "/data/user_id"),
            (#"{"sent_at":1735689600000,"data":{"connection_id":"a","user_id":"u","user_id":"v"}}"#, ""),
        ])
    func malformed(body: String, pointer: String) async throws {
        let inbox = Inbox()
        let server = try await server(inbox)
        let answer = try await post(server, body)
        #expect(answer.status == 400 && answer.string("type") == "error" && inbox.webhooks.isEmpty)
        #expect(answer.string("message")?.hasPrefix(pointer + " ") == true)
        await server.stop()
    }

    @Test("too long, too slow or of another type is refused")
    func limits() async throws {
        let inbox = Inbox()
        let server = try await server(inbox, patience: .milliseconds(50))
        #expect(try await post(server, String(repeating: " ", count: ConnectWebhook.limit + 1)).status == 413)
        #expect(try await post(server, body(), type: "text/plain").status == 415)
        let head =
            "POST /ifttt/v1/webhooks/connection/enabled HTTP/1.1\r\nHost: x\r\nIFTTT-Service-Key: \(Self.key)\r\n"
            + "Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{"
        let slow = try await WireClient(origin: server.origin).exchange(Array(head.utf8), limit: 32)
        #expect(String(decoding: slow, as: UTF8.self).contains("408") && inbox.webhooks.isEmpty)
        await server.stop()
    }

    @Test("F076: an update is told with its time")
    func update() async throws {
        let inbox = Inbox()
        let server = try await server(inbox)
        let content = body().replacing("enabled_at", with: "updated_at")
        #expect(try await post(server, content, event: "connection/updated").status == 200)
        #expect(inbox.webhooks.map(\.event) == [.updated(at: Self.now - 1)])
        await server.stop()
    }

    @Test("an event that nobody knows yet is handed over with what it carries")
    func unknownEvent() async throws {
        let inbox = Inbox()
        let server = try await server(inbox)
        #expect(try await post(server, body(), event: "connection/renamed").status == 200)
        guard case .other("connection", "renamed", let data)? = inbox.webhooks.first?.event else {
            return #expect(Bool(false))
        }
        #expect(data.object?["data"]?.object?["user_id"]?.string == "garden-1001")
        await server.stop()
    }

    @Test("what is remembered of minutes that are over is removed")
    func memory() async throws {
        let clock = Mutex(Self.now)
        let time = TimeSource(now: { clock.withLock { $0 } }, clock: ContinuousClock())
        let (inbox, vault) = (Inbox(), MemoryVault())
        let server = try await server(inbox, vault: vault, time: time)
        for hour in 0..<5 {
            clock.withLock { $0 = Self.now + Double(hour) * 3600 }
            #expect(try await post(server, body(sentAt: Self.now + Double(hour) * 3600), id: "\(hour)").status == 200)
        }
        #expect(try await vault.keys(of: .delivery).keys.count == 1 && inbox.webhooks.count == 5)
        await server.stop()
    }
}

@Suite("Token exchange")
struct UserTokenTests {
    private func server(_ world: World) async throws -> RunningServer {
        let router = Router()
        let service = ConnectService(key: world.serviceKey, at: try world.hosts())
        let users = ["ada": "garden-1001", "new": "garden-1005", "ghost": "garden-1001"]
        let sandbox = world.sandbox
        let routes = UserTokenRoutes<BasicRequestContext>(
            service, at: try PublicAddress(World.address), time: TimeSource(now: { 1000 }, clock: ContinuousClock()),
            log: World.log
        ) { request, context in
            guard let name = World.user(request, context)?.id, let id = users[name] else { return nil }
            let accessToken = name == "ghost" ? "somebody-elses" : "access_sandbox_\(name)"
            return PartnerUser(id: id, accessToken: Secret(accessToken)) {
                Secret(try sandbox.issueOAuthCode(for: "\(name)@example.test"))
            }
        }
        routes.add(to: router.group("connect"))
        return try await RunningServer.start(router)
    }

    private func post(
        _ server: RunningServer, _ name: String, as user: String, _ headers: [String: String] = [:]
    ) async throws -> WireClient.Answer {
        try await WireClient(origin: server.origin).send(
            "POST", "/connect/\(name)", headers: ["Cookie": "user=\(user)"].merging(headers) { $1 })
    }

    @Test("F069: a signed-in user gets their own token, and what is wrong is told without telling secrets")
    func exchange() async throws {
        let world = try await World.start()
        let server = try await server(world)
        let answer = try await post(server, "user_token?user_id=garden-1002", as: "ada")
        #expect(answer.status == 200 && answer.string("user_token") == "utk_sandbox_ada")
        #expect(answer["Cache-Control"] == "no-store")
        #expect(try await post(server, "user_token", as: "nobody").status == 401)
        #expect(try await post(server, "user_token", as: "new").status == 502)
        let ghost = try await post(server, "user_token", as: "ghost")
        #expect(ghost.status == 502 && !ghost.text.contains("somebody-elses"))
        #expect(try await post(server, "user_token", as: "ada", ["Origin": "https://evil.example"]).status == 403)
        await server.stop()
        await world.sandbox.stop()
    }

    @Test("F070: a provisional code is made of the user's own OAuth code, and leads through the Connect URL")
    func provisional() async throws {
        let world = try await World.start()
        let server = try await server(world)
        let answer = try await post(server, "provisional_access_code", as: "new")
        #expect(answer.status == 201 && answer.string("provisional_access_code")?.hasPrefix("pac") == true)
        await server.stop()
        await world.sandbox.stop()
    }

    @Test("a user asks so often and no more")
    func rate() async throws {
        let world = try await World.start()
        let server = try await server(world)
        for _ in 0..<10 { #expect(try await post(server, "user_token", as: "ada").status == 200) }
        let refused = try await post(server, "user_token", as: "ada")
        #expect(refused.status == 429 && refused["Retry-After"] == "6")
        #expect(try await post(server, "provisional_access_code", as: "new").status == 201)
        await server.stop()
        await world.sandbox.stop()
    }
}
