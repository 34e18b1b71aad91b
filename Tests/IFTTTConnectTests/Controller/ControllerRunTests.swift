import Handshake
import IFTTTConnect
import OAuth
import Synchronization
import TestFixtures
import Testing

@Suite("Runs of the controller")
struct ControllerRunTests {
    private let stage = ControllerTests()

    @Test("F006: what the network does not keep away is not loaded again by itself")
    func notTheNetwork() async throws {
        let ifttt = ScriptedIFTTT(["GET \(stage.path)": [.status(404)]])
        let controller = try stage.controller(
            ifttt, tokens: nil, change: { $0.connectivity = {} }, visit: { _ in nil })
        let running = Task { await controller.run() }
        controller.send(.appeared)
        while controller.activation.state != .loadingFailed { await Task.yield() }
        for _ in 0..<500 { await Task.yield() }
        #expect(ifttt.requests.count == 1)
        running.cancel()
        await running.value
    }

    @Test("F006: a network that is there all along does not make loading a loop without a pause")
    func pause() async throws {
        let (ifttt, clock) = (ScriptedIFTTT(), ManualClock())
        var environment = ConnectEnvironment(browser: ScriptedBrowser { _ in nil }, tokens: .redirect)
        environment.connectivity = {}
        let controller = ConnectController(
            ConnectActivation(try Player.configuration()), tokens: nil, environment: environment,
            through: .init(transport: ifttt, time: TimeSource(now: { 1_000 }, clock: clock)))
        let running = Task { await controller.run() }
        controller.send(.appeared)
        for seconds in [2, 4, 8] {
            await clock.sleeper(for: .seconds(seconds))
            clock.advance(by: .seconds(seconds))
        }
        while controller.activation.state != .loadingFailed { await Task.yield() }
        await clock.sleeper(for: .seconds(2))
        #expect(ifttt.requests.count == 4 && controller.activation.state == .loadingFailed)
        clock.advance(by: .seconds(2))
        await clock.sleeper(for: .seconds(2))
        #expect(ifttt.requests.count == 5 && controller.activation.state == .loading)
        running.cancel()
        await running.value
    }

    @Test("W13: a user who wants to go to the service again is sent there with a fresh code")
    func reopened() async throws {
        let visits = Mutex<[String]>([])
        let codes = Mutex(["code1", "code2"])
        let wishes = Mutex(["again"])
        let controller = try stage.controller(
            stage.ifttt(), tokens: nil,
            change: { environment in
                environment.oauthCode = { Secret(codes.withLock { $0.removeFirst() }) }
            },
            visit: { destination in
                let count = visits.withLock { visits in
                    visits.append(destination.url)
                    return visits.count
                }
                return count < 2 ? nil : ScriptedBrowser.redirect(destination, "next_step=complete&user_token=utk_new")
            })
        let (_, outcome, _) = try await stage.outcome(of: controller) { state in
            if state == .initial { controller.connect() }
            if case .enteringEmail(let entry) = state { controller.send(.confirmEmail(entry.text)) }
            // Every change on the way is seen, and one more visit is wanted.
            if state == .goingToService(.web), wishes.withLock({ $0.popLast() }) != nil { controller.reopen() }
        }
        guard case .connected = outcome else {
            Issue.record("\(outcome)")
            return
        }
        let urls = visits.withLock { $0 }
        #expect(urls.count == 2 && urls[0].contains("code=code1") && urls[1].contains("code=code2"))
    }

    @Test("F112: a run that begins while a cancelled one is still ending waits for it, and goes on")
    func quickReturn() async throws {
        let (asked, answered) = (Gate(), Gate())
        let controller = try stage.controller(
            stage.ifttt(), tokens: nil,
            change: { environment in
                // An app's closure that ignores cancellation.
                environment.tokenDelivery = .redirectOrPartnerServer {
                    asked.open()
                    await answered.wait()
                    return nil
                }
            },
            visit: { _ in nil })
        let first = Task { await controller.run() }
        controller.send(.appeared)
        await asked.wait()
        let second = try await overlap(first, until: answered) { await controller.run() }
        // The late request of the first run may have had the first of the two answers.
        while ![.initial, .connected].contains(controller.activation.state) { await Task.yield() }
        second.cancel()
        await second.value
    }

    @Test("F112: of the runs that wait for a cancelled one, none begins that was cancelled meanwhile")
    func waitingRuns() async {
        let (turns, begun, isDone) = (RunTurns(), Gate(), Gate())
        let later = [Gate(), Gate()]
        let first = Task {
            await turns.perform {
                begun.open()
                await isDone.wait()
            }
        }
        await begun.wait()
        await turns.perform { Issue.record("beside one that is active") }
        first.cancel()
        let others = later.map { run in Task { await turns.perform { run.open() } } }
        others[0].cancel()
        for _ in 0..<500 { await Task.yield() }
        #expect(later.map(\.isOpen) == [false, false])
        isDone.open()
        for task in [first] + others { await task.value }
        #expect(later.map(\.isOpen) == [false, true])
    }

    @Test("updates end with the run, and those without a listener are delivered first")
    func untold() async throws {
        let controller = try stage.controller(stage.ifttt(), tokens: nil) { _ in nil }
        let running = Task { await controller.run() }
        controller.send(.appeared)
        while controller.activation.state != .initial { await Task.yield() }
        #expect(controller.open("gardenapp://connect_callback?next_step=complete"))
        controller.send(.refresh)
        while controller.activation.state != .connected { await Task.yield() }
        let second = controller.updates()
        running.cancel()
        await running.value
        var known: [String] = []
        for await update in second {
            switch update {
            case .activation(let activation): known.append("\(activation.state)")
            case .refused(let refusal): known.append(refusal.rawValue)
            case .outcome, .problem: known.append("other")
            }
        }
        #expect(known == ["connected", "no_pending_attempt"])
    }

    @Test("F106: who logs out is not shown as connected any more, and what comes late stores nothing")
    func signedOut() async throws {
        let ifttt = stage.ifttt()
        ifttt.answer(
            "GET \(stage.path)", .json(Balcony.json()), .json(Balcony.json(status: "null", userConnection: nil)))
        let tokens = try stage.tokens(MemoryVault(), ifttt)
        try await tokens.store(try token("utk_mine"))
        let controller = try stage.controller(ifttt, tokens: tokens) { _ in nil }
        let running = Task { await controller.run() }
        controller.send(.appeared)
        while controller.activation.state != .connected { await Task.yield() }
        try await controller.signOut()
        while controller.activation.state != .initial { await Task.yield() }
        #expect(controller.activation.connection?.status == .unknown && controller.activation.failure == nil)
        #expect(try await tokens.token() == nil)
        running.cancel()
        await running.value
    }

    @Test("F106: what the user turned off before logging out is not turned off for the next user, whose token stays")
    func signedOutBeforeRestored() async throws {
        var player = try Player(.enabled) { $0.disconnection = .undoable(seconds: 5) }
        player.play(.appeared, .disconnect)
        #expect(player.activation.state == .undoableDisconnection(seconds: 5))
        let ifttt = stage.ifttt()
        let tokens = try stage.tokens(MemoryVault(), ifttt)
        let controller = ConnectController(
            player.activation, tokens: tokens,
            environment: ConnectEnvironment(browser: ScriptedBrowser { _ in nil }, tokens: .redirect),
            through: .init(transport: ifttt, time: TimeSource(now: { 1_000 }, clock: HurriedClock())))
        try await controller.signOut()
        // The next user's, which another button has stored.
        try await tokens.store(try token("utk_other"))
        let running = Task { await controller.run() }
        while controller.activation.state != .initial { await Task.yield() }
        running.cancel()
        await running.value
        #expect(ifttt.lines.allSatisfy { $0.hasPrefix("GET ") }, "\(ifttt.lines)")
        #expect(try await tokens.token() == (try token("utk_other")))
    }

    @Test("F106: a redirect that waits when the user logs out is refused")
    func signedOutBeforeRedirect() async throws {
        let ifttt = stage.ifttt()
        let tokens = try stage.tokens(MemoryVault(), ifttt)
        let sent = Mutex<ConnectActivation.Destination?>(nil)
        let controller = try stage.controller(ifttt, tokens: tokens) { destination in
            sent.withLock { $0 = destination }
            return nil
        }
        let away = Task { await controller.run() }
        controller.send(.appeared)
        while controller.activation.state != .initial { await Task.yield() }
        controller.connect()
        while controller.activation.state != .enteringEmail(.init("ada@example.com")) { await Task.yield() }
        controller.send(.confirmEmail("ada@example.com"))
        while sent.withLock({ $0 }) == nil { await Task.yield() }
        away.cancel()
        await away.value
        let destination = try #require(sent.withLock { $0 })
        controller.open(ScriptedBrowser.redirect(destination, "next_step=complete&user_token=utk_late"))
        try await controller.signOut()
        let updates = controller.updates()
        let running = Task { await controller.run() }
        defer { running.cancel() }
        for await update in updates {
            if case .activation(let activation) = update, activation.state == .connecting {
                Issue.record("the redirect counted")
                break
            }
            guard case .refused(let refusal) = update else { continue }
            #expect(refusal == .noPendingAttempt)
            break
        }
        #expect(try await tokens.token() == nil)
    }

    @Test("W14: with a partner's server the token of a redirect is dropped, and the server's is used and kept")
    func partnerServer() async throws {
        let ifttt = stage.ifttt()
        let tokens = try stage.tokens(MemoryVault(), ifttt)
        let given = Mutex<[UserToken]>([])
        let fresh = try token("utk_partner")
        let controller = try stage.controller(
            ifttt, tokens: tokens,
            change: { $0.tokenDelivery = .partnerServer { given.withLock { $0.first } } },
            visit: { destination in
                given.withLock { $0 = [fresh] }
                return ScriptedBrowser.redirect(destination, "next_step=complete&user_token=utk_redirect")
            })
        let (_, outcome, got) = try await stage.outcome(of: controller) { state in
            if state == .initial { controller.connect() }
            if case .enteringEmail(let entry) = state { controller.send(.confirmEmail(entry.text)) }
        }
        #expect(outcome == .connected(try Balcony.connection(), isConfirmed: true, isPending: false))
        #expect(got == nil && ifttt.requests.last?.header("Authorization") == "Bearer utk_partner")
        #expect(try await tokens.token() == fresh)
    }

    @Test("F100: what was counted is sent when the app goes to the background, all of it")
    func background() async throws {
        let ifttt = stage.ifttt()
        ifttt.answer("POST /v2/sdk/events", .status(204))
        let analytics = Analytics(to: ifttt.api())
        await analytics.allow()
        for _ in 0..<25 { await analytics.record(.footerClicked) }
        let controller = try stage.controller(ifttt, tokens: nil, analytics: analytics) { _ in nil }
        let running = Task { await controller.run() }
        controller.send(.enteredBackground)
        while await analytics.waitingCount > 0 { await Task.yield() }
        #expect(ifttt.lines.count { $0 == "POST /v2/sdk/events" } == 3)
        running.cancel()
        await running.value
    }
}
