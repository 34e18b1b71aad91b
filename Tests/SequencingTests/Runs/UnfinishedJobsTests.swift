import Foundation
import Handshake
import OAuth
import Sandbox
import Sequencing
import TestFixtures
import Testing

@Suite("Unfinished jobs")
struct UnfinishedJobsTests {
    private let file: FileID

    init() throws {
        file = try #require(FileID("910002"))
    }

    @Test("E19: a job that its run gave up is listed, resumed by another process, and listed no more")
    func resumed() async throws {
        let town = try await Town(polling: Polling(jitter: 0, timeout: .milliseconds(1)))
        let vault = MemoryVault()
        let start = Date(timeIntervalSince1970: 1_790_000_000)
        let calls = [902, 901].map { ChainCall(AppCode($0), on: file) }
        for try await step in town.genome.run(calls) {
            try await UnfinishedJobs(of: town.account, in: vault).note(step, at: start)
        }
        let jobs = UnfinishedJobs(of: town.account, in: vault)
        let left = try await jobs.all
        #expect(left.map(\.chain) == [AppCode(902)] && left.map(\.file) == [file] && left.map(\.started) == [start])

        let patient = Sequencing(town.account, polling: Polling(jitter: 0), clock: HurriedClock())
        var reports: [Report] = []
        for try await step in patient.resume(left.map(\.id)) {
            try await jobs.note(step)
            reports = step.chains.compactMap { try? $0.result?.get() }
        }
        #expect(reports.map(\.job) == left.map(\.id))
        #expect(try await jobs.all.isEmpty)
        #expect(try await vault.keys(of: .jobs).keys.isEmpty)
        await town.sandbox.stop()
    }

    @Test("a job whose polls fail in passing stays listed; one that failed or is unknown does not")
    func ends() async throws {
        let town = try await Town(polling: Polling(jitter: 0))
        let jobs = UnfinishedJobs(of: town.account, in: MemoryVault())
        let run = town.genome.run([906, 904].map { ChainCall(AppCode($0), on: file) })
        do {
            for try await step in run {
                try await jobs.note(step)
                if step.endedCount == 1 { break }
            }
        }
        #expect(try await jobs.all.map(\.chain) == [AppCode(906)])

        let running = try #require(try await jobs.all.first?.id)
        try town.inject("sequencing /v2/GetAppResults => status 503")
        await #expect(throws: SequencingError.service(status: 503, code: nil, message: nil)) {
            for try await step in town.genome.resume([running]) { try await jobs.note(step) }
        }
        #expect(try await jobs.all.map(\.id) == [running])
        await town.sandbox.stop()

        let gone = ScriptedService(["GET /v2/GetAppResults": [.json(#"{"Message":"unknown"}"#, status: 404)]])
        for try await step in try await gone.genome().resume([running]) { try await jobs.note(step) }
        #expect(try await jobs.all.isEmpty)
    }

    @Test("E19: a job whose polls cannot be read stays listed, until it is answered or the user removes it")
    func unread() async throws {
        let (town, vault) = (try await Town(), MemoryVault())
        let jobs = UnfinishedJobs(of: town.account, in: vault)
        try town.inject("sequencing /v2/GetAppResults => garbage")
        for try await step in town.genome.run([ChainCall(AppCode(902), on: file)]) { try await jobs.note(step) }
        let left = try await jobs.all
        #expect(left.map(\.chain) == [AppCode(902)])
        await town.sandbox.stop()

        let job = try #require(left.first?.id)
        #expect(try await jobs.forget(JobID(job.number + 1)) == false)
        #expect(try await jobs.all == left)
        #expect(try await jobs.forget(job))
        #expect(try await jobs.all.isEmpty)
        #expect(try await vault.keys(of: .jobs).keys.isEmpty)
    }

    @Test("each account has its own list, of at most 1,000, and signing out forgets it")
    func bounds() async throws {
        let (ada, vault) = (try await Town(), MemoryVault())
        let jobs = UnfinishedJobs(of: ada.account, in: vault)
        let waiting = Sequencing(ada.account, polling: Polling(timeout: .zero), clock: HurriedClock())
        let many = (1...Int64(UnfinishedJobs.limit + 5)).map { JobID($0) }
        try ada.inject("sequencing /v2/GetAppResultsBatch => status 503")
        for try await step in waiting.resume(many) { try await jobs.note(step) }
        let listed = try await jobs.all
        #expect(listed.count == UnfinishedJobs.limit && listed.first?.id == JobID(6))
        for client in [ada.client, Client(service: ada.client.service, id: "another")] {
            let name = client.id == ada.client.id ? "grace" : ada.account.id.name
            try await UnfinishedJobs.forget(AccountID(client, name: name), in: vault)
        }
        #expect(try await jobs.all.count == UnfinishedJobs.limit)
        try await UnfinishedJobs.forget(ada.account.id, in: vault)
        #expect(try await jobs.all.isEmpty)
        await ada.sandbox.stop()
    }

    @Test(
        "a list that cannot be read is an error of the vault, not an empty list",
        arguments: ["", "[", #"[{"id":"x"}]"#])
    func damaged(_ text: String) async throws {
        let (town, vault) = (try await Town(), MemoryVault())
        try await vault.update(town.account.id.vaultKey(.jobs)) { try await $0.replace(with: Array(text.utf8)) }
        let jobs = UnfinishedJobs(of: town.account, in: vault)
        await #expect { try await jobs.all } throws: { error in
            if case SequencingError.account(.vault(.damaged)) = error { true } else { false }
        }
        await town.sandbox.stop()
    }
}
