import Beacons
import Handshake
import Nearby
import Synchronization

/// A run of people nearby, told tick by tick: what is heard, what the service says, what the user sees.
final class Scene: Sendable {
    let vault: any Vault
    let rules: EncounterRules
    private let state = Mutex(State())

    private struct State {
        var alerts: [Alert] = []
        var crowds: [CrowdAlert] = []
        var updates: [NearbyUpdate] = []
        var questions: [UserNumber] = []
        var running: [UserNumber: Int] = [:]
        var mostConcurrent = 0
        var mostOfOnePerson = 0
    }

    init(vault: any Vault = MemoryVault(), rules: EncounterRules = EncounterRules()) {
        self.vault = vault
        self.rules = rules
    }

    var log: EncounterLog { EncounterLog(in: vault, community: "recurse-center", rules: rules) }
    var alerts: [Alert] { state.withLock(\.alerts) }
    var crowds: [CrowdAlert] { state.withLock(\.crowds) }
    var questions: [UserNumber] { state.withLock(\.questions) }
    var mostConcurrentLookups: Int { state.withLock(\.mostConcurrent) }
    var mostLookupsOfOnePerson: Int { state.withLock(\.mostOfOnePerson) }

    /// What happened, without the list of every tick.
    var events: [NearbyUpdate] {
        state.withLock(\.updates).filter { if case .people = $0 { false } else { true } }
    }

    /// Who was near at the last tick.
    var lastPeople: [NearbyPerson] {
        for case .people(let people) in state.withLock(\.updates).reversed() { return people }
        return []
    }

    /// Lets a run happen: one tick for each element, with who is heard at which second.
    func run(
        _ ticks: [(second: Int, people: [UserNumber])], own: UserNumber? = nil,
        before: @escaping @Sendable (Int) async -> Void = { _ in },
        lookup: @escaping @Sendable (UserNumber) async -> Introduction
    ) async throws {
        let start = 1_000_000.0
        let lists = ticks.map { second, people in
            SightingList(
                time: start + Double(second), instant: .seconds(second),
                sightings: people.map {
                    Sighting(of: $0, at: start + Double(second), instant: .seconds(second), distance: 2)
                })
        }
        let nearby = PeopleNearby(log: log, ignoring: own, alerts: Board(scene: self)) { [self] person, _ in
            beginQuestion(person)
            defer { endQuestion(person) }
            return await lookup(person)
        }
        try await nearby.run(on: Ticks(lists: lists, before: before)) { [self] update in
            state.withLock { $0.updates.append(update) }
        }
    }

    private func beginQuestion(_ person: UserNumber) {
        state.withLock { state in
            state.questions.append(person)
            state.running[person, default: 0] += 1
            state.mostConcurrent = max(state.mostConcurrent, state.running.values.reduce(0, +))
            state.mostOfOnePerson = max(state.mostOfOnePerson, state.running[person] ?? 0)
        }
    }

    private func endQuestion(_ person: UserNumber) {
        state.withLock { $0.running[person, default: 0] -= 1 }
    }

    private struct Board: Alerts {
        let scene: Scene

        func show(_ alert: Alert) async {
            scene.state.withLock { $0.alerts.append(alert) }
        }

        func show(_ crowd: CrowdAlert) async {
            scene.state.withLock { $0.crowds.append(crowd) }
        }
    }

    /// Waits until something holds; the test's own time limit is the deadline.
    func wait(until condition: @Sendable (Scene) -> Bool) async {
        while !condition(self) { await Task.yield() }
    }
}

/// Lists of sightings, one after the other, with something to wait for before each.
struct Ticks: AsyncSequence, Sendable {
    let lists: [SightingList]
    let before: @Sendable (Int) async -> Void

    func makeAsyncIterator() -> Iterator { Iterator(ticks: self) }

    struct Iterator: AsyncIteratorProtocol {
        let ticks: Ticks
        var index = 0

        mutating func next() async throws -> SightingList? {
            guard index < ticks.lists.count else { return nil }
            try Task.checkCancellation()
            await ticks.before(index)
            defer { index += 1 }
            return ticks.lists[index]
        }
    }
}
