import Foundation
import Geofences
import Synchronization
import TestFixtures
import Testing

@testable import Positions

@Suite("Regions that a system monitors")
struct RegionCoordinatorTests {
    private static let begin = 1_700_000_000.0

    private static func at(_ metresNorth: Double, _ metresEast: Double = 0) throws -> Coordinate {
        try Coordinate(latitude: metresNorth / 111_000, longitude: metresEast / 111_320)
    }

    private static func circle(_ id: String, _ north: Double, _ east: Double = 0, radius: Double = 200) throws
        -> Geofence
    {
        try Geofence(id: id, .circle(Circle(center: at(north, east), radius: radius)))
    }

    private static func fix(_ north: Double, _ east: Double = 0, second: Double = 0, accuracy: Double = 10) throws
        -> Fix
    {
        try Fix(at(north, east), accuracy: accuracy, time: Date(timeIntervalSince1970: begin + second))
    }

    /// One process of the app.
    private struct Process {
        let system: StandInSystem
        let coordinator: RegionCoordinator
        let clock = ManualClock()

        /// - Parameter now: the present; the time of the user's newest position unless told.
        init(_ system: StandInSystem, now: (@Sendable () -> Date)? = nil) {
            self.system = system
            coordinator = RegionCoordinator(
                system, positions: system, isOwned: { !$0.hasPrefix("foreign") }, clock: clock,
                now: now ?? { system.state.withLock { $0.here?.time ?? Date(timeIntervalSince1970: begin) } })
        }

        /// What is handed on until nothing waits.
        func crossings() async throws -> [String] {
            var found: [String] = []
            repeat {
                try await coordinator.run {
                    found.append("\($0.kind) \($0.region) \(Int($0.date.timeIntervalSince1970 - begin))")
                }
            } while system.hasCrossings
            return found
        }
    }

    @Test("F084: of 60 regions those around the user are registered; leaving the boundary registers the next ones")
    func walk() async throws {
        let system = StandInSystem()
        let regions = try (0..<60).map { try Self.circle("r\($0)", Double($0) * 2_000) }
        let process = Process(system)
        system.move(to: try Self.fix(-1_000, accuracy: 100))
        await process.coordinator.monitor(regions.shuffled())
        #expect(system.names == Set((0..<19).map { "r\($0)" } + [RegionCoordinator.boundaryID]))
        var found: [String] = []
        var expected: [String] = []
        var last = -1_000.0
        for step in 1...1_210 {
            let place = -1_000 + 100 * Double(step)
            for (number, region) in regions.enumerated() {
                let (before, now) = try (Self.at(last), Self.at(place))
                let (wasInside, isInside) = (
                    region.distanceToEdge(from: before) < 0, region.distanceToEdge(from: now) < 0
                )
                if wasInside != isInside { expected.append("\(isInside ? "enter" : "exit") r\(number) \(step)") }
            }
            last = place
            system.move(to: try Self.fix(place, second: Double(step), accuracy: 100))
            found += try await process.crossings()
        }
        #expect(found == expected)
        #expect(found.count == 120)
        #expect(system.state.withLock { $0.refused } == 0)
    }

    @Test(
        "F084, W18: walks through 200 regions, with other owners' regions, deaths and launches, give each crossing once",
        arguments: 0..<4)
    func randomWalks(seed: Int) async throws {
        var random = SplitMix64(seed: UInt64(seed) &+ 11)
        let foreign = try (0..<3).map { try Self.circle("foreign\($0)", Double($0) * 5_000, radius: 3_000) }
        let system = StandInSystem(foreign: foreign)
        let regions = try (0..<200).map { number in
            // One in twenty is beyond what the system takes.
            try Self.circle(
                "r\(number)", .random(in: -20_000...20_000, using: &random),
                .random(in: -20_000...20_000, using: &random),
                radius: number % 20 == 0 ? 200_000 : .random(in: 200...900, using: &random))
        }
        let capped = try regions.map { region -> Geofence in
            guard case .circle(let circle) = region.shape else { return region }
            return try Geofence(
                id: region.id, .circle(Circle(center: circle.center, radius: min(circle.radius, 20_000))))
        }
        system.move(to: try Self.fix(0, accuracy: 100))
        var process = Process(system)
        await process.coordinator.monitor(regions)
        #expect(try await process.crossings() == [])
        var inside = try Set(capped.filter { $0.distanceToEdge(from: try Self.at(0)) < 0 }.map(\.id))
        var (north, east, heading) = (0.0, 0.0, Double.random(in: 0...1, using: &random))
        var found: Set<String> = []
        var expected: Set<String> = []
        for step in 1...900 {
            heading += .random(in: -0.03...0.03, using: &random)
            if max(north.magnitude, east.magnitude) > 18_000 { heading += 0.1 }
            (north, east) = (north + 90 * sin(heading * 2 * .pi), east + 90 * cos(heading * 2 * .pi))
            let fix = try Self.fix(north, east, second: Double(step), accuracy: 100)
            system.move(to: fix)
            for region in capped {
                let isInside = region.distanceToEdge(from: fix.coordinate) < 0
                if isInside, inside.insert(region.id).inserted { expected.insert("enter \(region.id) \(step)") }
                if !isInside, inside.remove(region.id) != nil { expected.insert("exit \(region.id) \(step)") }
            }
            // The app has died; an event launches it, and now and then the user does.
            if system.hasCrossings || Int.random(in: 0..<50, using: &random) == 0 {
                if Bool.random(using: &random) {
                    process = Process(system)
                    await process.coordinator.monitor(regions)
                }
                let new = try await process.crossings()
                for crossing in new { #expect(found.insert(crossing).inserted, "\(crossing) twice") }
            }
            #expect(system.names.isSuperset(of: foreign.map(\.id)))
        }
        #expect(found == expected, "\(found.symmetricDifference(expected).sorted())")
        #expect(expected.count > 20)
        #expect(system.state.withLock { $0.refused } == 0)
    }

    @Test("a region that is registered while the user is inside gives no entry, and its exit counts")
    func inside() async throws {
        let system = StandInSystem()
        let process = Process(system)
        system.move(to: try Self.fix(0))
        await process.coordinator.monitor([try Self.circle("home", 0), try Self.circle("work", 1_000)])
        #expect(try await process.crossings() == [])
        // Moved, it is another region.
        await process.coordinator.monitor([try Self.circle("home", 50), try Self.circle("work", 0)])
        #expect(try await process.crossings() == [])
        system.move(to: try Self.fix(600, second: 60))
        #expect(try await process.crossings() == ["exit home 60", "exit work 60"])
    }

    @Test("where the first fix cannot tell, the system's first word is no crossing, the next one is")
    func vague() async throws {
        for north in [150.0, 250] {
            let system = StandInSystem()
            let process = Process(system)
            system.move(to: try Self.fix(north, accuracy: 100))
            await process.coordinator.monitor([try Self.circle("home", 0)])
            #expect(try await process.crossings() == [])
            system.move(to: try Self.fix(400 - north, second: 30))
            #expect(try await process.crossings() == [north < 200 ? "exit home 30" : "enter home 30"])
        }
        // A word that comes late is a crossing, also if it is the first.
        let system = StandInSystem()
        let process = Process(system)
        system.move(to: try Self.fix(190, accuracy: 100))
        await process.coordinator.monitor([try Self.circle("home", 0)])
        system.state.withLock { $0.waiting = [] }
        system.move(to: try Self.fix(300, second: 200))
        #expect(try await process.crossings() == ["exit home 200"])
    }

    @Test("the system's first word is no crossing either when it comes at the next launch")
    func vagueLaunch() async throws {
        let system = StandInSystem()
        system.move(to: try Self.fix(150, accuracy: 100))
        await Process(system).coordinator.monitor([try Self.circle("home", 0)])
        #expect(system.hasCrossings)
        let launched = Process(system)
        #expect(try await launched.crossings() == [])
        system.move(to: try Self.fix(400, second: 30))
        #expect(try await launched.crossings() == ["exit home 30"])
    }

    @Test("W18: other owners' regions take places, are never stopped, and their crossings are not handed on")
    func owners() async throws {
        let foreign = try (0..<5).map { try Self.circle("foreign\($0)", 1_000 * Double($0)) }
        let system = StandInSystem(foreign: foreign)
        let process = Process(system)
        system.move(to: try Self.fix(-500))
        await process.coordinator.monitor(
            try (0..<30).map { try Self.circle("r\($0)", 500 + 1_000 * Double($0)) } + foreign)
        #expect(system.names.count == 20)
        #expect(system.names.count { $0.hasPrefix("foreign") } == 5)
        #expect(system.state.withLock { $0.refused } == 0)
        system.move(to: try Self.fix(0, second: 60))
        system.move(to: try Self.fix(500, second: 120))
        #expect(try await process.crossings() == ["enter r0 120"])
        await process.coordinator.monitor([])
        #expect(system.names == Set(foreign.map(\.id)))
    }

    @Test("a launch, fixes within the boundary and a radius that the system caps start nothing again")
    func quiet() async throws {
        let system = StandInSystem(maximumRadius: 1_000)
        let regions = try (0..<25).map { try Self.circle("r\($0)", 5_000 * Double($0), radius: 4_000) }
        let process = Process(system)
        system.move(to: try Self.fix(-3_000))
        await process.coordinator.monitor(regions)
        #expect(system.takeStarts().count == 20)
        for second in 1..<50 {
            let fix = try Self.fix(-3_000 + 10 * Double(second), second: Double(second))
            system.move(to: fix)
            await process.coordinator.receive(fix)
        }
        #expect(system.takeStarts() == [])
        // At a launch only the boundary is drawn around the new position.
        let next = Process(system)
        await next.coordinator.monitor(regions)
        #expect(system.takeStarts() == [RegionCoordinator.boundaryID])
        #expect(try await next.crossings() == [])
        #expect(system.state.withLock { $0.beyond } == 0)
    }

    @Test("before the app says what it wants, nothing is stopped, and crossings are handed on")
    func launch() async throws {
        let system = StandInSystem()
        let regions = try (0..<25).map { try Self.circle("r\($0)", 2_000 * Double($0)) }
        system.move(to: try Self.fix(-1_000))
        await Process(system).coordinator.monitor(regions)
        let before = system.names
        let launched = Process(system)
        system.move(to: try Self.fix(0, second: 20))
        await launched.coordinator.receive(try Self.fix(0, second: 20))
        #expect(try await launched.crossings() == ["enter r0 20"])
        #expect(system.names == before)
        // It left the boundary while it was not told: told, it selects there.
        system.move(to: try Self.fix(49_000, second: 400))
        #expect(try await launched.crossings() == ["exit r0 400"])
        #expect(system.names == before)
        await launched.coordinator.monitor(regions)
        #expect(system.names == Set((6..<25).map { "r\($0)" } + [RegionCoordinator.boundaryID]))
    }

    @Test("without a position nothing is registered; the next fix or visit registers, also one that is late")
    func noPosition() async throws {
        let system = StandInSystem()
        let clock = ManualClock()
        let present = Date(timeIntervalSince1970: Self.begin + 3_600)
        let coordinator = RegionCoordinator(
            system, positions: system, isOwned: { _ in true }, clock: clock, now: { present })
        let regions = try (0..<25).map { try Self.circle("r\($0)", 2_000 * Double($0)) }
        async let monitoring: Void = coordinator.monitor(regions)
        await clock.sleepers(1)
        clock.advance(by: .seconds(8))
        await monitoring
        #expect(system.names == [])
        // A visit of half an hour ago; no newer position is to be had.
        let visit = try Self.fix(-1_000, second: 1_800)
        async let visiting: Void = coordinator.receive(visit)
        await clock.sleepers(1)
        clock.advance(by: .seconds(8))
        await visiting
        #expect(system.names.count == 20)
        // The visit is late again, and the user has gone on: the current position counts.
        system.state.withLock { $0.here = try? Self.fix(49_000, second: 3_590) }
        await coordinator.receive(try Self.fix(20_000, second: 2_000))
        #expect(system.names == Set((6..<25).map { "r\($0)" } + [RegionCoordinator.boundaryID]))
    }

    @Test("a boundary that is left without a position is selected at the next fix; crossings do not wait for that")
    func boundaryWithoutPosition() async throws {
        let system = StandInSystem()
        let regions = try (0..<25).map { try Self.circle("r\($0)", 2_000 * Double($0)) }
        let process = Process(system, now: { Date(timeIntervalSince1970: Self.begin + 500) })
        await process.coordinator.receive(try Self.fix(-1_000, second: 450))
        await process.coordinator.monitor(regions)
        system.move(to: try Self.fix(-1_000, second: 450))
        let before = system.names
        system.silence(true)
        system.move(to: try Self.fix(36_000, second: 480))
        system.move(to: try Self.fix(48_000, second: 500))
        let (stream, continuation) = AsyncStream.makeStream(of: RegionCrossing.self)
        async let running: Void = process.coordinator.run { continuation.yield($0) }
        var iterator = stream.makeAsyncIterator()
        // The boundary's exit came before, and its search for a position goes on.
        let (entry, exit) = (await iterator.next(), await iterator.next())
        #expect([entry?.kind, exit?.kind] == [.enter, .exit])
        #expect([entry?.region, exit?.region] == ["r18", "r18"])
        await process.clock.sleepers(1)
        process.clock.advance(by: .seconds(8))
        try await running
        #expect(system.names == before)
        // Within the old boundary, too: the system has said that it was left.
        await process.coordinator.receive(try Self.fix(-900, second: 501))
        #expect(system.takeStarts().last != nil)
        await process.coordinator.receive(try Self.fix(49_000, second: 502))
        #expect(system.names == Set((6..<25).map { "r\($0)" } + [RegionCoordinator.boundaryID]))
    }

    @Test("an error of the recorder ends the run, and what follows waits in order")
    func failure() async throws {
        struct Full: Error {}
        let system = StandInSystem()
        let process = Process(system)
        system.move(to: try Self.fix(-1_000))
        await process.coordinator.monitor([
            try Self.circle("a", 0), try Self.circle("b", 100), try Self.circle("c", 200),
        ])
        system.move(to: try Self.fix(100, second: 9))
        var recorded: [String] = []
        await #expect(throws: Full.self) {
            try await process.coordinator.run { crossing in
                if crossing.region == "b" { throw Full() }
                recorded.append(crossing.region)
            }
        }
        #expect(recorded == ["a"])
    }

    @Test("shapes that the system does not know, and second regions of one name, are left out")
    func others() async throws {
        let system = StandInSystem()
        let process = Process(system)
        system.move(to: try Self.fix(0))
        let ring = try [Self.at(0), Self.at(0, 100), Self.at(100, 0)]
        let polygon = try Geofence(id: "polygon", .polygon(Polygon(rings: [ring])))
        let reserved = try Self.circle(RegionCoordinator.boundaryID, 0)
        await process.coordinator.monitor([polygon, try Self.circle("a", 1_000), try Self.circle("a", 2_000), reserved])
        #expect(system.regions == [try Self.circle("a", 1_000)])
    }

    @Test("a fix too vague for any boundary registers a boundary that holds the user")
    func veryVague() async throws {
        let system = StandInSystem()
        let process = Process(system)
        let regions = try (0..<40).map { try Self.circle("r\($0)", 100 * Double($0), radius: 50) }
        system.move(to: try Self.fix(0, accuracy: 3_000))
        await process.coordinator.monitor(regions)
        let boundary = try #require(system.regions.first { $0.id == RegionCoordinator.boundaryID })
        #expect(boundary.distanceToEdge(from: try Self.at(2_990)) < 0)
        // Near enough to matter, and better: selected again, though within the boundary.
        system.move(to: try Self.fix(2_500, second: 10))
        await process.coordinator.receive(try Self.fix(2_500, second: 10))
        #expect(system.takeStarts().last != nil)
        let better = try #require(system.regions.first { $0.id == RegionCoordinator.boundaryID })
        #expect(try better != boundary && better.distanceToEdge(from: Self.at(2_500)) < -100)
    }
}
