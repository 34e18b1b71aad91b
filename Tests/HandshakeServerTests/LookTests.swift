import ConnectButton
import CoreMetrics
import Foundation
import HTTPTypes
import Handshake
import Hummingbird
import IFTTTConnect
import Logging
import MetricsTestKit
import OAuth
import Sandbox
import ServiceLifecycle
import TestFixtures
import Testing

@testable import HandshakeServer

@Suite("Looking how a connection stands", .heavy)
struct LookTests {
    private static let start = 1_735_689_600.0
    private let clock = ManualClock()
    private let transport = HeldTransport()
    private var time: TimeSource {
        TimeSource(now: { [clock] in Self.start + clock.now.offset / .seconds(1) }, clock: clock)
    }

    /// A world whose clock stands still, and a server whose IFTTT does not answer. What is known is known from another one.
    private func scene(
        isKnown: Bool
    ) async throws -> (world: World, server: ButtonServer, place: ConnectSessions.Place) {
        let world = try await World.start(time: time)
        var settings = try world.standardSettings()
        if isKnown {
            let other = try await world.buttons(settings)
            #expect(try await other.state().step == "connect")
            await other.server.stop()
        }
        settings.transport = transport
        settings.freshness = .zero
        let server = try await world.buttons(settings)
        let offer = try requireValue(server.routes.sessions.settings.offers.first)
        return (world, server, ConnectSessions.Place(user: try ConnectButtonUser(id: "new"), offer: offer))
    }

    private func finished(_ server: ButtonServer, _ place: ConnectSessions.Place) async {
        await server.routes.sessions.fetches.end(of: place.key, within: .seconds(600), on: clock)
    }

    @Test(
        "a stored state is returned immediately, also when IFTTT never answers, and IFTTT is asked once for a session")
    func known() async throws {
        let (world, server, place) = try await scene(isKnown: true)
        for _ in 0..<3 { #expect(try await server.state().step == "connect") }
        let answer = try await server.routes.answer(
            for: place.user, connection: place.offer.connection, in: .americanEnglish)
        #expect(answer.state.step == .connect)
        await transport.asked.wait()
        #expect(transport.count == 1)
        transport.answer()
        await finished(server, place)
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("where nothing is known a page waits for three seconds, is told that it is loading, and hears the rest")
    func unknown() async throws {
        let (world, server, place) = try await scene(isKnown: false)
        async let first = server.stateNow()
        async let second = server.stateNow()
        // Both who wait, and the question's own end.
        await clock.sleepers(3)
        clock.advance(by: ConnectSessions.fetchTimeout)
        #expect(try await first.step == "loading")
        #expect(try await second.step == "loading")
        #expect(transport.count == 1)
        transport.answer()
        await finished(server, place)
        #expect(try await server.routes.sessions.peek(at: place)?.activation.state == .initial)
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("an answer that comes in time is waited for")
    func inTime() async throws {
        let (world, server, _) = try await scene(isKnown: false)
        async let state = server.state()
        await transport.asked.wait()
        transport.answer()
        #expect(try await state.step == "connect")
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("a question that is never answered is given up before its process counts as dead")
    func givenUp() async throws {
        let (world, server, place) = try await scene(isKnown: false)
        async let state = server.stateNow()
        await clock.sleeper(for: ConnectSessions.maximumQuestionTime)
        #expect(ConnectSessions.maximumQuestionTime < .seconds(ConnectSessions.lease))
        clock.advance(by: ConnectSessions.maximumQuestionTime)
        _ = try await state
        await finished(server, place)
        let session = try #require(try await server.routes.sessions.peek(at: place))
        #expect(session.activation.state == .loadingFailed && session.activation.failure == .unreachable)
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("a server that closes cancels its fetches, and the next one fetches again", arguments: [true, false])
    func closing(isKnown: Bool) async throws {
        let (world, server, place) = try await scene(isKnown: isKnown)
        let sessions = server.routes.sessions
        let service = Looking(sessions: sessions, place: place, transport: transport)
        let group = ServiceGroup(configuration: .init(services: [service], logger: World.log))
        let running = Task { try await group.run() }
        await transport.asked.wait()
        await group.triggerGracefulShutdown()
        try await running.value
        await finished(server, place)
        #expect(transport.cancelled == 1)
        let session = try #require(try await sessions.stored(at: place))
        #expect(session.lookedAt == 0 && session.lease == nil)
        let other = try await world.buttons()
        #expect(try await other.state().step == "connect")
        await other.server.stop()
        await server.server.stop()
        await world.sandbox.stop()
    }

    /// A server that is asked once, and runs until it is told to close.
    private struct Looking: ServiceLifecycle.Service {
        let sessions: ConnectSessions
        let place: ConnectSessions.Place
        let transport: HeldTransport

        func run() async throws {
            async let session = sessions.look(at: place, in: .americanEnglish)
            await transport.asked.wait()
            try await gracefulShutdown()
            _ = try await session
        }
    }

    @Test("a process that has as many looks under way as it may tells what is known, and asks others to come again")
    func full() async throws {
        let (world, server, _) = try await scene(isKnown: true)
        let fetches = server.routes.sessions.fetches
        for number in 0..<256 { #expect(fetches.enter(VaultKey(.activation, ["\(number)"])) == .free) }
        #expect(fetches.enter(VaultKey(.activation, ["0"])) == .underway)
        #expect(try await server.state().step == "connect")
        let refused = try await server.wire.send("GET", "/connect/aB3dE5fG", headers: ["Cookie": "user=ada"])
        #expect(refused.status == 503 && refused["Retry-After"] == "5" && transport.count == 0)
        fetches.leave(VaultKey(.activation, ["0"]))
        #expect(fetches.enter(VaultKey(.activation, ["0"])) == .free)
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("what was changed at IFTTT reaches the page that was told what had been known")
    func follows() async throws {
        let world = try await World.start(time: time)
        var settings = try world.standardSettings()
        settings.freshness = .zero
        settings.streams.lifetime = .seconds(6)
        let server = try await world.buttons(settings)
        let (_, url) = try await server.leave()
        _ = try await server.visit(try await world.sandbox.activate(url, as: "new@example.test"))
        let token = try #require(try await server.routes.userTokens(for: .init(id: "new")).token())
        _ = try await ConnectAPI(.user(token), at: world.hosts()).disable(try ConnectionID("aB3dE5fG"))
        let listening = Task {
            try await server.wire.send("GET", "/connect/aB3dE5fG/changes", headers: ["Cookie": "user=new"])
        }
        await clock.sleeper(of: settings.streams.interval)
        #expect(try await server.state().step == "connected")
        try await server.look()
        let passing = clock.pass(inStepsOf: settings.streams.interval)
        let heard = try await listening.value.text
        passing.cancel()
        #expect(heard.contains(#""step":"connect""#))
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("a webhook that says that a connection was turned off reaches the open button, and creates no session")
    func webhook() async throws {
        let world = try await World.start(time: time)
        var settings = try world.standardSettings()
        settings.freshness = .seconds(3600)
        settings.streams.lifetime = .seconds(6)
        let server = try await world.buttons(settings)
        let (_, url) = try await server.leave()
        _ = try await server.visit(try await world.sandbox.activate(url, as: "new@example.test"))
        #expect(try await server.state().step == "connected")
        let router = Router()
        let handled = Gate()
        try WebhookRoutes<BasicRequestContext>(serviceKey: world.serviceKey, vault: world.vault, log: World.log) {
            webhook in
            for user in ["new", "ada"] {
                try await server.routes.refresh(webhook.connection, for: try ConnectButtonUser(id: user))
            }
            handled.open()
        }.add(to: router)
        let receiver = try await RunningServer.start(router)
        #expect(world.sandbox.setWebhookPrefix(receiver.origin))
        let listening = Task {
            try await server.wire.send("GET", "/connect/aB3dE5fG/changes", headers: ["Cookie": "user=new"])
        }
        await clock.sleeper(of: settings.streams.interval)
        let token = try #require(try await server.routes.userTokens(for: .init(id: "new")).token())
        _ = try await ConnectAPI(.user(token), at: world.hosts()).disable(try ConnectionID("aB3dE5fG"))
        await handled.wait()
        let passing = clock.pass(inStepsOf: settings.streams.interval)
        defer { passing.cancel() }
        #expect(try await listening.value.text.contains(#""step":"connect""#))
        #expect(try await world.vault.keys(of: .activation).keys.count == 1)
        await receiver.stop()
        await server.server.stop()
        await world.sandbox.stop()
    }
}

@Suite("How often a stream looks")
struct StreamPaceTests {
    @Test("a stream looks often at first and while something is under way, and seldom at rest")
    func pace() async throws {
        let clock = ManualClock()
        var limits = ConnectButtonSettings.Streams()
        limits.attention = .seconds(1)
        let isResting = Gate()
        let subject = ChangeStreams.Subject(user: "ada") {
            .init(session: "s", revision: 1, isResting: isResting.isOpen) { Data() }
        } isPresent: {
            true
        }
        let streams = ChangeStreams(limits)
        let reading = Task {
            let response = try streams.response(watching: subject, time: TimeSource(now: { 0 }, clock: clock))
            try await response.body.write(Unread())
        }
        for _ in 0..<4 {
            await clock.sleeper(for: limits.interval)
            clock.advance(by: limits.interval)
        }
        await clock.sleeper(for: limits.interval)
        isResting.open()
        clock.advance(by: limits.interval)
        await clock.sleeper(for: limits.restingInterval)
        reading.cancel()
        _ = try? await reading.value
    }
}

@Suite("How long a stream lives")
struct StreamEndTests {
    @Test("a stream ends when nothing was in progress and nothing has changed for a while, and another one does not")
    func resting() async throws {
        let clock = ManualClock()
        var limits = ConnectButtonSettings.Streams()
        (limits.attention, limits.restingLifetime, limits.heartbeat) = (.seconds(1), .seconds(30), .seconds(600))
        let seconds: @Sendable () -> Double = { clock.now.offset / .seconds(1) }
        let subjects = [(isResting: true, changesAt: 20.0), (isResting: false, changesAt: 1_000)]
        let streams = ChangeStreams(limits)
        let ends = try await withThrowingTaskGroup(of: (Int, Double).self) { group in
            for (index, subject) in subjects.enumerated() {
                group.addTask {
                    let watched = ChangeStreams.Subject(user: "\(index)") {
                        .init(
                            session: "s", revision: seconds() < subject.changesAt ? 1 : 2, isResting: subject.isResting
                        ) { Data() }
                    } isPresent: {
                        true
                    }
                    let response = try streams.response(
                        watching: watched, time: TimeSource(now: { 0 }, clock: clock))
                    try await response.body.write(Unread())
                    return (index, seconds())
                }
            }
            let passing = clock.pass(inStepsOf: .milliseconds(100), whileAsleep: 1)
            defer { passing.cancel() }
            return try await group.reduce(into: [0.0, 0.0]) { $0[$1.0] = $1.1 }
        }
        // The change at 20 s begins its rest again.
        #expect((48...58).contains(ends[0]), "\(ends[0])")
        #expect(ends[1] >= 300)
    }

    @Test("open streams and refused ones are figures")
    func figures() throws {
        let metrics = TestMetrics()
        var limits = ConnectButtonSettings.Streams()
        limits.maximumPerUser = 1
        let streams = withMetricsFactory(metrics) { ChangeStreams(limits) }
        // It begins with 0: a rule sees the first refusal as a rise.
        #expect(try metrics.expectCounter("handshake_event_streams_refused_total").totalValue == 0)
        let subject = ChangeStreams.Subject(user: "ada") {
            nil
        } isPresent: {
            true
        }
        var response: Response? = try streams.response(watching: subject, time: .system)
        #expect(throws: RequestRefusal.self) { try streams.response(watching: subject, time: .system) }
        #expect(response?.status == .ok)
        response = nil
        #expect(try metrics.expectGauge("handshake_event_streams").values == [1, 0])
        #expect(metrics.counterTotal(label: "handshake_event_streams_refused_total", dimensions: []) == 1)
    }
}

/// Takes what a stream says, and forgets it.
private struct Unread: ResponseBodyWriter {
    func write(_ buffer: ByteBuffer) {}
    func finish(_ trailingHeaders: HTTPFields?) {}
}
