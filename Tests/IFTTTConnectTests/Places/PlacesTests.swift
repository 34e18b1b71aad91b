import Foundation
import Geofences
import HTTPTypes
import Handshake
import Logging
import OAuth
import Synchronization
import TestFixtures
import Testing

@testable import IFTTTConnect

/// A synchronizer over a script, with a vault and a clock that the test moves.
struct PlacesBench {
    static let exit = "7c9d4f10-58a1-4b7b-8d3e-2f0f6a6f0002"
    static let path = "/v2/connections/aB3dE5fG"
    static let upload = "POST /v1/location_events"
    static let me = "GET /v2/me"
    static let now = 1_735_689_600.0

    /// Seconds after ``now``.
    static func date(_ seconds: Double) -> Date { Date(timeIntervalSince1970: now + seconds) }

    let ifttt: ScriptedIFTTT
    let vault: any Vault
    let clock = HurriedClock()

    final class Wall: Sendable {
        let seconds = Mutex(PlacesBench.now)
        let hasToken = Mutex(true)
        let token = Mutex("utk_sandbox_9f2c")
    }

    let state = Wall()

    init(_ replies: [String: [ScriptedIFTTT.Reply]] = [:], vault: any Vault = MemoryVault()) {
        ifttt = ScriptedIFTTT(
            [
                "GET \(Self.path)": [.json(Balcony.json())], Self.upload: [.status(204)],
                Self.me: [.json(Self.user("edsger_i"))],
            ].merging(replies) { $1 })
        self.vault = vault
    }

    /// - Parameter clock: nil for one on which no pause lasts.
    func synchronizer(
        of account: String = "ifttt", clock: (any Clock<Duration>)? = nil, log: Logger = Logger(label: "test"),
        _ configure: (inout PlacesSynchronizer.Configuration) -> Void = { _ in }
    ) throws -> PlacesSynchronizer {
        var configuration = PlacesSynchronizer.Configuration()
        configure(&configuration)
        let state = state
        let caller = ConnectAPI.Caller(userToken: {
            state.hasToken.withLock { $0 } ? UserToken(Secret(state.token.withLock { $0 })) : nil
        })
        let time = TimeSource(now: { state.seconds.withLock { $0 } }, clock: clock ?? self.clock)
        return PlacesSynchronizer(
            of: account, api: ConnectAPI(caller, transport: ifttt, time: time), vault: vault,
            configuration: configuration, time: time, log: log)
    }

    /// What `me` answers for a user.
    static func user(_ login: String) -> String {
        #"{"type":"me","authentication_level":"user","service_id":"lumen_garden","user_login":"\#(login)"}"#
    }

    /// Another token is stored, as by a sign-in in another process.
    func signIn(_ token: String) { state.token.withLock { $0 = token } }

    /// How often a connection was fetched.
    var fetches: Int { ifttt.lines.count { $0.hasPrefix("GET \(Self.path)") } }

    func pass(_ seconds: Double) { state.seconds.withLock { $0 += seconds } }

    /// The records of all uploads, in order.
    var uploads: [[[String: String]]] {
        get throws {
            try ifttt.requests.filter { $0.line == Self.upload }.map { request in
                let list = try #require(try JSONValue(parsing: Array(request.content.utf8)).array)
                return list.map { record in
                    let texts = (record.object ?? [:]).compactMap { member in
                        member.value.string.map { (member.key, $0) }
                    }
                    return Dictionary(uniqueKeysWithValues: texts)
                }
            }
        }
    }

    /// A connection with areas of given kinds: subscription `a0`, `a1`, ….
    static func connection(_ types: [String], latitude: Double = 52.52, status: String = "\"enabled\"") -> String {
        let features = types.enumerated().map { number, type in
            """
            {"id":"u\(number)","feature_id":"ft01","enabled":true,"user_fields":[],"user_feature_queries":[],
            "user_feature_actions":[],"user_feature_triggers":[{"id":"a\(number)","feature_trigger_id":"tr01",
            "user_fields":[{"field_id":"location","field_type":"\(type)","value":{"lat":\(latitude),
            "lng":\(13.4 + Double(number) * 0.1),"radius":100,"address":"A","description":"B","zoom":16}}]}]}
            """
        }
        return Balcony.json(status: status, userConnection: "{\"user_features\":[\(features.joined(separator: ","))]}")
    }
}

extension PlacesSynchronizer {
    /// Ends the sequence of events, and returns all of them.
    func finishedEvents() async -> [PlaceEvent] {
        finishEvents()
        var finished: [PlaceEvent] = []
        for await event in events { finished.append(event) }
        return finished
    }
}

extension PlacesSynchronizer {
    /// Records a crossing at a time in seconds since 1970.
    @discardableResult
    func record(
        _ kind: RegionCrossing.Kind, of region: String, at seconds: Double
    ) async throws -> AreaCrossing? {
        try await record(RegionCrossing(kind, of: region, at: Date(timeIntervalSince1970: seconds)))
    }
}

@Suite("Places")
struct PlacesTests {
    private func id() throws -> ConnectionID { try ConnectionID(Balcony.id) }

    @Test(
        "F080, F086: a crossing is recorded before anything is activated, fetched or signed in, and survives a restart")
    func earliest() async throws {
        let bench = PlacesBench(["GET \(PlacesBench.path)": [.unreachable]])
        bench.state.hasToken.withLock { $0 = false }
        try await bench.synchronizer().record(.exit, of: "ifttt_\(PlacesBench.exit)", at: PlacesBench.now - 5)
        #expect(bench.ifttt.requests.isEmpty)
        let waiting = try await bench.synchronizer().queue.crossings()
        #expect(waiting.map(\.subscriptionID) == [PlacesBench.exit])
        #expect(waiting.map(\.occurredAt) == [PlacesBench.now - 5])
    }

    @Test(
        "F081, F082: an activated connection's areas are regions named after their triggers; deactivating leaves nothing"
    )
    func activation() async throws {
        let bench = PlacesBench()
        let synchronizer = try bench.synchronizer()
        #expect(try await synchronizer.activate([id()]) == .newData)
        let regions = try await synchronizer.regions
        #expect(regions.map(\.id) == ["ifttt_\(PlacesBench.exit)"])
        let center = try Coordinate(latitude: 52.5201, longitude: 13.4049)
        #expect(regions.map(\.shape) == [.circle(try Circle(center: center, radius: 180.5))])
        #expect(try await bench.synchronizer().regions == regions)
        try await synchronizer.record(.exit, of: regions[0].id, at: PlacesBench.now)
        try await synchronizer.deactivate()
        #expect(try await synchronizer.regions.isEmpty)
        #expect(try await synchronizer.queue.crossings().isEmpty)
        #expect(try await bench.vault.keys(of: .crossings).keys.isEmpty)
    }

    @Test("F083: areas that moved, were removed or whose connection is off are other regions after a synchronization")
    func changes() async throws {
        let bench = PlacesBench([
            "GET \(PlacesBench.path)": [
                .json(PlacesBench.connection(["LOCATION_EXIT", "LOCATION_ENTER"])),
                .json(PlacesBench.connection(["LOCATION_EXIT"], latitude: 50)),
                .json(PlacesBench.connection(["LOCATION_EXIT"], latitude: 50)),
                .json(PlacesBench.connection(["LOCATION_EXIT"], status: "\"disabled\"")), .status(404),
            ]
        ])
        let synchronizer = try bench.synchronizer()
        try await synchronizer.activate([id()])
        #expect(try await synchronizer.regions.map(\.id) == ["ifttt_a0", "ifttt_a1"])
        #expect(await synchronizer.synchronize() == .newData)
        #expect(try await synchronizer.regions.map(\.id) == ["ifttt_a0"])
        #expect(await synchronizer.synchronize() == .noData)
        #expect(await synchronizer.synchronize() == .newData)
        #expect(try await synchronizer.regions.isEmpty)
        #expect(await synchronizer.synchronize() == .noData)
        let changed = await synchronizer.finishedEvents().compactMap { event -> [String]? in
            if case .regionsChanged(let regions) = event { regions.map(\.id) } else { nil }
        }
        #expect(changed == [["ifttt_a0", "ifttt_a1"], ["ifttt_a0"], []])
    }

    @Test("F085: without the permission there are no regions and the status says so; with it they are back")
    func permission() async throws {
        let synchronizer = try PlacesBench().synchronizer()
        try await synchronizer.activate([id()])
        try await synchronizer.permissionChanged(canMonitorRegions: false)
        #expect(try await synchronizer.regions.isEmpty)
        try await synchronizer.permissionChanged(canMonitorRegions: true)
        #expect(try await synchronizer.regions.count == 1)
        #expect(
            await synchronizer.finishedEvents().compactMap(\.status) == [
                .active(regions: 1), .inactive(.permission), .active(regions: 1),
            ])
    }

    @Test("F087: what waits is uploaded in the form of the dossier, in batches, and removed after success")
    func upload() async throws {
        let bench = PlacesBench(["GET \(PlacesBench.path)": [.json(PlacesBench.connection(["LOCATION_ENTER_OR_EXIT"]))]]
        )
        let synchronizer = try bench.synchronizer()
        try await synchronizer.activate([id()])
        for number in 0..<120 {
            try await synchronizer.record(
                number % 2 == 0 ? .enter : .exit, of: "ifttt_a0", at: PlacesBench.now + Double(number) / 4)
        }
        #expect(await synchronizer.synchronize(.crossing) == .newData)
        let uploads = try bench.uploads
        #expect(uploads.map(\.count) == [50, 50, 20])
        let first = try #require(uploads.first?.first)
        #expect(
            first.filter { !["record_id", "installation_id"].contains($0.key) } == [
                "region_type": "geo", "occurred_at": "2025-01-01T00:00:00+0000", "event_type": "entry",
                "channel_id": "941030000", "trigger_subscription_id": "a0",
            ])
        #expect(uploads.first?[1]["occurred_at"] == "2025-01-01T00:00:00.250+0000")
        #expect(Set(uploads.joined().compactMap { $0["record_id"] }).count == 120)
        #expect(Set(uploads.joined().compactMap { $0["installation_id"] }).count == 1)
        let request = try #require(bench.ifttt.requests.last)
        #expect(request.header("Authorization") == "Bearer utk_sandbox_9f2c")
        #expect(request.header("IFTTT-SDK-Version") == nil)
        #expect(request.host == "connectapi.ifttt.com")
        #expect(try await synchronizer.queue.crossings().isEmpty)
    }

    @Test(
        "F087: a failure that passes is retried after 2, 4 and 8 seconds; then everything waits, under the same identifiers"
    )
    func retries() async throws {
        let bench = PlacesBench([PlacesBench.upload: [.status(500), .status(500), .lost, .unreachable, .status(204)]])
        let synchronizer = try bench.synchronizer()
        try await synchronizer.activate([id()])
        try await synchronizer.record(.exit, of: "ifttt_\(PlacesBench.exit)", at: PlacesBench.now)
        #expect(await synchronizer.synchronize(.crossing) == .failed)
        #expect(bench.clock.pauses == [.seconds(2), .seconds(4), .seconds(8)])
        #expect(try await synchronizer.queue.crossings().count == 1)
        #expect(await synchronizer.synchronize(.crossing) == .newData)
        #expect(Set(try bench.uploads.joined().compactMap { $0["record_id"] }).count == 1)
        #expect(try bench.uploads.count == 5)
    }

    @Test("F088, W19: of thousands of crossings none is dropped for their number; old ones end by age and say so")
    func overflow() async throws {
        let bench = PlacesBench(["GET \(PlacesBench.path)": [.json(PlacesBench.connection(["LOCATION_ENTER_OR_EXIT"]))]]
        )
        let synchronizer = try bench.synchronizer { $0.maximumAge = 3_600 }
        try await synchronizer.activate([id()])
        let old = try await synchronizer.record(.enter, of: "ifttt_a0", at: PlacesBench.now)
        bench.pass(3_601)
        await synchronizer.synchronize(.crossing)
        let discarded = await synchronizer.finishedEvents().filter { if case .discarded = $0 { true } else { false } }
        #expect(discarded == [.discarded(try #require(old), .expired)])
        let installation = try await synchronizer.store.connections().installation
        let crossings = try (0..<5_000).map { number in
            try #require(
                AreaCrossing(
                    RegionCrossing(.exit, of: "ifttt_a0", at: PlacesBench.date(3_600 + Double(number) / 1_000)),
                    at: PlacesBench.now + 3_601, installation: installation))
        }
        let next = try bench.synchronizer { $0.maximumAge = 3_600 }
        try await next.record(crossings: crossings)
        #expect(await next.synchronize(.crossing) == .newData)
        #expect(Set(try bench.uploads.joined().compactMap { $0["record_id"] }).count == 5_000)
    }

    @Test("F089, W19: after a 401 nothing is sent, everything waits, the app is told, and a sign-in uploads it")
    func unauthorized() async throws {
        let bench = PlacesBench([PlacesBench.upload: [.status(401), .status(204)]])
        let synchronizer = try bench.synchronizer()
        try await synchronizer.activate([id()])
        let region = "ifttt_\(PlacesBench.exit)"
        try await synchronizer.record(.exit, of: region, at: PlacesBench.now)
        #expect(await synchronizer.synchronize(.crossing) == .failed)
        let count = bench.ifttt.requests.count
        try await synchronizer.record(.exit, of: region, at: PlacesBench.now + 60)
        #expect(await synchronizer.synchronize(.crossing) == .noData)
        #expect(bench.ifttt.requests.count == count)
        #expect(try await synchronizer.queue.crossings().count == 2)
        #expect(await synchronizer.userSignedIn() == .newData)
        #expect(try bench.uploads.last?.count == 2)
        let seen = await synchronizer.finishedEvents()
        #expect(seen.contains(.signInRequired))
        #expect(seen.compactMap(\.status) == [.active(regions: 1), .inactive(.signIn), .active(regions: 1)])
    }

    @Test("W21: the host app's regions are never recorded, and the other direction is never uploaded")
    func filter() async throws {
        let bench = PlacesBench([
            "GET \(PlacesBench.path)": [
                .json(
                    PlacesBench.connection([
                        "LOCATION_ENTER", "LOCATION_EXIT", "LOCATION_ENTER_OR_EXIT", "LOCATION_ENTER_AND_EXIT",
                    ]))
            ]
        ])
        let synchronizer = try bench.synchronizer()
        try await synchronizer.activate([id()])
        for region in ["gym", "ifttt", "ifttt_", "a0", "swimming_pool", "iftttx_a0"] {
            #expect(try await synchronizer.record(.enter, of: region, at: PlacesBench.now) == nil)
        }
        for region in ["ifttt_a0", "IFTTT_a1", "ifttt_a2", "ifttt_a3", "ifttt_gone"] {
            try await synchronizer.record(.enter, of: region, at: PlacesBench.now)
            try await synchronizer.record(.exit, of: region, at: PlacesBench.now + 1)
        }
        await synchronizer.synchronize(.crossing)
        #expect(
            try bench.uploads.joined().map { "\($0["event_type"] ?? "") \($0["trigger_subscription_id"] ?? "")" } == [
                "entry a0", "exit a1", "entry a2", "exit a2", "entry a3", "exit a3",
            ])
        let reasons = await synchronizer.finishedEvents().compactMap { event -> PlaceEvent.DiscardReason? in
            if case .discarded(_, let reason) = event { reason } else { nil }
        }
        #expect(reasons == [.otherDirection, .otherDirection, .unknownSubscription, .unknownSubscription])
    }

    @Test("a crossing whose connection has not been fetched yet waits instead of being taken for unknown")
    func unknownYet() async throws {
        let bench = PlacesBench([
            "GET \(PlacesBench.path)": [.unreachable, .unreachable, .unreachable, .unreachable, .json(Balcony.json())]
        ])
        let synchronizer = try bench.synchronizer()
        try await synchronizer.record(.exit, of: "ifttt_\(PlacesBench.exit)", at: PlacesBench.now)
        #expect(try await synchronizer.activate([id()]) == .failed)
        #expect(try await synchronizer.queue.crossings().count == 1)
        #expect(await synchronizer.synchronize(.crossing) == .newData)
        #expect(try bench.uploads.joined().count == 1)
    }

    @Test("a crossing that the service refuses alone is given up, and the others of its batch arrive")
    func rejected() async throws {
        let bench = PlacesBench([
            "GET \(PlacesBench.path)": [.json(PlacesBench.connection(["LOCATION_ENTER_OR_EXIT"]))],
            PlacesBench.upload: [.status(422), .status(204), .status(422), .status(422), .status(204)],
        ])
        let synchronizer = try bench.synchronizer()
        try await synchronizer.activate([id()])
        var recorded: [AreaCrossing] = []
        for second in 0..<4 {
            recorded.append(
                try #require(
                    try await synchronizer.record(.enter, of: "ifttt_a0", at: PlacesBench.now + Double(second))))
        }
        await synchronizer.synchronize(.crossing)
        #expect(try bench.uploads.map(\.count) == [4, 2, 2, 1, 1])
        #expect(await synchronizer.finishedEvents().contains(.discarded(recorded[2], .rejected)))
        #expect(try await synchronizer.queue.crossings().isEmpty)
    }

    @Test("a service that refuses every crossing says nothing of one: all wait, and the next answer counts")
    func allRefused() async throws {
        let bench = PlacesBench([
            "GET \(PlacesBench.path)": [.json(PlacesBench.connection(["LOCATION_ENTER_OR_EXIT"]))],
            PlacesBench.upload: Array(repeating: .status(400), count: 7) + [.status(204)],
        ])
        let synchronizer = try bench.synchronizer()
        try await synchronizer.activate([id()])
        for second in 0..<4 {
            try await synchronizer.record(.enter, of: "ifttt_a0", at: PlacesBench.now + Double(second))
        }
        #expect(await synchronizer.synchronize(.crossing) == .failed)
        #expect(try bench.uploads.map(\.count) == [4, 2, 1, 1, 2, 1, 1])
        #expect(try await synchronizer.queue.crossings().count == 4)
        #expect(await synchronizer.lastFailure == .service(.init(status: 400)))
        #expect(await synchronizer.synchronize(.crossing) == .newData)
        #expect(try await synchronizer.queue.crossings().isEmpty)
        let discarded = await synchronizer.finishedEvents().filter { if case .discarded = $0 { true } else { false } }
        #expect(discarded.isEmpty)
    }

    @Test("a connection that is missing once keeps its areas and crossings; after the interval they end")
    func missingOnce() async throws {
        let present = PlacesBench.connection(["LOCATION_ENTER_OR_EXIT"])
        let bench = PlacesBench([
            "GET \(PlacesBench.path)": [
                .json(present), .status(404), .json(present), .status(404), .status(404), .status(404),
            ]
        ])
        let synchronizer = try bench.synchronizer()
        try await synchronizer.activate([id()])
        try await synchronizer.record(.enter, of: "ifttt_a0", at: PlacesBench.now)
        #expect(await synchronizer.synchronize() == .noData)
        #expect(try await synchronizer.regions.count == 1)
        #expect(try await synchronizer.waiting().count == 1)
        #expect(await synchronizer.synchronize() == .newData)
        #expect(try await synchronizer.waiting().isEmpty)
        try await synchronizer.record(.exit, of: "ifttt_a0", at: PlacesBench.now + 1)
        for seconds in [0.0, 3_599] {
            bench.pass(seconds)
            await synchronizer.synchronize()
            #expect(try await synchronizer.waiting().count == 1)
        }
        bench.pass(1)
        await synchronizer.synchronize()
        #expect(try await synchronizer.regions.isEmpty)
        let ends = await synchronizer.finishedEvents().compactMap { event -> PlaceEvent.DiscardReason? in
            if case .discarded(_, let reason) = event { reason } else { nil }
        }
        #expect(ends == [.unknownSubscription])
    }

    @Test("a connection that never was is told and not watched; the others are")
    func unknownConnection() async throws {
        let bench = PlacesBench(["GET /v2/connections/Nope1234": [.status(404)]])
        let synchronizer = try bench.synchronizer()
        #expect(try await synchronizer.activate([id(), ConnectionID("Nope1234")]) == .failed)
        #expect(await synchronizer.lastFailure?.problemKind == .notFound)
        #expect(try await !synchronizer.regions.isEmpty)
        #expect(await synchronizer.synchronize() == .noData)
        #expect(await synchronizer.lastFailure == nil)
    }

    @Test("F091: each moment of the app's life synchronizes by default")
    func everyMoment() async throws {
        let bench = PlacesBench()
        let synchronizer = try bench.synchronizer()
        try await synchronizer.activate([id()])
        await synchronizer.lifeCycle(.enteredBackground)
        #expect(bench.fetches == 2)
        await synchronizer.lifeCycle(.becameActive)
        #expect(bench.fetches == 3)
    }

    @Test("a late reader of events misses the oldest beyond the number that waits", arguments: [(3, 3), (.max, 6)])
    func lateReader(maximum: Int, expected: Int) async throws {
        let bench = PlacesBench()
        let synchronizer = try bench.synchronizer { $0.maximumEvents = maximum }
        for second in 0..<6 {
            try await synchronizer.record(.exit, of: "ifttt_a0", at: PlacesBench.now + Double(second))
        }
        let seconds = await synchronizer.finishedEvents().map { event -> Double? in
            if case .recorded(let crossing, _) = event { crossing.occurredAt - PlacesBench.now } else { nil }
        }
        #expect(seconds == [0, 1, 2, 3, 4, 5].suffix(expected))
    }

    @Test("F091: only the chosen moments of the app's life synchronize")
    func lifeCycle() async throws {
        let bench = PlacesBench()
        let synchronizer = try bench.synchronizer { $0.lifeCycle = .becameActive }
        try await synchronizer.activate([id()])
        #expect(await synchronizer.lifeCycle(.enteredBackground) == .noData)
        #expect(bench.fetches == 1)
        await synchronizer.lifeCycle(.becameActive)
        #expect(bench.fetches == 2)
    }

    @Test(
        "F092, F093: a push, a background fetch and a background task are awaited and say what came of it",
        arguments: [
            PlacesSynchronizer.Reason.push, .backgroundFetch, .backgroundTask,
        ])
    func background(reason: PlacesSynchronizer.Reason) async throws {
        let bench = PlacesBench([
            "GET \(PlacesBench.path)": [
                .json(PlacesBench.connection([])), .json(Balcony.json()), .json(Balcony.json()), .unreachable,
            ]
        ])
        let synchronizer = try bench.synchronizer { $0.retry = .none }
        try await synchronizer.activate([id()])
        #expect(await synchronizer.synchronize(reason) == .newData)
        #expect(await synchronizer.synchronize(reason) == .noData)
        #expect(await synchronizer.synchronize(reason) == .failed)
    }

    @Test("F093: a background task that expires stops the synchronization, and what waits stays")
    func expiration() async throws {
        let (began, never) = (Gate(), Gate())
        let bench = PlacesBench([
            PlacesBench.upload: [
                .late(
                    204,
                    after: {
                        began.open()
                        await withTaskCancellationHandler {
                            await never.wait()
                        } onCancel: {
                            never.open()
                        }
                        try Task.checkCancellation()
                    })
            ]
        ])
        let synchronizer = try bench.synchronizer()
        try await synchronizer.activate([id()])
        try await synchronizer.record(.exit, of: "ifttt_\(PlacesBench.exit)", at: PlacesBench.now)
        async let outcome = synchronizer.synchronize(.backgroundTask)
        await began.wait()
        await synchronizer.stopSynchronization()
        #expect(await outcome == .failed)
        #expect(try await synchronizer.queue.crossings().count == 1)
    }

    @Test("F093: a synchronization that is asked for after a stop runs, also while the stopped one is still ending")
    func askedAfterStop() async throws {
        let (began, go) = (Gate(), Gate())
        let bench = PlacesBench()
        let synchronizer = try bench.synchronizer { $0.retry = .none }
        try await synchronizer.activate([id()])
        let late = ScriptedIFTTT.Reply.late(503) {
            began.open()
            await go.wait()
        }
        bench.ifttt.answer("GET \(PlacesBench.path)", late, .json(Balcony.json()))
        async let running = synchronizer.synchronize()
        await began.wait()
        let remembered = Task { await synchronizer.synchronize() }
        for _ in 0..<500 { await Task.yield() }
        await synchronizer.stopSynchronization()
        let asked = Task { await synchronizer.synchronize(.becameActive) }
        for _ in 0..<500 { await Task.yield() }
        go.open()
        #expect(await running == .failed)
        _ = await remembered.value
        #expect(await asked.value == .noData)
        #expect(bench.fetches == 3)
    }

    @Test("one synchronization runs at a time, and all who ask meanwhile share one more")
    func oneAtATime() async throws {
        let (began, go) = (Gate(), Gate())
        let bench = PlacesBench()
        let synchronizer = try bench.synchronizer { $0.retry = .none }
        try await synchronizer.activate([id()])
        bench.ifttt.answer(
            "GET \(PlacesBench.path)",
            .late(
                503,
                after: {
                    began.open()
                    await go.wait()
                }))
        async let first = synchronizer.synchronize()
        await began.wait()
        let others = (0..<10).map { _ in Task { await synchronizer.synchronize() } }
        for _ in 0..<100 { await Task.yield() }
        go.open()
        _ = await first
        for other in others { _ = await other.value }
        #expect((3...4).contains(bench.fetches))
    }

    @Test("F090: areas are fetched again every hour until the task is cancelled")
    func periodic() async throws {
        let bench = PlacesBench()
        let clock = ManualClock()
        let token = try token()
        let time = TimeSource(now: { PlacesBench.now }, clock: clock)
        let api = ConnectAPI(.user(token), transport: bench.ifttt, time: time)
        let synchronizer = PlacesSynchronizer(of: "ifttt", api: api, vault: bench.vault, time: time)
        try await synchronizer.activate([id()])
        let task = Task { try await synchronizer.run() }
        for expected in 2...4 {
            await clock.sleeper(of: .seconds(3_600))
            #expect(bench.fetches == expected)
            clock.advance(by: .seconds(3_600))
        }
        await clock.sleeper(of: .seconds(3_600))
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("F094: the events of a crossing come in order, with delays since the crossing, the record and the attempt")
    func delays() async throws {
        let bench = PlacesBench([PlacesBench.upload: [.status(503), .status(204)]])
        let synchronizer = try bench.synchronizer { $0.retry = .none }
        try await synchronizer.activate([id()])
        let crossing = try #require(
            try await synchronizer.record(.exit, of: "ifttt_\(PlacesBench.exit)", at: PlacesBench.now - 7))
        bench.pass(30)
        await synchronizer.synchronize(.crossing)
        bench.pass(10)
        await synchronizer.synchronize(.crossing)
        let about = await synchronizer.finishedEvents().filter { event in
            switch event {
            case .regionsChanged, .statusChanged, .synchronizationFailed: false
            default: true
            }
        }
        #expect(
            about == [
                .recorded(crossing, delay: 7), .uploadAttempted(crossing, delay: 30),
                .uploadFailed(crossing, .service(.init(status: 503)), delay: 0), .uploadAttempted(crossing, delay: 40),
                .uploaded(crossing, delay: 0),
            ])
    }

    @Test(
        "F095, W20: a connection that is switched off stays off over refreshes and restarts, also before it is activated"
    )
    func areaSwitch() async throws {
        let bench = PlacesBench()
        let synchronizer = try bench.synchronizer()
        #expect(try await synchronizer.areasEnabled(for: id()))
        try await synchronizer.setAreasEnabled(false, for: id())
        try await synchronizer.activate([id()])
        #expect(try await synchronizer.regions.isEmpty)
        await synchronizer.synchronize()
        #expect(try await !bench.synchronizer().areasEnabled(for: id()))
        #expect(try await bench.synchronizer().regions.isEmpty)
        try await synchronizer.setAreasEnabled(true, for: id())
        #expect(try await synchronizer.regions.count == 1)
    }

    @Test("F097: positions that the app reports are evaluated, and their crossings recorded, also across restarts")
    func positions() async throws {
        let bench = PlacesBench(["GET \(PlacesBench.path)": [.json(PlacesBench.connection(["LOCATION_ENTER_OR_EXIT"]))]]
        )
        var synchronizer = try bench.synchronizer()
        try await synchronizer.activate([id()])
        bench.pass(1_200)
        for second in 0..<120 {
            // A launch for each position: without the state every look is the first one.
            synchronizer = try bench.synchronizer()
            let isInside = (30..<80).contains(second)
            try await synchronizer.receive(
                Fix(
                    Coordinate(latitude: isInside ? 52.52 : 52.53, longitude: 13.4), accuracy: 5,
                    time: Date(timeIntervalSince1970: PlacesBench.now + Double(second) * 10)), now: nil)
        }
        let crossings = try await synchronizer.queue.crossings()
        #expect(crossings.map(\.kind) == [.enter, .exit])
        #expect(crossings.map(\.occurredAt) == [PlacesBench.now + 300, PlacesBench.now + 800])
    }

    @Test("a crash between the record of the position and the queue loses no crossing and makes none twice")
    func crash() async throws {
        let bench = PlacesBench(["GET \(PlacesBench.path)": [.json(PlacesBench.connection(["LOCATION_ENTER_OR_EXIT"]))]]
        )
        let vault = FailingVault(bench.vault)
        let failing = PlacesBench(
            ["GET \(PlacesBench.path)": [.json(PlacesBench.connection(["LOCATION_ENTER_OR_EXIT"]))]], vault: vault)
        let synchronizer = try failing.synchronizer()
        for bench in [bench, failing] { bench.pass(120) }
        try await synchronizer.activate([id()])
        func fix(_ latitude: Double, _ seconds: Double) throws -> Fix {
            try Fix(
                Coordinate(latitude: latitude, longitude: 13.4), accuracy: 5,
                time: Date(timeIntervalSince1970: PlacesBench.now + seconds))
        }
        try await synchronizer.receive(fix(52.53, 0), now: nil)
        try await synchronizer.receive(fix(52.52, 100), now: nil)
        vault.failing.withLock { $0 = .crossings }
        let full = ConnectError.account(.vault(.unavailable("the disk is full")))
        await #expect(throws: full) { try await synchronizer.receive(fix(52.52, 120), now: nil) }
        vault.failing.withLock { $0 = nil }
        #expect(try await bench.synchronizer().queue.crossings().isEmpty)
        let restarted = try bench.synchronizer()
        for second in 0..<5 { try await restarted.receive(fix(52.52, 130 + Double(second)), now: nil) }
        #expect(try await restarted.queue.crossings().map(\.kind) == [.enter])
    }

    @Test("a disk that is full is told, and nothing is said to be recorded")
    func fullDisk() async throws {
        let vault = FailingVault(MemoryVault())
        let bench = PlacesBench(vault: vault)
        let synchronizer = try bench.synchronizer()
        vault.failing.withLock { $0 = .crossings }
        let error = await connectError {
            try await synchronizer.record(.exit, of: "ifttt_x", at: PlacesBench.now)
        }
        #expect(error == .account(.vault(.unavailable("the disk is full"))))
        #expect(await synchronizer.finishedEvents().isEmpty)
    }

    @Test("F098: the status tells whether areas are watched, and what is missing")
    func status() async throws {
        let bench = PlacesBench(["GET \(PlacesBench.path)": [.json(PlacesBench.connection([])), .json(Balcony.json())]])
        let synchronizer = try bench.synchronizer()
        await synchronizer.synchronize()
        try await synchronizer.activate([id()])
        await synchronizer.synchronize()
        bench.state.hasToken.withLock { $0 = false }
        await synchronizer.synchronize()
        #expect(
            await synchronizer.finishedEvents().compactMap(\.status) == [
                .inactive(.connections), .inactive(.areas), .active(regions: 1), .inactive(.signIn),
            ])
    }
}

extension PlaceEvent {
    fileprivate var status: Status? { if case .statusChanged(let status) = self { status } else { nil } }
}

/// A vault whose updates of one kind fail while a test says so.
final class FailingVault: Vault {
    let failing = Mutex<VaultKey.Kind?>(nil)
    private let base: any Vault

    init(_ base: any Vault) { self.base = base }

    func record(_ key: VaultKey) async throws -> [UInt8]? { try await base.record(key) }
    func keys(of kind: VaultKey.Kind) async throws -> VaultListing { try await base.keys(of: kind) }

    func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        if failing.withLock({ $0 }) == key.kind { throw VaultError.unavailable("the disk is full") }
        return try await base.update(key, body)
    }
}
