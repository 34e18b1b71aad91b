import Handshake
import IFTTTConnect
import OAuth
import Synchronization
import TestFixtures
import Testing

@Suite("Analytics")
struct AnalyticsTests {
    private let line = "POST /v2/sdk/events"

    private func analytics(_ ifttt: ScriptedIFTTT, _ storage: AnalyticsStorage = .none) -> Analytics {
        Analytics(
            to: ifttt.api(), storage: storage,
            time: TimeSource(now: { 1_735_689_600.123 }, clock: HurriedClock()))
    }

    private func events(_ request: ScriptedIFTTT.Request) throws -> [JSONValue] {
        try #require(try JSONValue(parsing: Array(request.content.utf8)).object?["events"]?.array)
    }

    @Test("W24, F101: without consent nothing is kept, nothing is sent, and there is no identifier")
    func withoutConsent() async throws {
        let ifttt = ScriptedIFTTT([line: [.status(200)]])
        let analytics = analytics(ifttt)
        for _ in 0..<20 { await analytics.record(.footerClicked) }
        await analytics.flush()
        #expect(await analytics.anonymousID == nil)
        #expect(await analytics.waitingCount == 0)
        await analytics.allow()
        await analytics.flush()
        #expect(ifttt.requests.isEmpty)
    }

    @Test("7, F099: with consent an event goes out as the dossier writes it, without a token")
    func wire() async throws {
        let ifttt = ScriptedIFTTT([line: [.status(204)]])
        let analytics = analytics(ifttt)
        await analytics.allow()
        await analytics.record(.connectionShown(try Balcony.connection(.neverEnabled), appName: "Garden App"))
        await analytics.flush()
        let request = try #require(ifttt.requests.first)
        let expected = """
            { "events": [ { "name": "sdk.impression", "timestamp": "1735689600123",
              "properties": { "location_type": "connect_button", "location_id": "Garden App",
                              "object_type": "connection", "object_id": "aB3dE5fG", "object_status": "never_enabled" } } ] }
            """
        #expect(
            try JSONValue(parsing: Array(request.content.utf8)) == (try JSONValue(parsing: Array(expected.utf8))))
        #expect(request.header("Authorization") == nil)
        #expect(request.header("IFTTT-SDK-Anonymous-Id") == (await analytics.anonymousID)?.rawValue)
        #expect(await analytics.waitingCount == 0)
    }

    @Test("F100, 12: at most ten go at a time, the oldest first, until nothing waits; what is refused stays")
    func flush() async throws {
        let ifttt = ScriptedIFTTT([line: [.status(500), .status(200)]])
        let analytics = analytics(ifttt)
        await analytics.allow()
        for number in 0..<12 {
            await analytics.record(.aboutClicked(try ConnectionID(Balcony.id), button: "b\(number)"))
        }
        await analytics.flush()
        #expect(await analytics.waitingCount == 12)
        await analytics.flush()
        #expect(await analytics.waitingCount == 0)
        #expect(try ifttt.requests.map { try events($0).count } == [10, 10, 2])
        #expect(ifttt.requests[0].content.contains("\"b0\"") && ifttt.requests[2].content.contains("\"b11\""))
    }

    @Test("F100: at most a hundred wait, and the oldest goes")
    func bounded() async throws {
        let ifttt = ScriptedIFTTT([line: [.status(200)]])
        let analytics = analytics(ifttt)
        await analytics.allow()
        for number in 0..<150 {
            await analytics.record(.aboutClicked(try ConnectionID(Balcony.id), button: "b\(number)"))
        }
        #expect(await analytics.waitingCount == 100)
        await analytics.flush()
        #expect(ifttt.requests.first?.content.contains("\"b50\"") == true)
        #expect(ifttt.requests.first?.content.contains("\"b49\"") == false)
    }

    @Test("F100: fewer than five events are sent when 30 seconds have passed, and not before")
    func thirtySeconds() async throws {
        let (ifttt, clock) = (ScriptedIFTTT([line: [.status(200)]]), ManualClock())
        let analytics = Analytics(to: ifttt.api(), time: TimeSource(now: { 0 }, clock: clock))
        await analytics.allow()
        let running = Task { await analytics.run() }
        for _ in 0..<4 { await analytics.record(.footerClicked) }
        await clock.sleeper(of: .seconds(30))
        clock.advance(by: .seconds(29))
        for _ in 0..<500 { await Task.yield() }
        #expect(ifttt.requests.isEmpty)
        clock.advance(by: .seconds(1))
        while await analytics.waitingCount > 0 { await Task.yield() }
        #expect(ifttt.requests.count == 1)
        running.cancel()
        await running.value
    }

    @Test("F100: a flush beside another one ends when everything is sent")
    func twoFlushes() async throws {
        let (open, opening) = AsyncStream<Void>.makeStream()
        let ifttt = ScriptedIFTTT([line: [.late(200) { for await _ in open {} }, .status(200)]])
        let analytics = analytics(ifttt)
        await analytics.allow()
        for _ in 0..<15 { await analytics.record(.footerClicked) }
        let first = Task { await analytics.flush() }
        while ifttt.requests.isEmpty { await Task.yield() }
        let second = Task { await analytics.flush() }
        for _ in 0..<200 { await Task.yield() }
        opening.finish()
        await second.value
        #expect(await analytics.waitingCount == 0 && ifttt.requests.count == 2)
        await first.value
    }

    @Test("F100, 12: five events send themselves")
    func run() async throws {
        let ifttt = ScriptedIFTTT([line: [.status(200)]])
        // On a clock that stands still the thirty seconds never pass.
        let analytics = Analytics(to: ifttt.api(), time: TimeSource(now: { 0 }, clock: ManualClock()))
        await analytics.allow()
        let running = Task { await analytics.run() }
        for _ in 0..<5 { await analytics.record(.footerClicked) }
        while await analytics.waitingCount > 0 { await Task.yield() }
        running.cancel()
        await running.value
        #expect(try ifttt.requests.reduce(0) { try $0 + events($1).count } == 5)
    }

    @Test("F101, F102: the identifier stays from run to run, and goes with the queue when consent is taken back")
    func optOut() async throws {
        let saved = Mutex<[UInt8]?>(nil)
        let storage = AnalyticsStorage(
            load: { saved.withLock { $0 } }, save: { bytes in saved.withLock { $0 = bytes } })
        let ifttt = ScriptedIFTTT([line: [.status(200)]])
        let first = analytics(ifttt, storage)
        await first.allow()
        await first.record(.footerClicked)
        let id = try #require(await first.anonymousID)
        let second = analytics(ifttt, storage)
        await second.allow()
        #expect(await second.anonymousID == id)
        #expect(await second.waitingCount == 1)
        await second.refuse()
        #expect(saved.withLock { $0 } == nil)
        await second.flush()
        #expect(await second.anonymousID == nil && ifttt.requests.isEmpty)
        await second.allow()
        #expect(await second.anonymousID != id)
    }

    @Test("F101: what was sent under an identifier that is gone takes nothing from the next one's queue")
    func otherIdentifier() throws {
        var (first, second) = (
            try #require(AnalyticsQueue(random: .system)), try #require(AnalyticsQueue(random: .system))
        )
        first.append(.footerClicked, at: 0)
        second.append(.footerClicked, at: 0)
        let batch = try #require(first.batch)
        second.remove(batch)
        #expect(second.count == 1)
        first.remove(batch)
        #expect(first.count == 0 && first.batch == nil)
        #expect(try AnalyticsQueue(stored: second.stored())?.anonymousID == second.anonymousID)
    }

    /// A storage whose reads, or writes of something, wait until it is opened.
    private final class SlowStorage: Sendable {
        private let state = Mutex<(bytes: [UInt8]?, began: Int)>((nil, 0))
        private let opened: AsyncStream<Void>
        private let opening: AsyncStream<Void>.Continuation

        init(_ bytes: [UInt8]? = nil) {
            (opened, opening) = AsyncStream.makeStream()
            state.withLock { $0.bytes = bytes }
        }

        var bytes: [UInt8]? { state.withLock { $0.bytes } }

        func open() { opening.finish() }

        /// Returns when a task has begun to read or write, and others had time to run.
        func isBusy() async {
            while state.withLock({ $0.began }) == 0 { await Task.yield() }
            for _ in 0..<200 { await Task.yield() }
        }

        private func wait() async {
            state.withLock { $0.began += 1 }
            for await _ in opened {}
        }

        var reading: AnalyticsStorage {
            AnalyticsStorage(
                load: {
                    let bytes = self.bytes
                    await self.wait()
                    return bytes
                }, save: { bytes in self.state.withLock { $0.bytes = bytes } })
        }

        var writing: AnalyticsStorage {
            AnalyticsStorage(
                load: { self.bytes },
                save: { bytes in
                    if bytes != nil { await self.wait() }
                    self.state.withLock { $0.bytes = bytes }
                })
        }
    }

    @Test("F101: what the user decides while the storage is being read is what counts", arguments: [true, false])
    func decidedWhileReading(isAllowed: Bool) async throws {
        let before = try #require(AnalyticsQueue(random: .system))
        let storage = SlowStorage(isAllowed ? nil : try before.stored())
        let analytics = analytics(ScriptedIFTTT(), storage.reading)
        let looking = Task { await analytics.anonymousID }
        await storage.isBusy()
        let deciding = Task { if isAllowed { await analytics.allow() } else { await analytics.refuse() } }
        await storage.isBusy()
        storage.open()
        _ = await (looking.value, deciding.value)
        #expect(await analytics.isAllowed == isAllowed)
        #expect((storage.bytes != nil) == isAllowed)
    }

    @Test("F101: a slow write of an event does not bring back what was deleted meanwhile")
    func deletedWhileWriting() async throws {
        let storage = SlowStorage(try #require(AnalyticsQueue(random: .system)).stored())
        let analytics = analytics(ScriptedIFTTT(), storage.writing)
        let counting = Task { await analytics.record(.footerClicked) }
        await storage.isBusy()
        let refusing = Task { await analytics.refuse() }
        await storage.isBusy()
        storage.open()
        _ = await (counting.value, refusing.value)
        #expect(storage.bytes == nil)
    }

    @Test("F100: a second run sends as the first one did")
    func secondRun() async throws {
        let ifttt = ScriptedIFTTT([line: [.status(200)]])
        let analytics = Analytics(to: ifttt.api(), time: TimeSource(now: { 0 }, clock: ManualClock()))
        await analytics.allow()
        for _ in 0..<2 {
            let running = Task { await analytics.run() }
            for _ in 0..<5 { await analytics.record(.footerClicked) }
            while await analytics.waitingCount > 0 { await Task.yield() }
            running.cancel()
            await running.value
        }
    }

    @Test("F100: a run that begins while a cancelled one is still ending waits for it, and sends")
    func runBesideCancelled() async throws {
        let (asked, answered) = (Gate(), Gate())
        let late = ScriptedIFTTT.Reply.late(200) {
            asked.open()
            await answered.wait()
        }
        let ifttt = ScriptedIFTTT([line: [late, .status(200)]])
        let analytics = Analytics(to: ifttt.api(), time: TimeSource(now: { 0 }, clock: ManualClock()))
        await analytics.allow()
        let first = Task { await analytics.run() }
        for _ in 0..<5 { await analytics.record(.footerClicked) }
        await asked.wait()
        let second = try await overlap(first, until: answered) { await analytics.run() }
        for _ in 0..<5 { await analytics.record(.footerClicked) }
        while await analytics.waitingCount > 0 { await Task.yield() }
        second.cancel()
        await second.value
    }

    @Test("what was stored may hold the last number that there is")
    func lastNumber() throws {
        let stored = String(decoding: try #require(AnalyticsQueue(random: .system)).stored(), as: UTF8.self)
        let spoiled = stored.replacing("\"lastNumber\":0", with: "\"lastNumber\":\(UInt64.max)")
        #expect(spoiled != stored)
        var queue = try #require(AnalyticsQueue(stored: Array(spoiled.utf8)))
        for _ in 0..<3 { queue.append(.footerClicked, at: 0) }
        queue.remove(try #require(queue.batch))
        #expect(queue.count == 0)
    }

    @Test("a storage that holds something else is as good as an empty one")
    func damaged() async throws {
        for bytes in ["", "{}", "{\"anonymousID\":\"me\"}", "[1]", "\u{0}"] {
            let storage = AnalyticsStorage(load: { Array(bytes.utf8) }, save: { _ in })
            let analytics = analytics(ScriptedIFTTT(), storage)
            #expect(await analytics.anonymousID == nil)
        }
    }
}
