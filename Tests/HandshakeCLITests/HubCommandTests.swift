import ArgumentParser
import Foundation
import Geofences
import HTTPTypes
import Handshake
import OAuth
import Positions
import RecurseCenter
import Synchronization
import TestFixtures
import Testing

@testable import HandshakeCLI

@Suite("Watching the hub's fence")
struct HubCommandTests {
    /// Noon of the first of July 2025 in New York.
    private static let noon = 1_751_385_600.0

    @Test("RC-29: a check-in that has failed on arrival is sent once the network is there, while the command runs on")
    func network() async throws {
        let service = LateService(failing: 2)
        let clock = HurriedClock()
        let time = TimeSource(now: { Self.noon + clock.now.offset / .seconds(1) }, clock: clock)
        let checkIn = try await Self.checkIn(service, time)
        let command = try RecurseCenterHub.parse([])
        try await command.watch(Walk(to: Self.hub(), clock: clock), Self.fence(), checkIn, .recording)
        // The second try of three fails too.
        #expect(service.checkIns == 3)
        #expect(try await checkIn.waiting.isEmpty)
    }

    @Test(
        "RC-29: who arrives and stands still is checked in, though no position comes any more; so is what has failed",
        arguments: [0, 2])
    func silence(failures: Int) async throws {
        let service = LateService(failing: failures)
        let clock = ManualClock()
        let time = TimeSource(now: { Self.noon + clock.now.offset / .seconds(1) }, clock: clock)
        let checkIn = try await Self.checkIn(service, TimeSource(now: time.now, clock: HurriedClock()))
        let command = try RecurseCenterHub.parse([])
        let arrival = try Arrival(at: Self.hub(), clock: clock) { service.checkIns > failures }
        try await command.watch(arrival, Self.fence(), checkIn, .receiver, time: time)
        #expect(service.checkIns == failures + 1)
        #expect(try await checkIn.waiting.isEmpty)
    }

    @Test("RC-29: a source that ends while a check-in is sent, which time has brought, does not cancel it")
    func endWhileSending() async throws {
        let hasEnded = Flag()
        let service = LateService(failing: 0) {
            while !hasEnded.isSet { await Task.yield() }
            // Time in which a cancellation would come.
            for _ in 0..<100_000 {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
        let clock = ManualClock()
        let time = TimeSource(now: { Self.noon + clock.now.offset / .seconds(1) }, clock: clock)
        let checkIn = try await Self.checkIn(service, TimeSource(now: time.now, clock: HurriedClock()))
        let command = try RecurseCenterHub.parse([])
        let arrival = try Arrival(at: Self.hub(), clock: clock, isHasty: true) {
            guard service.checkIns > 0 else { return false }
            hasEnded.set()
            return true
        }
        try await command.watch(arrival, Self.fence(), checkIn, .receiver, time: time)
        #expect(service.checkIns == 1)
        #expect(try await checkIn.waiting.isEmpty)
    }

    @Test("RC-29: the time up to the end of the positions counts")
    func timeUntilEnd() async throws {
        let service = LateService(failing: 0)
        let wall = ManualClock()
        // No second passes on the command's own clock.
        let time = TimeSource(now: { Self.noon + wall.now.offset / .seconds(1) }, clock: ManualClock())
        let checkIn = try await Self.checkIn(service, TimeSource(now: time.now, clock: HurriedClock()))
        let command = try RecurseCenterHub.parse([])
        let arrival = try Arrival(at: Self.hub(), clock: wall, isHasty: true) {
            wall.advance(by: .seconds(30))
            return true
        }
        try await command.watch(arrival, Self.fence(), checkIn, .receiver, time: time)
        #expect(service.checkIns == 1)
    }

    private static func hub() throws -> Coordinate { try Coordinate(latitude: 40.6913, longitude: -73.9850) }

    private static func fence() throws -> Geofence {
        try Geofence(id: "hub", .circle(Circle(center: hub(), radius: 100)))
    }

    /// The check-ins of a user who has agreed.
    private static func checkIn(_ service: LateService, _ time: TimeSource) async throws -> HubCheckIn {
        let grant = Grant(
            accessToken: Secret("pat-1"), expiresAt: nil, issuedAt: 0, refreshToken: nil, scopes: ["public"])
        let account = try await Handshake(
            Client(service: .recurseCenter, id: "my-app"), vault: MemoryVault(), transport: service
        ).adopt(grant)
        let checkIn = HubCheckIn(RecurseCenter(account, time: time, transport: service), vault: MemoryVault())
        try await checkIn.agree()
        return checkIn
    }
}

/// Three positions of an arrival. Then none, while time passes until a condition holds.
///
/// A class, because its stream asks for one position after the other.
private final class Arrival: PositionSource {
    private let clock: ManualClock
    /// Whether it also ends while the command handles what the second before has brought.
    private let isHasty: Bool
    private let isOver: @Sendable () -> Bool
    private let fixes: Mutex<[Fix]>

    init(
        at place: Coordinate, clock: ManualClock, isHasty: Bool = false, until isOver: @escaping @Sendable () -> Bool
    ) throws {
        self.clock = clock
        self.isHasty = isHasty
        self.isOver = isOver
        let fixes = try [(0.02, -10.0), (0, 0), (0, 5)].map { north, seconds in
            try Fix(
                Coordinate(latitude: place.latitude + north, longitude: place.longitude), accuracy: 5,
                time: Date(timeIntervalSince1970: 1_751_385_600 + seconds))
        }
        self.fixes = Mutex(fixes)
    }

    func updates() -> AsyncThrowingStream<PositionUpdate, any Error> {
        AsyncThrowingStream(unfolding: { [self] in await next() })
    }

    private func next() async -> PositionUpdate? {
        let fix = fixes.withLock { fixes in fixes.isEmpty ? nil : fixes.removeFirst() }
        if let fix { return .fix(fix) }
        for _ in 0..<400 {
            // What the second before has brought is done.
            while clock.sleeperCount == 0 {
                if isHasty, isOver() { return nil }
                await Task.yield()
            }
            if isOver() { break }
            clock.advance(by: .seconds(1))
        }
        return nil
    }
}

/// A walk to a place, and five minutes there.
///
/// A class, because its stream asks for one position after the other.
private final class Walk: PositionSource {
    private let place: Coordinate
    private let clock: HurriedClock
    private let seconds = Mutex(-600.0)

    init(to place: Coordinate, clock: HurriedClock) {
        self.place = place
        self.clock = clock
    }

    func updates() -> AsyncThrowingStream<PositionUpdate, any Error> {
        AsyncThrowingStream(unfolding: { [self] in try next() })
    }

    private func next() throws -> PositionUpdate? {
        let now = seconds.withLock { seconds in
            defer { seconds += seconds < 0 ? -seconds : 10 }
            return seconds
        }
        guard now <= 300 else { return nil }
        if now > 0 { clock.advance(by: .seconds(10)) }
        let latitude = place.latitude + (now < 0 ? 0.02 : 0)
        return .fix(
            try Fix(
                Coordinate(latitude: latitude, longitude: place.longitude), accuracy: 5,
                time: Date(timeIntervalSince1970: 1_751_385_600 + now)))
    }
}

/// The Recurse Center, which the first check-ins do not reach.
private final class LateService: Transport {
    private let failures: Int
    private let hold: @Sendable () async throws -> Void
    private let count = Mutex(0)

    /// - Parameter hold: runs while a check-in is under way.
    init(failing failures: Int, hold: @escaping @Sendable () async throws -> Void = {}) {
        self.failures = failures
        self.hold = hold
    }

    var checkIns: Int { count.withLock(\.self) }

    func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        var content = #"{"id":759,"first_name":"Ada","last_name":"Example","name":"Ada Example"}"#
        if request.head.method == .patch {
            let tries = count.withLock { count in
                count += 1
                return count
            }
            try await hold()
            guard tries > failures else { throw TransportError.cut(host: "www.recurse.com", reason: "no network") }
            content = #"{"person":{"id":759},"date":"2025-07-01"}"#
        }
        let head = HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"])
        return ResponseMessage(head: head, content: Array(content.utf8))
    }
}
