import Beacons
import Handshake
import Nearby
import Synchronization
import Testing

@Suite("Watching who is near")
struct PeopleNearbyTests {
    private let ada = person(759)
    private let grace = person(36)
    private let known = Person(name: "Ada Example", batch: "S1'14")

    @Test("6.1, scenario 5: two people in range for five minutes cost one question and one alert each")
    func twoPeopleForFiveMinutes() async throws {
        let scene = Scene()
        try await scene.run((0..<300).map { ($0, [ada, grace]) }) { [known] _ in .known(known) }
        #expect(scene.questions.sorted() == [grace, ada])
        #expect(scene.alerts.filter { !$0.isUpdate }.map(\.person).sorted() == [grace, ada])
        #expect(scene.alerts.allSatisfy { $0.known == known || $0.known == nil })
    }

    @Test("D3; 6.1, scenario 7: after a restart half an hour later no person is announced again")
    func aRestart() async throws {
        let vault = MemoryVault()
        for (start, alerts) in [(0, 1), (1800, 0), (3600, 0), (3601, 1)] {
            let scene = Scene(vault: vault)
            try await scene.run([(start, [ada])]) { [known] _ in .known(known) }
            #expect(scene.alerts.count == alerts, "after \(start) seconds")
        }
    }

    @Test("RC-20; 6.1, scenario 8: oneself is neither asked about, nor announced, nor logged")
    func oneself() async throws {
        let scene = Scene()
        try await scene.run([(0, [ada]), (1, [ada])], own: ada) { [known] _ in .known(known) }
        #expect(scene.questions.isEmpty && scene.alerts.isEmpty && scene.events.isEmpty)
        #expect(try await scene.log.contents(at: 1_000_010).people.isEmpty)
    }

    @Test("RC-23: without a network someone met before is announced by name")
    func metBefore() async throws {
        let vault = MemoryVault()
        try await Scene(vault: vault).run([(0, [ada])]) { [known] _ in .known(known) }
        let scene = Scene(vault: vault)
        try await scene.run([(7200, [ada]), (7201, [ada])]) { _ in .unreachable }
        #expect(scene.alerts.map(\.known) == [known])
    }

    @Test("an alert appears after three seconds, without the name if that is not known by then")
    func nameTimeout() async throws {
        let scene = Scene()
        try await scene.run((0..<10).map { ($0, [ada]) }) { tick in
            if tick == 5 { await scene.wait { !$0.alerts.isEmpty } }
        } lookup: { [known] _ in
            await scene.wait { !$0.alerts.isEmpty }
            return .known(known)
        }
        #expect(scene.alerts.map(\.isUpdate) == [false, true])
        #expect(scene.alerts.first?.known == nil)
    }

    @Test("an unknown number leads to one look-up and no alert, and leaves nothing behind")
    func aLyingBeacon() async throws {
        let scene = Scene()
        try await scene.run((0..<100).map { ($0, [ada]) }) { tick in
            if tick == 1 { await scene.wait { $0.events.contains(.unknown(person(759))) } }
        } lookup: { _ in
            .unknown
        }
        #expect(scene.questions == [ada])
        #expect(scene.alerts.isEmpty)
        #expect(try await scene.vault.keys(of: .encounters).keys.isEmpty)
    }

    @Test("D4: two hundred people in one room: four concurrent look-ups, one per person, and one alert for the crowd")
    func aFullRoom() async throws {
        let scene = Scene()
        let people = (1...200).compactMap { try? UserNumber($0) }
        try await scene.run((0..<20).map { ($0, people) }) { [known] _ in
            await Task.yield()
            return .known(known)
        }
        #expect(scene.questions.sorted() == people)
        #expect(scene.mostConcurrentLookups <= PeopleNearby.maximumConcurrentLookups)
        #expect(scene.mostLookupsOfOnePerson == 1)
        #expect(scene.crowds == [CrowdAlert(count: 200)] && scene.alerts.isEmpty)
        #expect(scene.crowds.map(\.title) == ["200 people seem to have arrived at the same moment"])
        #expect(scene.crowds.map(\.body) == ["This may be a fake."])
        #expect(try await scene.log.contents(at: 1_000_020).people.isEmpty, "any device can send such a crowd")
    }

    @Test("a crowd of invented numbers that is gone is not looked up, and the next person is immediately")
    func goneBeforeTheQuestion() async throws {
        let scene = Scene()
        let invented = (1000..<1500).map { person($0) }
        let answers = AsyncStream.makeStream(of: Void.self)
        let isOver = Mutex(false)
        try await scene.run([(0, invented), (1000, [ada]), (1001, [ada])]) { tick in
            // The service is slow: its first answers come when the crowd has left.
            if tick == 1 { await scene.wait { $0.questions.count == PeopleNearby.maximumConcurrentLookups } }
            guard tick == 2 else { return }
            isOver.withLock { $0 = true }
            answers.continuation.finish()
        } lookup: { [known] _ in
            for await _ in answers.stream where isOver.withLock({ $0 }) { break }
            return .known(known)
        }
        #expect(scene.questions.count == PeopleNearby.maximumConcurrentLookups + 1)
        #expect(scene.questions.last == ada)
    }

    @Test("someone who comes back before the question was put is asked about")
    func backBeforeTheQuestion() async throws {
        let scene = Scene()
        let others = (1000..<1004).map { person($0) }
        let isOver = Mutex(false)
        let last = person(2000)
        try await scene.run([(0, others), (1, [last]), (1000, []), (2000, [last]), (2001, [last])]) { tick in
            if tick == 1 { await scene.wait { $0.questions.count == PeopleNearby.maximumConcurrentLookups } }
            if tick == 4 { isOver.withLock { $0 = true } }
        } lookup: { [known] _ in
            while !isOver.withLock({ $0 }), !Task.isCancelled { await Task.yield() }
            return .known(known)
        }
        #expect(scene.questions.filter { $0 == last }.count == 1)
    }

    @Test("someone who leaves is logged with first and last time, duration and closest distance")
    func leaving() async throws {
        let scene = Scene()
        let ticks = (0...30).map { (second: $0, people: [ada]) } + [(second: 400, people: [])]
        try await scene.run(ticks) { [ada, known] tick in
            if tick == 30 { await scene.wait { $0.events.contains(.introduced(ada, known)) } }
        } lookup: { [known] _ in
            .known(known)
        }
        let expected = Encounter(
            firstSeen: 1_000_000, lastSeen: 1_000_030, duration: 30, closest: 2, wasAnnounced: true,
            trust: .unverified)
        #expect(scene.events.last == .left(ada, known, expected))
        #expect(try await scene.log.history(of: ada)?.encounters == [expected])
        #expect(scene.lastPeople.isEmpty)
    }

    @Test("someone forgotten while near is not logged with the time before, nor announced again")
    func forgottenWhileNear() async throws {
        let scene = Scene()
        try await scene.run((0..<60).map { ($0, [ada]) }) { [ada] tick in
            if tick == 20 { _ = try? await scene.log.forget(ada) }
        } lookup: { [known] _ in
            .known(known)
        }
        #expect(scene.alerts.filter { !$0.isUpdate }.count == 1)
        let first = try #require(try await scene.log.history(of: ada)?.encounters.first?.firstSeen)
        #expect(first >= 1_000_020)
    }

    @Test("a run that is cancelled writes down who is near, and says so")
    func cancelled() async throws {
        let scene = Scene()
        let run = Task { [ada, known] in
            try await scene.run((0..<1000).map { ($0, [ada]) }) { tick in
                if tick == 5 { withUnsafeCurrentTask { $0?.cancel() } }
                if tick >= 5 { while !Task.isCancelled { await Task.yield() } }
            } lookup: { _ in
                .known(known)
            }
        }
        await scene.wait { !$0.events.isEmpty }
        run.cancel()
        await #expect(throws: CancellationError.self) { try await run.value }
        #expect(try await scene.log.history(of: ada)?.encounters.count == 1)
    }

    @Test("sightings that fail end the run with their error, after the log was written")
    func theRadioFails() async throws {
        struct RadioGone: Error {}
        let scene = Scene()
        let nearby = PeopleNearby(log: scene.log, ignoring: nil, alerts: Silence()) { [known] _, _ in .known(known) }
        let lists = AsyncThrowingStream<SightingList, any Error> { [ada] continuation in
            continuation.yield(
                SightingList(
                    time: 1_000_000, instant: .zero,
                    sightings: [Sighting(of: ada, at: 1_000_000, instant: .zero)]))
            continuation.finish(throwing: RadioGone())
        }
        await #expect(throws: RadioGone.self) { try await nearby.run(on: lists) { _ in } }
        #expect(try await scene.log.history(of: ada)?.encounters.count == 1)
    }

    @Test("a log that cannot be written is reported, and written when it can be again")
    func aLogThatFails() async throws {
        let vault = FailingVault()
        let scene = Scene(vault: vault, rules: EncounterRules(saveInterval: 1))
        try await scene.run((0..<10).map { ($0, [ada]) }) { tick in
            vault.fails.withLock { $0 = tick < 5 }
        } lookup: { [known] _ in
            .known(known)
        }
        #expect(scene.events.contains { if case .logFailed = $0 { true } else { false } })
        #expect(scene.alerts.filter { !$0.isUpdate }.count == 1)
        #expect(try await scene.log.history(of: ada)?.encounters.first?.firstSeen == 1_000_000)
    }

    @Test("a log that cannot be written at the end is reported then, though it was reported a moment before")
    func aLogThatFailsAtTheEnd() async throws {
        let vault = FailingVault()
        let scene = Scene(vault: vault)
        // Written at 0 and 15 seconds; what follows fails, the last time at the end.
        try await scene.run((0..<40).map { ($0, [ada]) }) { tick in
            vault.fails.withLock { $0 = tick > 20 }
        } lookup: { [known] _ in
            .known(known)
        }
        vault.fails.withLock { $0 = false }
        let failure = NearbyUpdate.logFailed(.vault(.unavailable("disk full")))
        #expect(scene.events.filter { $0 == failure } == [failure, failure])
        #expect(scene.events.last == failure)
        #expect(try await scene.log.history(of: ada)?.encounters.first?.duration == 15)
    }

    private struct Silence: Alerts {
        func show(_ alert: Alert) async {}
        func show(_ crowd: CrowdAlert) async {}
    }

    private final class FailingVault: Vault {
        let fails = Mutex(false)
        private let vault = MemoryVault()

        func record(_ key: VaultKey) async throws -> [UInt8]? {
            try check()
            return try await vault.record(key)
        }

        func keys(of kind: VaultKey.Kind) async throws -> VaultListing {
            try check()
            return try await vault.keys(of: kind)
        }

        func update<Result: Sendable>(
            _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
        ) async throws -> Result {
            try check()
            return try await vault.update(key, body)
        }

        private func check() throws(VaultError) {
            if fails.withLock(\.self) { throw .unavailable("disk full") }
        }
    }
}
