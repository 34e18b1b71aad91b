import Foundation
import Handshake
import MessageFixtures
import OAuth
import Sequencing
import TestFixtures
import Testing

extension UnfinishedImportsTests {
    /// Writes the list as another process left it.
    private func store(_ imports: String) async throws {
        let key = try await service.account().id.vaultKey(.imports)
        try await vault.update(key) { try await $0.replace(with: Array(imports.utf8)) }
    }

    private func record(_ id: Int, known: [String], _ more: String = "") -> String {
        let time = Date().timeIntervalSinceReferenceDate - 60
        return #"{"id":\#(id),"source":"23andMe","started":\#(time),"known":\#(known)\#(more)}"#
    }

    @Test("C07: an import that is cancelled before it is sent is not awaited, and nothing of it stays")
    func cancelled() async throws {
        list((1, "before.txt"))
        let (reached, gate) = (Gate(), Gate())
        let unfinished = try await unfinished(
            AfterAnswer(service) {
                reached.open()
                await gate.wait()
            })
        let starting = Task { try await start(unfinished) }
        await reached.wait()
        starting.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await starting.value }
        #expect(!service.lines.contains("POST /23andMe/Download"))
        #expect(try await unfinished.all.isEmpty)
        #expect(try await vault.keys(of: .imports).keys.isEmpty)
    }

    @Test("C07: an import whose process ended before it was sent is not awaited, and has no part in others' files")
    func unsent() async throws {
        try await store("[\(record(1, known: [], #","isListed":false"#))]")
        let unfinished = try await unfinished()
        #expect(try await unfinished.all.isEmpty)
        list((1, "before.txt"))
        let own = try await start(unfinished)
        #expect(try await unfinished.all.map(\.id) == [own.id])
        list((1, "before.txt"), (2, "genome.txt"))
        #expect(ids(try await unfinished.arrival(of: own)) == ["file", "2"])
    }

    @Test("C07: a list that an earlier version has written is read")
    func earlierVersion() async throws {
        try await store("[\(record(1, known: ["1"])),\(record(2, known: ["1", "2"], #","login":"ada""#))]")
        let unfinished = try await unfinished()
        let all = try await unfinished.all
        #expect(all.map(\.id) == [1, 2])
        list((1, "before.txt"), (2, "genome.txt"))
        #expect(ids(try await unfinished.arrival(of: try #require(all.first))) == ["file", "2"])
    }

    @Test("C07: a file that may be an ended import's is not named as another's own")
    func contested() async throws {
        let unfinished = try await unfinished()
        list()
        let one = try await start(unfinished)
        let two = try await start(unfinished)
        list((1, "genome.txt"))
        let three = try await start(unfinished)
        list((1, "genome.txt"), (2, "genome.txt"), (3, "genome.txt"))
        #expect(ids(try await unfinished.arrival(of: one)) == ["one of", "1", "2", "3"])
        #expect(try await unfinished.all.map(\.id) == [two.id, three.id])
        // Only the second can have added the first file, were it not for the first import.
        #expect(ids(try await unfinished.arrival(of: two)) == ["one of", "1", "2", "3"])
        #expect(ids(try await unfinished.arrival(of: three)) == ["one of", "2", "3"])
        #expect(try await vault.keys(of: .imports).keys.isEmpty)
    }

    @Test(
        "C07: a login that is a word of many files' names tells nothing",
        arguments: ["23andMe@example.test", "genome@example.test", "TXT@example.test", "2024@example.test"])
    func commonWord(_ login: String) async throws {
        let unfinished = try await unfinished()
        list()
        let one = try await start(unfinished, login: login)
        let two = try await start(unfinished)
        list((1, "23andme_genome_2024.txt"))
        #expect(ids(try await unfinished.arrival(of: one)) == ["late", "1"])
        #expect(ids(try await unfinished.arrival(of: two)) == ["late", "1"])
    }

    @Test("C07: an import that was lost can be given up, and others do not wait for it")
    func forgotten() async throws {
        let unfinished = try await unfinished()
        list()
        let one = try await start(unfinished)
        let two = try await start(unfinished)
        list((1, "genome.txt"))
        #expect(ids(try await unfinished.arrival(of: two)) == ["late", "1"])
        try await unfinished.forget(one)
        #expect(try await unfinished.all.map(\.id) == [two.id])
        #expect(ids(try await unfinished.arrival(of: two)) == ["file", "1"])
    }
}
