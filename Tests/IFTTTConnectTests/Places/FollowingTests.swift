import Foundation
import Geofences
import Handshake
import TestFixtures
import Testing

@testable import IFTTTConnect

/// A receiver's positions, from the first one to the service.
@Suite("Places: following")
struct FollowingTests {
    private let bench = PlacesBench([
        "GET \(PlacesBench.path)": [.json(PlacesBench.connection(["LOCATION_ENTER_OR_EXIT"]))]
    ])
    private let clock = ManualClock()
    private let fixes: AsyncThrowingStream<Fix, any Error>
    private let positions: AsyncThrowingStream<Fix, any Error>.Continuation
    private let steps: AsyncStream<Step>
    private let report: AsyncStream<Step>.Continuation

    init() {
        (fixes, positions) = AsyncThrowingStream.makeStream(of: Fix.self)
        (steps, report) = AsyncStream.makeStream(of: Step.self)
    }

    /// What the app is told of one fix, or of one second.
    private struct Step: Sendable, Hashable {
        var latitude: Double?
        var isAccepted = true
        var crossings: [RegionCrossing.Kind] = []
    }

    private struct Failure: Error {}

    /// Follows until the positions end.
    private func follow(
        _ synchronizer: PlacesSynchronizer, isRecording: Bool = false
    ) async throws -> Task<Void, any Error> {
        let id = try ConnectionID(Balcony.id)
        let (fixes, report) = (fixes, report)
        let task = Task {
            try await synchronizer.follow(fixes, isRecording: isRecording, activating: [id]) {
                fix, outcome, crossings in
                var isAccepted = true
                if case .ignored = outcome { isAccepted = false }
                report.yield(
                    Step(
                        latitude: fix?.coordinate.latitude, isAccepted: isAccepted, crossings: crossings.map(\.kind)))
            }
        }
        // The areas are known.
        await clock.sleeper(of: .seconds(3_600))
        return task
    }

    private func send(_ latitude: Double, at seconds: Double) throws {
        positions.yield(
            try Fix(Coordinate(latitude: latitude, longitude: 13.4), accuracy: 5, time: PlacesBench.date(seconds)))
    }

    /// A second passes.
    private func pass() async {
        await clock.sleeper(of: .seconds(1))
        bench.pass(1)
        clock.advance(by: .seconds(1))
    }

    @Test("F086, F087: a receiver is followed: who arrives and stands still enters, and that is uploaded beside it")
    func receiver() async throws {
        let synchronizer = try bench.synchronizer(clock: clock)
        let following = try await follow(synchronizer)
        var told = steps.makeAsyncIterator()
        try send(52.53, at: 0)
        #expect(await told.next() == Step(latitude: 52.53))
        bench.pass(10)
        try send(52.52, at: 10)
        #expect(await told.next() == Step(latitude: 52.52))
        for _ in 11..<30 {
            await pass()
            #expect(await told.next() == Step())
        }
        await pass()
        #expect(await told.next() == Step(crossings: [.enter]))
        for await event in synchronizer.events {
            if case .uploaded = event { break }
        }
        #expect(try bench.uploads.joined().map { $0["event_type"] } == ["entry"])
        positions.finish()
        try await following.value
    }

    @Test("a receiver's old position is ignored; a recording's counts, and time passes from the first one of now on")
    func recording() async throws {
        let synchronizer = try bench.synchronizer(clock: clock)
        let following = try await follow(synchronizer, isRecording: true)
        var told = steps.makeAsyncIterator()
        for (number, latitude) in [52.53, 52.52, 52.52].enumerated() {
            clock.advance(by: .seconds(1))
            try send(latitude, at: Double(number) * 30 - 86_400)
            #expect(await told.next() == Step(latitude: latitude, crossings: number == 2 ? [.enter] : []))
        }
        try send(52.52, at: 0)
        #expect(await told.next() == Step(latitude: 52.52))
        await pass()
        #expect(await told.next() == Step())
        positions.finish()
        try await following.value

        let other = FollowingTests()
        let live = try await other.follow(try other.bench.synchronizer(clock: other.clock))
        var toldLive = other.steps.makeAsyncIterator()
        try other.send(52.52, at: -86_400)
        #expect(await toldLive.next() == Step(latitude: 52.52, isAccepted: false))
        other.positions.finish()
        try await live.value
    }

    @Test("when the positions end, what waits is uploaded")
    func end() async throws {
        let synchronizer = try bench.synchronizer(clock: clock) { $0.retry = .none }
        bench.ifttt.answer(PlacesBench.upload, .status(503), .status(204))
        let following = try await follow(synchronizer, isRecording: true)
        for (number, latitude) in [52.53, 52.52, 52.52].enumerated() {
            try send(latitude, at: Double(number) * 30 - 86_400)
        }
        for await event in synchronizer.events {
            if case .synchronizationFailed = event { break }
        }
        #expect(try await synchronizer.waiting().count == 1)
        positions.finish()
        try await following.value
        #expect(try await synchronizer.waiting().isEmpty)
    }

    @Test("an error of the positions or of the app ends it and is thrown; so does a cancellation", arguments: 0..<3)
    func failure(kind: Int) async throws {
        let synchronizer = try bench.synchronizer(clock: clock)
        if kind == 1 {
            let id = try ConnectionID(Balcony.id)
            try send(52.52, at: 0)
            await #expect(throws: Failure.self) {
                try await synchronizer.follow(fixes, activating: [id]) { _, _, _ in throw Failure() }
            }
            return
        }
        let following = try await follow(synchronizer)
        if kind == 0 {
            positions.finish(throwing: Failure())
            await #expect(throws: Failure.self) { try await following.value }
        } else {
            following.cancel()
            await #expect(throws: CancellationError.self) { try await following.value }
        }
    }
}
