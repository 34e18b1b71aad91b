import Foundation
import Handshake
import Hummingbird
import IFTTTConnect
import OAuth
import Sandbox
import Synchronization
import TestFixtures
import Testing

@testable import HandshakeServer

@Suite("Webhooks", .heavy)
struct WebhookTests {
    private static let key = "sandbox-service-key-lumen-garden"
    private static let now = 1_735_689_600.0
    private let time = TimeSource(now: { WebhookTests.now }, clock: ContinuousClock())

    private func server(
        _ inbox: Inbox, vault: any Vault = MemoryVault(), time: TimeSource? = nil,
        limits: WebhookLimits = WebhookLimits()
    ) async throws -> RunningServer {
        let router = Router()
        let routes = try WebhookRoutes<BasicRequestContext>(
            serviceKey: Secret(Self.key), former: Secret("key-of-last-year"), vault: vault, limits: limits,
            time: time ?? self.time, log: World.log
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
        let webhooks = await inbox.first(3)
        #expect(webhooks.count == 3 && webhooks.allSatisfy { $0.user == "garden-1001" && $0.connection == id })
        guard case .disabled(let off?) = webhooks.first?.event,
            case .enabled(.some) = webhooks.dropFirst().first?.event,
            case .fired(let trigger) = webhooks.last?.event
        else { return #expect(Bool(false), "\(webhooks)") }
        #expect(
            off > 1_700_000_000 && "\(trigger.id)" == "location.exit_region_location"
                && trigger.userFeatureTriggerID != nil)
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
        #expect(answer["WWW-Authenticate"] == "IFTTT-Service-Key")
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

    @Test("two servers that receive one webhook concurrently deliver it once")
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
        arguments: [-86_400.5, 300.5, 1e9, -now])
    func otherTime(offset: Double) async throws {
        let inbox = Inbox()
        let server = try await server(inbox)
        #expect(try await post(server, body(sentAt: Self.now + offset)).status == 422 && inbox.webhooks.isEmpty)
        #expect(try await post(server, body(sentAt: Self.now + (offset < 0 ? -86_399 : 299))).status == 200)
        await server.stop()
    }

    @Test(
        "limits with which nothing could be taken make no route",
        arguments: [\WebhookLimits.maximumAge, \.clockSkew, \.requestTimeout, \.handlerTimeout])
    func oddLimits(limit: any WritableKeyPath<WebhookLimits, Duration> & Sendable) throws {
        for value in [Duration.seconds(-1), .seconds(1e12)] {
            var limits = WebhookLimits()
            limits[keyPath: limit] = value
            #expect(throws: HandshakeServerError.self) {
                _ = try WebhookRoutes<BasicRequestContext>(
                    serviceKey: Secret("k"), vault: MemoryVault(), limits: limits
                ) { _ in }
            }
        }
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
        var quick = WebhookLimits()
        quick.requestTimeout = .milliseconds(50)
        let server = try await server(inbox)
        #expect(try await post(server, String(repeating: " ", count: ConnectWebhook.limit + 1)).status == 413)
        #expect(try await post(server, body(), type: "text/plain").status == 415)
        let impatient = try await self.server(inbox, limits: quick)
        let head =
            "POST /ifttt/v1/webhooks/connection/enabled HTTP/1.1\r\nHost: x\r\nIFTTT-Service-Key: \(Self.key)\r\n"
            + "Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{"
        let slow = try await WireClient(origin: impatient.origin).exchange(Array(head.utf8), limit: 32)
        #expect(String(decoding: slow, as: UTF8.self).contains("408") && inbox.webhooks.isEmpty)
        await impatient.stop()
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

    @Test("an unknown event is delivered with its data")
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

    @Test("a webhook that comes again with a new time, or after the service key was changed, is not handed over")
    func newTimeAndNewKey() async throws {
        let (inbox, vault) = (Inbox(), MemoryVault())
        let before = try await server(inbox, vault: vault)
        #expect(try await post(before, body()).status == 200)
        #expect(try await post(before, body(sentAt: Self.now + 120)).status == 200)
        let router = Router()
        try WebhookRoutes<BasicRequestContext>(
            serviceKey: Secret("key-of-next-year"), former: Secret(Self.key), vault: vault, time: time, log: World.log
        ) { try inbox.take($0) }.add(to: router)
        let after = try await RunningServer.start(router)
        for key in [Self.key, "key-of-next-year"] {
            #expect(try await post(after, body(), key: key).status == 200)
        }
        #expect(inbox.webhooks.count == 1)
        await before.stop()
        await after.stop()
    }

    @Test(
        "without an identifier, or with one that is very long, a webhook is known by a digest",
        arguments: [nil, String(repeating: "x", count: 4000)])
    func digests(id: String?) async throws {
        let inbox = Inbox()
        let server = try await server(inbox)
        for event in ["connection/enabled", "connection/disabled", "connection/enabled"] {
            #expect(try await post(server, body(), event: event, id: id).status == 200)
        }
        // A long identifier marks one delivery; without any, another event is another delivery.
        #expect(inbox.webhooks.count == (id == nil ? 2 : 1))
        #expect(inbox.webhooks.allSatisfy { $0.requestID.utf8.count == 43 })
        await server.stop()
    }

    @Test("a webhook that cannot be written down is not handed over, and may come again")
    func vaultFails() async throws {
        let (inbox, vault) = (Inbox(), FailingVault())
        let server = try await server(inbox, vault: vault)
        vault.fail()
        let answer = try await post(server, body())
        #expect(answer.status == 503 && answer["Retry-After"] == "5" && inbox.webhooks.isEmpty)
        vault.recover()
        #expect(try await post(server, body()).status == 200 && inbox.webhooks.count == 1)
        await server.stop()
    }

    @Test("what may have been forgotten is refused as too old when the clock was set back")
    func forgotten() async throws {
        let clock = Mutex(Self.now)
        let time = TimeSource(now: { clock.withLock { $0 } }, clock: ContinuousClock())
        let (inbox, vault) = (Inbox(), MemoryVault())
        var limits = WebhookLimits()
        limits.maximumAge = .seconds(900)
        let server = try await server(inbox, vault: vault, time: time, limits: limits)
        #expect(try await post(server, body()).status == 200)
        clock.withLock { $0 += 3600 }
        // One that stands in the same record, so that it is written.
        let content = body(sentAt: Self.now + 3600)
        var number = 0
        while inbox.webhooks.count < 2 {
            number += 1
            let webhook = try ConnectWebhook(Array(content.utf8), type: "", name: "", requestID: "\(number)")
            let first = try ConnectWebhook(Array(body().utf8), type: "", name: "", requestID: "id-1")
            guard Delivery(webhook, tolerance: 900).record == Delivery(first, tolerance: 900).record else { continue }
            #expect(try await post(server, content, id: "\(number)").status == 200)
        }
        clock.withLock { $0 -= 3600 }
        #expect(try await post(server, body()).status == 422 && inbox.webhooks.count == 2)
        #expect(try await post(server, body(sentAt: Self.now + 1)).status == 200 && inbox.webhooks.count == 3)
        await server.stop()
    }
}
