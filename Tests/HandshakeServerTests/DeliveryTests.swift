import Handshake
import OAuth
import Synchronization
import TestFixtures
import Testing

@testable import HandshakeServer

/// A calendar that goes with a clock that a test moves, and can be set besides.
private final class Calendar: Sendable {
    static let start = 1_735_689_600.0

    let clock = ManualClock()
    private let shift = Mutex(0.0)

    var now: Double { Self.start + clock.now.offset / .seconds(1) + shift.withLock { $0 } }
    var time: TimeSource { TimeSource(now: { self.now }, clock: clock) }

    func set(by seconds: Double) { shift.withLock { $0 += seconds } }
}

private func zeros(_ count: Int) -> [UInt8] { Array(repeating: 0, count: count) }

/// Malformed records.
private let spoiled: [[UInt8]] = {
    let entry = [1] + zeros(8 + 16 + 8)
    return [
        [], Array("{}".utf8), Array(#"{"entries":{},"forgotten":0}"#.utf8), [0], [1], [2] + zeros(8),
        // Times that are no numbers.
        [1, 0x7F, 0xF8] + zeros(6), [1] + zeros(8 + 16) + [0x7F, 0xF0] + zeros(7),
        // Entries that end too early, and one that is neither claimed nor accepted.
        entry, entry + [1], entry + [1] + zeros(16 + 7), entry + [2],
    ]
}()

@Suite("The ledger of deliveries")
struct DeliveryTests {
    private let calendar = Calendar()

    /// What one process has.
    private func process(_ vault: any Vault, handling: Duration = .seconds(3600)) -> DeliveryLedger {
        DeliveryLedger(vault: vault, time: calendar.time, tolerance: 900, handlerTimeout: handling, log: World.log)
    }

    private func webhook(
        _ id: String = "id-1", connection: String = "aB3dE5fG", sentAt: Double = Calendar.start
    ) throws -> ConnectWebhook {
        let body = #"{"sent_at":\#(sentAt * 1000),"data":{"connection_id":"\#(connection)","user_id":"u"}}"#
        return try ConnectWebhook(Array(body.utf8), type: "connection", name: "enabled", requestID: id)
    }

    /// Another webhook that stands in the same record.
    private func neighbour(of webhook: ConnectWebhook, sentAt: Double) throws -> ConnectWebhook {
        let record = Delivery(webhook, tolerance: 900).record
        for number in 0..<100_000 {
            let other = try self.webhook("other-\(number)", sentAt: sentAt)
            if Delivery(other, tolerance: 900).record == record { return other }
        }
        throw Absent()
    }

    /// What becomes of a webhook, as a word, and whether it was handed over.
    private func outcome(
        _ webhook: ConnectWebhook, _ ledger: DeliveryLedger,
        _ handler: @escaping @Sendable (ConnectWebhook) async throws -> Void = { _ in }
    ) async throws -> String {
        let calls = Mutex(0)
        let outcome = try await ledger.deliver(webhook) { webhook in
            calls.withLock { $0 += 1 }
            try await handler(webhook)
        }
        let handed = calls.withLock { $0 } == 0 ? "" : ", handed over"
        return switch outcome {
        case .accepted: "accepted" + handed
        case .busy: "busy" + handed
        case .full: "full" + handed
        case .forgotten: "forgotten" + handed
        case .failed: "failed" + handed
        }
    }

    @Test("a webhook is the same with another time, and another with another connection or identifier")
    func identity() async throws {
        let vault = MemoryVault()
        #expect(try await outcome(try webhook(), process(vault)) == "accepted, handed over")
        #expect(try await outcome(try webhook(sentAt: Calendar.start + 60), process(vault)) == "accepted")
        #expect(try await outcome(try webhook(connection: "mAnyFt05"), process(vault)) == "accepted, handed over")
        #expect(try await outcome(try webhook("id-2"), process(vault)) == "accepted, handed over")
    }

    @Test("a webhook that was sent again is remembered for as long as its new time counts")
    func extended() async throws {
        let vault = MemoryVault()
        let ledger = process(vault)
        _ = try await outcome(try webhook(), ledger)
        #expect(try await outcome(try webhook(sentAt: Calendar.start + 600), ledger) == "accepted")
        calendar.set(by: 1200)
        _ = try await outcome(try neighbour(of: try webhook(), sentAt: calendar.now), ledger)
        #expect(try await outcome(try webhook(sentAt: Calendar.start + 600), ledger) == "accepted")
    }

    @Test("however many webhooks come, there are 4096 records, and what is too old is dropped from them")
    func bounded() async throws {
        let records = try (0..<20_000).map { Delivery(try webhook("\($0)"), tolerance: 900).record }
        #expect((3900...4096).contains(Set(records).count))
        let vault = MemoryVault()
        let ledger = process(vault)
        let first = try webhook()
        for number in 0..<3 {
            let later = number == 0 ? first : try neighbour(of: first, sentAt: calendar.now)
            _ = try await ledger.deliver(later) { _ in }
            calendar.set(by: 901)
        }
        let record = DeliveryRecord(stored: try await vault.record(Delivery(first, tolerance: 900).record))
        #expect(record.count == 1)
    }

    @Test("a day of 20,000 webhooks each quarter of an hour leaves room in every record")
    func room() {
        let limits = WebhookLimits()
        let webhooks = (limits.maximumAge + limits.clockSkew) / .seconds(900) * 20_000
        let mean = webhooks / Double(Delivery.records)
        // The webhooks of a record are as good as Poisson's; ten deviations beyond the mean are never seen.
        #expect(mean + 10 * mean.squareRoot() < Double(DeliveryRecord.capacity))
    }

    @Test("a handler that does not end is cancelled, and the webhook may come again", arguments: [true, false])
    func overdue(heedsCancellation: Bool) async throws {
        let vault = MemoryVault()
        let webhook = try webhook()
        let (one, two) = (process(vault, handling: .seconds(15)), process(vault))
        let (never, cancelled) = (Gate(), Gate())
        async let first = outcome(webhook, one) { _ in
            try await withTaskCancellationHandler {
                if heedsCancellation { try await waitForCancellation() }
                await never.wait()
            } onCancel: {
                cancelled.open()
            }
        }
        await calendar.clock.sleeper(for: .seconds(15))
        #expect(try await outcome(webhook, two) == "busy")
        calendar.clock.advance(by: .seconds(15))
        #expect(try await first == "failed, handed over")
        await cancelled.wait()
        #expect(try await outcome(webhook, two) == "accepted, handed over")
        never.open()
    }

    @Test("while the app is at work, however long, no other process gets the webhook, nor the same one again")
    func slow() async throws {
        let vault = MemoryVault()
        let (one, two) = (process(vault), process(vault))
        let (begun, done) = (Gate(), Gate())
        let webhook = try webhook()
        async let first = outcome(webhook, one) { _ in
            begun.open()
            await done.wait()
        }
        await begun.wait()
        for _ in 0..<9 {
            await calendar.clock.sleeper(for: DeliveryLedger.renewalInterval)
            #expect(try await outcome(webhook, two) == "busy")
            #expect(try await outcome(webhook, one) == "busy")
            calendar.clock.advance(by: DeliveryLedger.renewalInterval)
        }
        done.open()
        #expect(try await first == "accepted, handed over")
        #expect(try await outcome(webhook, two) == "accepted")
    }

    @Test("the webhook of a process that died is handed over when its lease is over")
    func death() async throws {
        let vault = MemoryVault()
        let webhook = try webhook()
        let delivery = Delivery(webhook, tolerance: 900)
        try await vault.update(delivery.record) { held in
            var record = DeliveryRecord()
            let dead = DeliveryRecord.Claim(holder: Tag(high: 0, low: 1), expiresAt: Calendar.start + 60)
            _ = record.claim(delivery, dead, now: Calendar.start)
            try await held.replace(with: record.bytes)
        }
        #expect(try await outcome(webhook, process(vault)) == "busy")
        calendar.set(by: 60)
        #expect(try await outcome(webhook, process(vault)) == "busy")
        calendar.set(by: 1)
        #expect(try await outcome(webhook, process(vault)) == "accepted, handed over")
    }

    @Test("a claim that was lost is another's: a failure of the first leaves it, and a success of either counts")
    func lost() async throws {
        let vault = MemoryVault()
        let failing = FailingVault(vault)
        let (one, two) = (process(failing), process(vault))
        let (begun, done, begunAgain, doneAgain) = (Gate(), Gate(), Gate(), Gate())
        let webhook = try webhook()
        async let first = outcome(webhook, one) { _ in
            begun.open()
            await done.wait()
            throw Absent()
        }
        await begun.wait()
        // No renewal arrives, as if the process stood still.
        failing.fail()
        await calendar.clock.sleeper(for: DeliveryLedger.renewalInterval)
        calendar.set(by: 61)
        async let second = outcome(webhook, two) { _ in
            begunAgain.open()
            await doneAgain.wait()
        }
        await begunAgain.wait()
        failing.recover()
        done.open()
        #expect(try await first == "failed, handed over")
        #expect(try await outcome(webhook, process(vault)) == "busy")
        doneAgain.open()
        #expect(try await second == "accepted, handed over")
        #expect(try await outcome(webhook, one) == "accepted")
    }

    @Test("in one process a webhook that is under way is not begun again, wherever the clock jumps")
    func jump() async throws {
        let ledger = process(MemoryVault())
        let webhook = try webhook()
        let (begun, done) = (Gate(), Gate())
        async let first = outcome(webhook, ledger) { _ in
            begun.open()
            await done.wait()
        }
        await begun.wait()
        for seconds in [500.0, -1000] {
            calendar.set(by: seconds)
            #expect(try await outcome(webhook, ledger) == "busy")
        }
        done.open()
        #expect(try await first == "accepted, handed over")
        #expect(try await outcome(webhook, ledger) == "accepted")
    }

    @Test("a clock that is set back makes no webhook new that was forgotten")
    func setBack() async throws {
        let vault = MemoryVault()
        let webhook = try webhook()
        #expect(try await outcome(webhook, process(vault)) == "accepted, handed over")
        calendar.set(by: 3600)
        let later = try neighbour(of: webhook, sentAt: calendar.now)
        #expect(try await outcome(later, process(vault)) == "accepted, handed over")
        calendar.set(by: -3600)
        #expect(try await outcome(webhook, process(vault)) == "forgotten")
        let newer = try self.webhook(sentAt: Calendar.start + 1)
        #expect(try await outcome(newer, process(vault)) == "accepted, handed over")
    }

    @Test(
        "what was done in a task that was cancelled is done, and what failed there may come again",
        arguments: [true, false])
    func cancelled(succeeds: Bool) async throws {
        let vault = MemoryVault()
        let webhook = try webhook()
        let first = Task { [self] in
            try await outcome(webhook, process(vault)) { _ in
                withUnsafeCurrentTask { $0?.cancel() }
                if !succeeds { throw CancellationError() }
            }
        }
        #expect(try await first.value == (succeeds ? "accepted, handed over" : "failed, handed over"))
        #expect(try await outcome(webhook, process(vault)) == (succeeds ? "accepted" : "accepted, handed over"))
    }

    @Test("a vault that fails after the app took a webhook does not make this process hand it over again")
    func settling() async throws {
        let vault = MemoryVault()
        let failing = FailingVault(vault)
        let ledger = process(failing)
        let webhook = try webhook()
        failing.fail(after: 1)
        #expect(try await outcome(webhook, ledger) == "accepted, handed over")
        calendar.set(by: 61)
        #expect(try await outcome(webhook, ledger) == "accepted")
        failing.recover()
        // Now it is written down, and others know it too.
        #expect(try await outcome(webhook, ledger) == "accepted")
        #expect(try await outcome(webhook, process(vault)) == "accepted")
    }

    @Test("a vault that fails before anything was handed over throws, and the webhook may come again")
    func claiming() async throws {
        let failing = FailingVault()
        let ledger = process(failing)
        failing.fail()
        await #expect(throws: VaultError.self) { try await outcome(try webhook(), ledger) }
        failing.recover()
        #expect(try await outcome(try webhook(), ledger) == "accepted, handed over")
    }

    @Test(
        "a malformed record is replaced by an empty one",
        arguments: spoiled)
    func unreadable(contents: [UInt8]) async throws {
        #expect(DeliveryRecord(stored: contents) == DeliveryRecord())
        let vault = MemoryVault()
        let webhook = try webhook()
        try await vault.update(Delivery(webhook, tolerance: 900).record) { try await $0.replace(with: contents) }
        #expect(try await outcome(webhook, process(vault)) == "accepted, handed over")
        #expect(try await outcome(webhook, process(vault)) == "accepted")
    }

    @Test("a record is stored in the layout that its documentation tells")
    func layout() throws {
        // A claimed webhook that is valid until 2.0, by 1…16 until -0.5; 1.0 is the latest that was forgotten.
        let entry: [UInt8] = Array(0xA0...0xAF) + [0x40] + zeros(7)
        let claim: [UInt8] = Array(1...16) + [0xBF, 0xE0] + zeros(6)
        let stored: [UInt8] = [1, 0x3F, 0xF0] + zeros(6) + entry + [1] + claim
        var record = DeliveryRecord(stored: stored)
        #expect(record.bytes == stored && record.count == 1)
        let claimed = Delivery(tag: Tag(0xA0...0xAF), record: VaultKey(.delivery, ["0"]), until: 2)
        let renewals = [Tag(2...17), Tag(1...16)].map { record.renew(claimed, .init(holder: $0, expiresAt: 2)) }
        #expect(renewals == [false, true])
        #expect(record.bytes == stored.dropLast(8) + [0x40] + zeros(7))
        record.finish(claimed, now: 0)
        #expect(record.bytes == stored.prefix(1 + 8 + 16 + 8) + [0])
        for length in 0..<stored.count where length != 9 {
            #expect(DeliveryRecord(stored: Array(stored.prefix(length))) == DeliveryRecord(), "\(length) bytes")
        }
    }

    @Test("a full record takes no more until the oldest is too old, and still knows what it holds")
    func full() throws {
        var record = DeliveryRecord()
        let claim = DeliveryRecord.Claim(holder: Tag(high: 0, low: 1), expiresAt: Calendar.start + 60)
        let deliveries = try (0...DeliveryRecord.capacity).map { number in
            Delivery(try webhook("\(number)", sentAt: Calendar.start + Double(number)), tolerance: 900)
        }
        for delivery in deliveries.dropLast() {
            #expect(record.claim(delivery, claim, now: Calendar.start) == .new)
            record.finish(delivery, now: Calendar.start)
        }
        let last = try #require(deliveries.last)
        #expect(record.claim(last, claim, now: Calendar.start) == .full)
        #expect(record.claim(deliveries[0], claim, now: Calendar.start) == .accepted)
        #expect(DeliveryRecord(stored: record.bytes) == record && record.count == DeliveryRecord.capacity)
        #expect(record.claim(last, claim, now: Calendar.start + 900) == .full)
        #expect(record.claim(last, claim, now: Calendar.start + 901) == .new)
    }
}
