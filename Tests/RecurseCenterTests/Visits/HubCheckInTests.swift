import Foundation
import Geofences
import HTTPTypes
import Handshake
import OAuth
import RecurseCenter
import Sandbox
import TestFixtures
import Testing

@Suite("Checking in by the hub's fence", .heavy)
struct HubCheckInTests {
    /// Noon of the first of July 2025 in New York.
    private static let noon = 1_751_385_600.0

    private static func visit(_ day: String) -> ScriptedService.Reply {
        .json(#"{"person":{"id":759},"date":"\#(day)"}"#)
    }

    /// A service that takes check-ins of two days.
    private static func service() -> ScriptedService {
        ScriptedService([
            "GET /api/v1/profiles/me": [.json(ScriptedService.ada)],
            "PATCH /api/v1/hub_visits/759/2025-07-01": [visit("2025-07-01")],
            "PATCH /api/v1/hub_visits/759/2025-07-02": [visit("2025-07-02")],
        ])
    }

    private static func checkIns(_ service: ScriptedService) -> [String] {
        service.lines.filter { $0.hasPrefix("PATCH") }.map { String($0.suffix(10)) }
    }

    @Test("RC-29: entering the hub's fence, found by a monitor, is one visit a New York day; the next day is another")
    func fence() async throws {
        try await withHub { hub in
            let checkIn = HubCheckIn(hub.center, vault: MemoryVault())
            let place = try Coordinate(latitude: 40.6913, longitude: -73.9850)
            let regions = try ["hub", "office"].map {
                try Geofence(id: $0, .circle(Circle(center: place, radius: 100)))
            }
            var monitor = try GeofenceMonitor(regions)
            let me = try await hub.center.profile(.me).id
            func walk(at seconds: Double) async throws {
                for (metres, time) in [(2_000.0, 0.0), (0, 600), (0, 630), (2_000, 1_200), (2_000, 1_230)] {
                    let fix = try Fix(
                        Coordinate(latitude: place.latitude + metres / 111_000, longitude: place.longitude),
                        accuracy: 5,
                        time: Date(timeIntervalSince1970: seconds + time))
                    for event in monitor.receive(fix).events { try await checkIn.receive(event) }
                    try await checkIn.retryIfDue()
                }
            }
            // Not yet agreed.
            try await walk(at: Self.noon - 7_200)
            try await checkIn.agree()
            #expect(try await hub.center.hubVisits(HubVisitFilter(person: me)).all().isEmpty)
            hub.time.advance(by: 3_600)
            try await walk(at: Self.noon)
            try await walk(at: Self.noon + 1_800)
            let first = try await hub.center.hubVisits(HubVisitFilter(person: me)).all()
            #expect(first.map(\.date.description) == ["2025-07-01"])
            // Eleven hours later it is still the same day in New York, though not in Greenwich.
            hub.time.advance(by: 10.5 * 3_600)
            try await walk(at: Self.noon + 11 * 3_600)
            hub.time.advance(by: 3_600)
            try await walk(at: Self.noon + 12.1 * 3_600)
            let all = try await hub.center.hubVisits(HubVisitFilter(person: me)).all()
            #expect(all.map(\.date.description) == ["2025-07-01", "2025-07-02"])
            #expect(hub.paths.count { $0.hasPrefix("hub_visits/") } == 2)
        }
    }

    @Test("RC-29: nothing is sent and no day is stored before the user agrees, nor after they withdraw")
    func consent() async throws {
        let service = Self.service()
        let vault = MemoryVault()
        let time = TestTime()
        let checkIn = HubCheckIn(try await service.center(time: time), vault: vault)
        #expect(try await checkIn.entered(at: Self.noon - 60).isEmpty)
        #expect(try await checkIn.retry().isEmpty)
        #expect(service.lines == [])
        #expect(try await vault.keys(of: .places).keys.isEmpty)
        try await checkIn.agree()
        #expect(try await checkIn.hasConsent)
        // What was entered before is not sent afterwards.
        #expect(try await checkIn.retry().isEmpty)
        #expect(Self.checkIns(service) == [])
        try await checkIn.withdraw()
        #expect(try await checkIn.hasConsent == false)
        #expect(try await checkIn.entered(at: Self.noon).isEmpty)
        #expect(Self.checkIns(service) == [])
        #expect(try await vault.keys(of: .places).keys.isEmpty)
    }

    @Test("RC-29: a day is sent once, also after a restart, and a visit that the user removed stays removed")
    func once() async throws {
        let service = Self.service()
        let vault = MemoryVault()
        let center = try await service.center()
        let checkIn = HubCheckIn(center, vault: vault)
        try await checkIn.agree()
        #expect(try await checkIn.entered(at: Self.noon - 60).map(\.date.description) == ["2025-07-01"])
        #expect(try await checkIn.entered(at: Self.noon - 30).isEmpty)
        let restarted = HubCheckIn(center, vault: vault)
        // Agreeing again forgets nothing.
        try await restarted.agree()
        #expect(try await restarted.entered(at: Self.noon).isEmpty)
        #expect(Self.checkIns(service) == ["2025-07-01"])
    }

    @Test("RC-29: entries that come concurrently send one request")
    func concurrent() async throws {
        let service = Self.service()
        let held = HeldCheckIns(service)
        let grant = Grant(
            accessToken: Secret("pat-1"), expiresAt: nil, issuedAt: 0, refreshToken: nil, scopes: ["public"])
        let account = try await Handshake(
            Client(service: .recurseCenter, id: "my-app"), vault: MemoryVault(), transport: held
        ).adopt(grant)
        let checkIn = HubCheckIn(
            RecurseCenter(account, time: TestTime().source, transport: held), vault: MemoryVault())
        try await checkIn.agree()
        async let first = checkIn.entered(at: Self.noon - 60)
        await held.arrived.wait()
        #expect(try await checkIn.entered(at: Self.noon - 30).isEmpty)
        #expect(try await checkIn.retry().isEmpty)
        held.released.open()
        #expect(try await first.count == 1)
        #expect(Self.checkIns(service) == ["2025-07-01"])
    }

    @Test("RC-29: a check-in that fails is sent at the next chance, for its own day, also by the next process")
    func retries() async throws {
        let service = Self.service()
        service.script(
            "PATCH /api/v1/hub_visits/759/2025-07-01", [.lost, .json("{}", status: 503), Self.visit("2025-07-01")])
        let vault = MemoryVault()
        let time = TestTime()
        let checkIn = HubCheckIn(try await service.center(time: time), vault: vault)
        try await checkIn.agree()
        #expect(await centerError { try await checkIn.entered(at: Self.noon - 60) }?.code == "connection_cut")
        #expect(try await checkIn.waiting.map(\.description) == ["2025-07-01"])
        // The next day's entry is sent though the first day fails again.
        time.advance(by: 86_400)
        #expect(await centerError { try await checkIn.entered(at: Self.noon + 86_400) }?.code == "service_error")
        #expect(try await checkIn.waiting.map(\.description) == ["2025-07-01"])
        let restarted = HubCheckIn(try await service.center(time: time), vault: vault)
        #expect(try await restarted.retry().map(\.date.description) == ["2025-07-01"])
        #expect(try await restarted.waiting.isEmpty)
        #expect(Self.checkIns(service) == ["2025-07-01", "2025-07-01", "2025-07-02", "2025-07-01"])
        #expect(try await restarted.retry().isEmpty)
    }

    @Test("RC-29: a day that waits is sent while positions go on coming, and is tried once a minute")
    func network() async throws {
        let service = Self.service()
        service.script("PATCH /api/v1/hub_visits/759/2025-07-01", [.lost, .lost, Self.visit("2025-07-01")])
        let time = TestTime()
        let checkIn = HubCheckIn(try await service.center(time: time), vault: MemoryVault())
        try await checkIn.agree()
        #expect(await centerError { try await checkIn.entered(at: Self.noon - 60) }?.code == "connection_cut")
        for _ in 0..<59 {
            time.advance(by: 1)
            #expect(try await checkIn.retryIfDue().isEmpty)
        }
        #expect(Self.checkIns(service).count == 1)
        time.advance(by: 1)
        #expect(await centerError { try await checkIn.retryIfDue() }?.code == "connection_cut")
        #expect(try await checkIn.retryIfDue().isEmpty)
        #expect(Self.checkIns(service).count == 2)
        // Also a clock that was set back in between puts it off no longer.
        time.advance(by: -3_600)
        #expect(try await checkIn.retryIfDue().map(\.date.description) == ["2025-07-01"])
        time.advance(by: 60)
        #expect(try await checkIn.retryIfDue().isEmpty)
        #expect(Self.checkIns(service).count == 3)
    }

    @Test("RC-29: a day that the service refuses is tried every six hours, and after other failures the pauses grow")
    func pauses() async throws {
        // After how many seconds more a position comes, and how often the day was sent by then.
        let rows: [(status: Int, wait: String?, tries: [(after: Double, count: Int)])] = [
            (503, nil, [(0, 1), (60, 2), (119, 2), (1, 3), (239, 3), (1, 4), (480, 5), (899, 5), (1, 6), (900, 7)]),
            (429, "600", [(0, 1), (599, 1), (1, 2), (600, 2), (300, 3)]),
            (403, nil, [(0, 1), (60, 1), (21_539, 1), (1, 2), (21_599, 2), (1, 3)]),
            (422, nil, [(0, 1), (900, 1), (20_700, 2)]),
        ]
        for (status, wait, tries) in rows {
            let service = Self.service()
            var headers = HTTPFields()
            headers[.retryAfter] = wait
            service.script(
                "PATCH /api/v1/hub_visits/759/2025-07-01", [.json("{}", status: status, headers: headers)])
            let time = TestTime()
            let checkIn = HubCheckIn(try await service.center(time: time), vault: MemoryVault())
            try await checkIn.agree()
            #expect(await centerError { try await checkIn.entered(at: Self.noon - 60) } != nil)
            for (after, count) in tries {
                time.advance(by: after)
                _ = await centerError { try await checkIn.retryIfDue() }
                #expect(Self.checkIns(service).count == count, "\(status), \(after) seconds later")
            }
            // The user, or the next entry, waits for no pause.
            service.script("PATCH /api/v1/hub_visits/759/2025-07-01", [Self.visit("2025-07-01")])
            #expect(try await checkIn.retry().count == 1)
        }
    }

    @Test("RC-29: after a long pause, a connection that is lost is tried again in a minute")
    func lostAfterRefusal() async throws {
        let service = Self.service()
        service.script(
            "PATCH /api/v1/hub_visits/759/2025-07-01", [.json("{}", status: 403), .lost, Self.visit("2025-07-01")])
        let time = TestTime()
        let checkIn = HubCheckIn(try await service.center(time: time), vault: MemoryVault())
        try await checkIn.agree()
        #expect(await centerError { try await checkIn.entered(at: Self.noon - 60) } != nil)
        #expect(await centerError { try await checkIn.retry() }?.code == "connection_cut")
        time.advance(by: 60)
        #expect(try await checkIn.retryIfDue().count == 1)
    }

    @Test("a day that fails for a week is given up")
    func age() async throws {
        let service = Self.service()
        service.script("PATCH /api/v1/hub_visits/759/2025-07-01", [.lost])
        let time = TestTime()
        let checkIn = HubCheckIn(try await service.center(time: time), vault: MemoryVault())
        try await checkIn.agree()
        _ = await centerError { try await checkIn.entered(at: Self.noon) }
        time.advance(by: 7 * 86_400)
        #expect(await centerError { try await checkIn.retry() } != nil)
        time.advance(by: 86_400)
        #expect(try await checkIn.retry().isEmpty)
        #expect(Self.checkIns(service).count == 2)
        #expect(try await checkIn.waiting.isEmpty)
    }

    @Test(
        "entries of the future, of a recording and of no time send nothing",
        arguments: [86_400 * 2, -86_400 * 9, .infinity, .nan, 1e300, -1e300])
    func times(offset: Double) async throws {
        let service = Self.service()
        let checkIn = HubCheckIn(try await service.center(), vault: MemoryVault())
        try await checkIn.agree()
        #expect(try await checkIn.entered(at: Self.noon + offset).isEmpty)
        #expect(Self.checkIns(service) == [])
        #expect(try await checkIn.waiting.isEmpty)
    }

    @Test("leaving, staying and other regions send nothing")
    func others() async throws {
        let service = Self.service()
        let checkIn = HubCheckIn(try await service.center(), fence: "the hub", vault: MemoryVault())
        try await checkIn.agree()
        let place = try Coordinate(latitude: 40.6913, longitude: -73.9850)
        let regions = try ["hub", "the hub"].map { try Geofence(id: $0, .circle(Circle(center: place, radius: 100))) }
        var monitor = try GeofenceMonitor(regions)
        func fix(_ metres: Double, _ seconds: Double) throws -> Fix {
            try Fix(
                Coordinate(latitude: place.latitude + metres / 111_000, longitude: place.longitude), accuracy: 5,
                time: Date(timeIntervalSince1970: Self.noon - 3_600 + seconds))
        }
        let events = try [fix(0, 0), fix(0, 30), fix(0, 400), fix(2_000, 800), fix(2_000, 830)]
            .flatMap { monitor.receive($0).events }
        #expect(events.map(\.kind) == [.dwell, .dwell, .exit, .exit])
        for event in events { #expect(try await checkIn.receive(event).isEmpty) }
        #expect(Self.checkIns(service) == [])
    }

    @Test(
        "a record of the vault that another version wrote is no consent",
        arguments: ["", "{}", "[]", #"{"version":1}"#, #"{"version":1,"person":0}"#])
    func damaged(text: String) async throws {
        let service = Self.service()
        let vault = MemoryVault()
        let center = try await service.center()
        let checkIn = HubCheckIn(center, vault: vault)
        try await checkIn.agree()
        let key = try #require(try await vault.keys(of: .places).keys.first)
        try await vault.update(key) { try await $0.replace(with: Array(text.utf8)) }
        #expect(try await checkIn.hasConsent == false)
        #expect(try await checkIn.entered(at: Self.noon).isEmpty)
        try await checkIn.agree()
        #expect(try await checkIn.entered(at: Self.noon).count == 1)
    }
}

/// A service that answers no check-in before it is released, or before a second one comes.
private final class HeldCheckIns: Transport {
    let arrived = Gate()
    let released = Gate()
    private let service: ScriptedService

    init(_ service: ScriptedService) { self.service = service }

    func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        if request.head.method == .patch {
            if arrived.isOpen { released.open() }
            arrived.open()
            await released.wait()
        }
        return try await service.send(request, limits: limits)
    }
}
