import OAuth
import TestFixtures
import Testing

@testable import Handshake

@Suite("A keeper's reports on their way to a webhook")
struct KeeperHookTests {
    private let server = StrictAccounts()
    private let vault = MemoryVault()
    private let lines = LogLines()

    /// The warnings about reports that were given up.
    private var warnings: [String] { lines.all.filter { $0.hasPrefix("warning a report did not reach the webhook") } }

    private func pass(_ step: Duration = .seconds(1), until isOver: () -> Bool) async {
        await server.pass(step, until: isOver)
    }

    /// Makes a hook in which so many reports wait.
    private func hook(_ transport: HookedServer, waiting count: Int, isListed: Bool = false) throws -> KeeperHook {
        let app = try Handshake(
            server.client(), vault: vault, transport: transport, time: server.time, log: lines.logger)
        let webhook = try KeeperWebhook(EndpointURL("https://hook.example/ended"))
        let hook = KeeperHook(webhook, by: app, time: server.time, log: app.environment.log)
        for number in 0..<count { hook.add(try ending(of: "user\(number)", isListed: isListed)) }
        return hook
    }

    private func ending(of name: String, isListed: Bool = false) throws -> KeeperEnding {
        KeeperEnding(
            account: AccountID(try server.client(), name: name), reason: .refreshRejected, generation: 0, issuedAt: 0,
            isListed: isListed)
    }

    /// A delivery that runs.
    private struct Delivery {
        let hook: KeeperHook
        let task: Task<Void, Never>
        let isOver: Shared<Bool>

        /// Ends it as a keeper that is stopped does.
        func cancel() {
            hook.finish()
            task.cancel()
        }
    }

    private func deliver(_ hook: KeeperHook) -> Delivery {
        let isOver = Shared(false)
        let task = Task {
            await hook.deliver()
            isOver.change { $0 = true }
        }
        return Delivery(hook: hook, task: task, isOver: isOver)
    }

    @Test("a report that waits is not queued again by a listing")
    func waiting() async throws {
        let received = HookedServer(server)
        received.answer.change { $0 = { _ in .json(204, [:]) } }
        let hook = try hook(received, waiting: 0)
        hook.add(try ending(of: "gone"))
        hook.add(try ending(of: "gone", isListed: true))
        hook.finish()
        await hook.deliver()
        #expect(received.received.count == 1)
    }

    @Test("an ending that a keeper meets is reported before those of a listing")
    func order() async throws {
        let received = HookedServer(server)
        received.answer.change { $0 = { _ in .json(204, [:]) } }
        let hook = try hook(received, waiting: 3, isListed: true)
        hook.add(try ending(of: "new"))
        hook.finish()
        await hook.deliver()
        #expect(received.accounts == ["new", "user0", "user1", "user2"])
    }

    @Test("a report that a webhook refuses at each listing is sent once by each, and delays no other")
    func refusedAgain() async throws {
        let received = HookedServer(server)
        received.answer.change { $0 = { _ in .json(404, [:]) } }
        let hook = try hook(received, waiting: 20, isListed: true)
        hook.finish()
        let delivery = deliver(hook)
        await pass { delivery.isOver.value }
        #expect(received.received.count == 20)
    }

    @Test("a webhook that refuses every report gets each one before it gets one again, and 80 s at the end of a pass")
    func refusesAll() async throws {
        let received = HookedServer(server)
        received.answer.change { $0 = { _ in .json(404, [:]) } }
        let hook = try hook(received, waiting: 20)
        hook.finish()
        let start = server.now
        let delivery = deliver(hook)
        await pass { delivery.isOver.value }
        #expect(Set(received.accounts.prefix(20)).count == 20)
        // Twenty times, twenty pauses of 2 s, and nine of 4 s.
        #expect(received.accounts.count == 49)
        #expect(server.now - start == 76)
        #expect(warnings.count == 20)
    }

    @Test("a webhook that does not answer gets reports after pauses that double, and each one once it answers")
    func unanswered() async throws {
        let received = HookedServer(server)
        let clock = server.clock
        received.answer.change {
            $0 = { [unowned received] _ in
                guard received.times.count < 5 else { return .json(204, [:]) }
                try await clock.sleep(for: .seconds(10))
                throw TransportError.timedOut(host: "hook.example")
            }
        }
        let hook = try hook(received, waiting: 8, isListed: true)
        let delivery = deliver(hook)
        await pass { received.times.count == 12 || !warnings.isEmpty }
        delivery.cancel()
        await delivery.task.value
        let gaps = zip(received.times.dropFirst(), received.times).map { $0 - $1 }
        #expect(gaps == [12, 14, 18, 26, 0, 0, 0, 0, 0, 0, 0])
        #expect(Set(received.accounts.suffix(8)).count == 8)
        #expect(warnings.isEmpty)
    }

    @Test("reports stay queued while a webhook fails, and each one is taken soon after it works again")
    func deployment() async throws {
        let received = HookedServer(server)
        received.answer.change {
            $0 = { [unowned received] _ in .json(received.times.last ?? 0 < 60 ? 502 : 204, [:]) }
        }
        let hook = try hook(received, waiting: 3)
        let delivery = deliver(hook)
        await pass { received.times.count == 8 || !warnings.isEmpty }
        delivery.cancel()
        await delivery.task.value
        #expect(received.times == [0, 2, 6, 14, 30, 62, 62, 62])
        #expect(Set(received.accounts.suffix(3)).count == 3)
        #expect(warnings.isEmpty)
    }

    @Test("a report that a webhook always answers with 500 goes behind the others, and delays a later one by a minute")
    func behind() async throws {
        let received = HookedServer(server)
        let server = server
        let times = Shared<[String: Double]>([:])
        let start = server.now
        received.answer.change {
            $0 = { request in
                let (name, time) = (HookedServer.account(of: request), server.now - start)
                guard name != "user0" else { return .json(500, [:]) }
                times.change { $0[name] = time }
                return .json(204, [:])
            }
        }
        let hook = try hook(received, waiting: 20)
        let delivery = deliver(hook)
        await pass { times.value.count == 19 || server.now - start > 600 }
        #expect(times.value.values.allSatisfy { $0 == 2 } && times.value.count == 19)
        await pass { server.now - start > 600 }
        let added = server.now - start
        hook.add(try ending(of: "later"))
        await pass { times.value["later"] != nil || server.now - start > added + 600 }
        #expect((added...added + 60).contains(times.value["later"] ?? 0))
        delivery.cancel()
        await delivery.task.value
    }

    @Test(
        "at the end of a pass, a webhook that fails gets five reports in 80 s, and the others are left",
        arguments: [(nil, 80), (504, 75), (429, 75)] as [(Int?, Double)])
    func unansweredAtEnd(status: Int?, seconds: Double) async throws {
        let received = HookedServer(server)
        let clock = server.clock
        received.answer.change {
            $0 = { _ in
                try await clock.sleep(for: .seconds(status == nil ? 10.0 : 9.0))
                guard let status else { throw TransportError.timedOut(host: "hook.example") }
                return .json(status, [:])
            }
        }
        let hook = try hook(received, waiting: 20)
        hook.finish()
        let start = server.now
        let delivery = deliver(hook)
        await pass { delivery.isOver.value }
        #expect(received.accounts == (0..<5).map { "user\($0)" })
        #expect(server.now - start == seconds)
        #expect(warnings.count == 20)
    }

    @Test("at the end of a pass, one connection that fails costs no report")
    func failedOnceAtEnd() async throws {
        let received = HookedServer(server)
        let isFirst = Shared(true)
        received.answer.change {
            $0 = { _ in
                let fails = isFirst.change { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                if fails { throw TransportError.timedOut(host: "hook.example") }
                return .json(204, [:])
            }
        }
        let hook = try hook(received, waiting: 20)
        hook.finish()
        let start = server.now
        let delivery = deliver(hook)
        await pass { delivery.isOver.value }
        #expect(received.accounts == (0..<20).map { "user\($0)" } + ["user0"])
        #expect(server.now - start == 2)
        #expect(warnings.isEmpty)
    }

    @Test("the pause of a webhook that does not answer ends with the pass")
    func unansweredPause() async throws {
        let received = HookedServer(server)
        received.answer.change { $0 = { _ in throw TransportError.timedOut(host: "hook.example") } }
        let hook = try hook(received, waiting: 2, isListed: true)
        let delivery = deliver(hook)
        await server.clock.sleeper(of: .seconds(2))
        hook.finish()
        await pass { delivery.isOver.value }
        #expect(received.times == [0, 0, 4])
        #expect(received.accounts == ["user0", "user1", "user0"])
    }

    @Test("a keeper that is stopped attempts each report at most once, and none after ten seconds")
    func stopped() async throws {
        let received = HookedServer(server)
        let clock = server.clock
        received.answer.change {
            $0 = { _ in
                // A webhook that takes three seconds, and takes nothing.
                try await clock.sleep(for: .seconds(3))
                return .json(500, [:])
            }
        }
        let hook = try hook(received, waiting: 20)
        let delivery = deliver(hook)
        await clock.sleepers(1)
        let start = server.now
        delivery.cancel()
        await pass(.milliseconds(100)) { delivery.isOver.value }
        // The one on its way, and those that begin after 3, 6 and 9 s.
        #expect(received.received.count == 4)
        #expect((11.9...12.1).contains(server.now - start))
    }

    @Test("a keeper that is stopped ends within ten seconds though its webhook does not answer")
    func stoppedUnanswered() async throws {
        let received = HookedServer(server)
        received.answersNothing.change { $0 = true }
        let hook = try hook(received, waiting: 20)
        let delivery = deliver(hook)
        await server.clock.sleeper(of: .seconds(10))
        server.clock.advance(by: .seconds(4))
        let start = server.now
        delivery.cancel()
        await pass { delivery.isOver.value }
        // The one on its way, and one that has the rest of the time.
        #expect(received.accounts == ["user0", "user1"])
        #expect(server.now - start == 10)
    }
}
