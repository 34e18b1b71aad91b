import Beacons
import Circles
import Foundation
import Handshake
import OAuth
import Synchronization
import TestFixtures
import Testing

@testable import Nearby
@testable import Radio

@Suite("A whole watch in one call")
struct WatchPlanTests {
    private let vault = MemoryVault()
    private let scope = CircleScope(circleAt: "https://circle.example/rc")

    /// Hears nothing until a test ends it.
    private struct SilentRadio: Radio {
        let ends: AsyncStream<Void>
        var sent: @Sendable () -> Void = {}

        func scan(for interest: ScanInterest) -> Scan {
            Scan(asking: { [ends] in
                {
                    for await _ in ends {}
                    return nil
                }
            })
        }

        func advertise<Source: AsyncSequence & Sendable>(
            _ broadcasts: Source, status: @escaping @Sendable (RadioStatus) -> Void
        ) async throws where Source.Element == Broadcast {
            for try await _ in broadcasts {
                sent()
                break
            }
            try await waitForCancellation()
        }
    }

    private struct NoAlerts: Alerts {
        func show(_ alert: Alert) async {}
        func show(_ crowd: CrowdAlert) async {}
    }

    /// A network that is away, and what was asked of it.
    private final class Away: Transport {
        private let asked: @Sendable (String) -> Void

        init(_ asked: @escaping @Sendable (String) -> Void) { self.asked = asked }

        func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
            asked(request.head.path ?? "")
            throw TransportError.unreachable(host: "circle.example", reason: "no network")
        }
    }

    /// A circle that the user is in, with a wave that waits.
    private func join(publishedUntil last: UInt32 = .max) async throws {
        let state = CircleRecords.State(
            address: "https://circle.example/rc", circle: "Hub", service: "service", number: 759, name: "Ada",
            batch: "",
            bearer: "bearer", expires: .max, keys: Data(MemberKeys().reveal()),
            seed: Data(RollingSeed.random().reveal()), publishedUntil: last,
            waves: [.init(id: "wave", person: 36, day: 1, expires: 1e12)])
        try await CircleRecords(in: vault, community: "c", scope: scope).change { $0 = state }
    }

    @Test("it keeps circles current, asks for answers, sends for the circle, and ends with the radio")
    func whole() async throws {
        try await join()
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let left = Mutex<Set<String>>(["waves", "circle", "sent"])
        let note = { @Sendable (what: String) in
            let isOver = left.withLock { left in
                left.remove(what)
                return left.isEmpty
            }
            if isOver { end.finish() }
        }
        let transport = Away { if $0.hasSuffix("/v1/waves") { note("waves") } }
        let ending = try await PeopleNearby.watch(in: vault, community: "c") { period in
            let known = try await KnownPeople(
                in: CircleEnvironment(vault: period, community: "c", transport: transport))
            #expect(known.own == person(759) && known.broadcasts != nil && known.summaries.map(\.circle) == ["Hub"])
            return WatchPlan(
                known, over: SilentRadio(ends: ends) { note("sent") }, sending: known.broadcasts, alerts: NoAlerts(),
                radioEvent: { _ in }
            ) { event in
                if case .circleFailed(.circle(.network)) = event { note("circle") }
            }
        }
        #expect(ending == .ended)
    }

    @Test("CI49: it tells a circle's server that the user has left, which could not be told then")
    func farewell() async throws {
        try await join()
        let address = "https://circle.example/left"
        try await CircleRecords(in: vault, community: "c", scope: CircleScope(circleAt: address)).rememberFarewell(
            CircleFarewell(address: address, bearer: "bearer", isLeaving: true, expires: .max))
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let isTold = Mutex(false)
        let transport = Away { path in
            guard path == "/left/v1/me" else { return }
            isTold.withLock { $0 = true }
            end.finish()
        }
        // Of the circle that the user is in: by then the other server would have been told.
        let failures = Mutex(0)
        let failed = { @Sendable in
            let isEnough = failures.withLock { count in
                count += 1
                return count == 1_000
            }
            if isEnough { end.finish() }
        }
        let time = TimeSource(now: { 1_767_226_050 }, clock: HurriedClock())
        let ending = try await PeopleNearby.watch(in: vault, community: "c") { period in
            let known = try await KnownPeople(
                in: CircleEnvironment(vault: period, community: "c", transport: transport, time: time))
            return WatchPlan(
                known, over: SilentRadio(ends: ends), sending: nil, alerts: NoAlerts(), radioEvent: { _ in }
            ) { event in
                if case .circleFailed = event { failed() }
            }
        }
        #expect(ending == .ended)
        let told = isTold.withLock { $0 }
        #expect(told)
    }

    @Test("CI59: a watch begins again when the published keys end, and sends nothing from then on")
    func keysEnd() async throws {
        let start = 1_767_225_900.0
        try await join(publishedUntil: 20_454)
        func environment(_ vault: any Vault, at time: Double) -> CircleEnvironment {
            CircleEnvironment(
                vault: vault, community: "c", transport: Away { _ in },
                time: TimeSource(now: { time }, clock: ContinuousClock()))
        }
        let time = TimeSource(now: HourlyTime(from: start).next, clock: HurriedClock())
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        defer { end.finish() }
        let ending = try await PeopleNearby.watch(in: vault, community: "c", time: time) { period in
            let known = try await KnownPeople(in: environment(period, at: start))
            #expect(known.broadcasts != nil && known.summaries.map(\.isSilent) == [false])
            return WatchPlan(
                known, over: SilentRadio(ends: ends), sending: known.broadcasts, alerts: NoAlerts(),
                radioEvent: { _ in }, report: { _ in })
        }
        #expect(ending == .changed)
        let known = try await KnownPeople(in: environment(vault, at: start + 86_400))
        #expect(known.broadcasts == nil && known.summaries.map(\.isSilent) == [true])
        #expect(known.summaries.map(\.keysEnd) == [1_767_312_000])
    }

    private struct CountedAlerts: Alerts {
        let shown: @Sendable () -> Void

        func show(_ alert: Alert) async { shown() }
        func show(_ crowd: CrowdAlert) async { shown() }
    }

    @Test("while the user is not to be disturbed, no alert is shown, and afterwards each is")
    func quiet() async throws {
        let quiet = DoNotDisturb(in: vault, community: "c")
        let time = Mutex(100.0)
        let count = Mutex(0)
        let alerts = QuietableAlerts(CountedAlerts { count.withLock { $0 += 1 } }, except: quiet) {
            time.withLock(\.self)
        }
        try await quiet.set(until: 200)
        await alerts.show(Alert(person: person(36), known: nil))
        #expect(count.withLock(\.self) == 0)
        time.withLock { $0 = 201 }
        await alerts.show(Alert(person: person(36), known: nil))
        #expect(count.withLock(\.self) == 1)
    }

    @Test("it ends when keys or circles have changed, or everyone is forgotten")
    func changed() async throws {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        defer { end.finish() }
        let stored = StoredPeople(in: vault, community: "c")
        for (change, ending): (@Sendable () async throws -> Void, PeopleVault.Ending) in [
            ({ try await stored.renewWatches() }, .changed),
            ({ _ = try await stored.forgetEveryone() }, .everyoneForgotten),
        ] {
            let found = try await PeopleNearby.watch(in: vault, community: "c") { period in
                try await change()
                let known = try await KnownPeople(in: CircleEnvironment(vault: vault, community: "c"))
                return WatchPlan(
                    known, over: SilentRadio(ends: ends), sending: nil, alerts: NoAlerts(), radioEvent: { _ in },
                    report: { _ in })
            }
            #expect(found == ending)
        }
    }

    @Test("the user's own number is that of the command line, of the first circle, or what is asked for, in this order")
    func own() async throws {
        // The middle of a window: its identifier is sent from its fifth minute at the latest.
        let now = try #require(Timestamp(secondsSince1970: 1_767_226_050))
        let window = try RollingWindow(at: now)
        #expect(window.start.advanced(by: .seconds(450)) == now)
        let environment = CircleEnvironment(
            vault: vault, community: "c", time: TimeSource(now: { 1_767_226_050 }, clock: ContinuousClock()))
        #expect(try await KnownPeople(in: environment).own == nil)
        #expect(try await KnownPeople(in: environment, asking: { person(5) }).own == person(5))
        try await join()
        #expect(try await KnownPeople(in: environment, asking: { person(5) }).own == person(759))
        #expect(try await KnownPeople(in: environment, own: person(7)).own == person(7))
        // The own beacon is recognised, and not expected.
        let known = try await KnownPeople(in: environment)
        let seed = try #require(known.scopes.seeds.first)
        var recognition = known.recognition
        let heard = BeaconIdentity.rollingService(RollingUUID(seed.token(in: window)))
        #expect(recognition.person(of: heard, at: now) == person(759))
        #expect(await known.expected(at: now).uuids.isEmpty)
    }
}
