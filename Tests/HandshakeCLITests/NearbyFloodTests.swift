#if CommandLine
import Beacons
import Handshake
import Synchronization
import Testing

@testable import HandshakeCLI
@testable import Nearby

@Suite("What is cut in a flood")
struct NearbyFloodTests {
    private let member: UserNumber

    init() throws { member = try UserNumber(759) }

    /// What a watch lists while a member is near at five metres, and 512 inventions say that they are nearer.
    private func listed() async throws -> [NearbyPerson] {
        let listed = Mutex<[NearbyPerson]>([])
        let watch = Watch(
            log: EncounterLog(in: MemoryVault(), community: NearbyCommand.community), ignoring: nil,
            report: { update in
                if case .people(let people) = update { listed.withLock { $0 = people } }
            }, ask: AsyncStream.makeStream(of: Watch.Question.self).continuation,
            show: AsyncStream.makeStream(of: Watch.Notice.self).continuation)
        let inventions = try (0..<512).map { number in
            Sighting(of: try UserNumber(1_000 + number), at: 1_000_000, instant: .zero, distance: 0.17)
        }
        let sighting = Sighting(of: member, at: 1_000_000, instant: .zero, distance: 5, trust: .circle)
        await watch.take(SightingList(time: 1_000_000, instant: .zero, sightings: inventions + [sighting]))
        return listed.withLock(\.self)
    }

    @Test("CI47: the live list and the page, which have room for some only, have a member among 512 nearer inventions")
    func lists() async throws {
        let people = try await listed()
        #expect(people.count == 513)
        let lines = LiveList.lines(people, status: "listening", columns: 80, rows: 24)
        #expect(lines.count == 24 && lines[1].contains("number 759 "), "\(lines)")
        let state = CompanionState()
        state.note(NearbyUpdate.people(people))
        var snapshots = state.snapshots().makeAsyncIterator()
        let page = try #require(await snapshots.next())
        #expect(page.contains(#"{"person":759,"#))
        #expect(!page.contains(#"{"person":1511,"#), "the page is cut")
    }

    @Test("CI47: of a log that is too long for the page, what any device can have invented is left out first")
    func log() throws {
        var met = PersonHistory(of: member)
        met.encounters = [Encounter(firstSeen: 0, lastSeen: 60, duration: 60, trust: .circle)]
        let inventions = try (0..<600).map { number in
            var history = PersonHistory(of: try UserNumber(1_000 + number))
            let time = 100 + Double(number)
            history.encounters = [Encounter(firstSeen: time, lastSeen: time, duration: 0, trust: .unverified)]
            return history
        }
        let shown = CompanionActions.shown(of: inventions + [met])
        #expect(shown.count == 500 && shown.last?.0.person == member, "the newest comes first")
        #expect(shown.first?.0.person.value == 1_599 && shown[498].0.person.value == 1_101)
        var often = PersonHistory(of: member)
        often.encounters = (0..<510).map { number in
            Encounter(firstSeen: Double(number), lastSeen: Double(number), duration: 0, trust: .paired)
        }
        let verified = CompanionActions.shown(of: inventions + [often])
        #expect(verified.count == 500 && verified.allSatisfy { $0.1.trust == .paired })
        #expect(verified.first?.1.lastSeen == 509)
    }
}
#endif
