import Foundation
import HTTPTypes
import Handshake
import IFTTTConnect
import OAuth
import Synchronization
import TestFixtures
import Testing

/// A user at a browser, as a closure.
struct ScriptedBrowser: ConnectBrowser {
    let visit: @Sendable (ConnectActivation.Destination) async throws -> String?

    func open(_ destination: ConnectActivation.Destination) async throws -> String? { try await visit(destination) }

    /// The redirect that answers a destination.
    static func redirect(_ destination: ConnectActivation.Destination, _ items: String) -> String {
        let state = destination.url.split(separator: "state%3D").last?.prefix { $0 != "&" } ?? ""
        return "gardenapp://connect_callback?state=\(state)&\(items)"
    }
}

@Suite("The controller", .heavy)
struct ControllerTests {
    let path = "/v2/connections/aB3dE5fG"

    func ifttt() -> ScriptedIFTTT {
        ScriptedIFTTT([
            "GET \(path)": [
                .json(Balcony.json(status: "null", userConnection: nil)), .json(Balcony.json()),
            ],
            "GET /v2/account/find": [.status(404)],
            "POST \(path)/disable": [.json(Balcony.json(status: "\"disabled\"", userConnection: nil))],
        ])
    }

    func tokens(_ vault: any Vault, _ transport: any Transport) throws -> UserTokens {
        let client = Client(
            service: .ifttt, id: "lumen_garden", redirect: .uri(try RedirectURI("com.example.garden:/connect")))
        return UserTokens(in: try Handshake(client, vault: vault, transport: transport))
    }

    func controller(
        _ ifttt: ScriptedIFTTT, tokens: UserTokens?, analytics: Analytics? = nil,
        change: (inout ConnectEnvironment) -> Void = { _ in },
        visit: @escaping @Sendable (ConnectActivation.Destination) async throws -> String?
    ) throws -> ConnectController {
        var environment = ConnectEnvironment(browser: ScriptedBrowser(visit: visit), tokens: .redirect)
        change(&environment)
        return ConnectController(
            ConnectActivation(try Player.configuration()), tokens: tokens, environment: environment,
            analytics: analytics,
            through: .init(
                transport: ifttt, time: TimeSource(now: { 1_000 }, clock: HurriedClock())))
    }

    /// Runs until the first outcome; the states on the way, the outcome, and the token that came with it.
    func outcome(
        of controller: ConnectController, passing passed: ConnectActivation.Outcome? = nil,
        _ react: (ConnectActivation.State) -> Void = { _ in }
    ) async throws -> ([ConnectActivation.State], ConnectActivation.Outcome, UserToken?) {
        let updates = controller.updates()
        let running = Task { await controller.run() }
        defer { running.cancel() }
        controller.send(.appeared)
        var states: [ConnectActivation.State] = []
        for await update in updates {
            switch update {
            case .activation(let activation):
                if states.last != activation.state { states.append(activation.state) }
                react(activation.state)
            case .outcome(let outcome, let token):
                if outcome != passed { return (states, outcome, token) }
            case .refused, .problem: break
            }
        }
        throw CancellationError()
    }

    @Test("F019–F021, F030, F106: a new user, from the first look to the token in the vault")
    func newUser() async throws {
        let ifttt = ifttt()
        let vault = MemoryVault()
        let tokens = try tokens(vault, ifttt)
        let controller = try controller(ifttt, tokens: tokens) { destination in
            ScriptedBrowser.redirect(destination, "next_step=complete&user_token=utk_sandbox_9f2c")
        }
        let (states, outcome, got) = try await outcome(of: controller) { state in
            if state == .initial { controller.connect() }
            if case .enteringEmail(let entry) = state { controller.send(.confirmEmail(entry.text)) }
        }
        #expect(outcome == .connected(try Balcony.connection(), isConfirmed: true, isPending: false))
        #expect(got == (try token()) && states.last == .connected)
        let email = try #require(EmailAddress(rawValue: "ada@example.com"))
        #expect(states.contains(.creatingAccount(email)) && states.contains(.goingToService(.web)))
        #expect(try await tokens.token() == got)
        // Another process finds it in the vault.
        #expect(try await self.tokens(vault, ifttt).token() == got)
        let confirming = try #require(ifttt.requests.last)
        #expect(confirming.line == "GET \(path)" && confirming.header("Authorization") == "Bearer utk_sandbox_9f2c")
        #expect(ifttt.requests.allSatisfy { $0.header("IFTTT-SDK-Anonymous-Id") == nil })
    }

    @Test("F041, W10: a refused token is forgotten in the vault, and the reason is told")
    func refusedToken() async throws {
        let ifttt = ifttt()
        ifttt.answer("GET \(path)", .status(401), .json(Balcony.json(status: "null", userConnection: nil)))
        let tokens = try tokens(MemoryVault(), ifttt)
        try await tokens.store(try token("utk_old"))
        let controller = try controller(ifttt, tokens: tokens) { _ in throw CancellationError() }
        let updates = controller.updates()
        let running = Task { await controller.run() }
        controller.send(.appeared)
        for await update in updates {
            if case .activation(let activation) = update, activation.state == .initial { break }
        }
        running.cancel()
        #expect(ifttt.requests.map { $0.header("Authorization") } == ["Bearer utk_old", nil])
        #expect(try await tokens.token() == nil)
    }

    @Test("F099, W24: what a view reports is counted between what the activation reports, and only with consent")
    func reports() async throws {
        for isAllowed in [true, false] {
            let ifttt = ifttt()
            ifttt.answer("POST /v2/sdk/events", .status(204))
            let analytics = Analytics(to: ifttt.api())
            if isAllowed { await analytics.allow() }
            let controller = try controller(ifttt, tokens: nil, analytics: analytics) {
                ScriptedBrowser.redirect($0, "next_step=complete&user_token=utk_new")
            }
            controller.report(.footerClicked)
            let (_, outcome, _) = try await outcome(of: controller) { state in
                if case .enteringEmail(let entry) = state { controller.send(.confirmEmail(entry.text)) }
                guard state == .initial else { return }
                controller.report(.aboutShown(controller.activation.configuration.connection))
                controller.connect()
            }
            #expect(outcome == .connected(try Balcony.connection(), isConfirmed: true, isPending: false))
            await analytics.flush()
            let sent = ifttt.requests.filter { $0.line == "POST /v2/sdk/events" }.map(\.content)
            let events = try sent.flatMap { try JSONValue(parsing: Array($0.utf8)).object?["events"]?.array ?? [] }
            let objects = events.map { $0.object?["properties"]?.object?["object_type"]?.string ?? "none" }
            let expected = [
                "works_with_ifttt", "connection", "modal", "connection_email", "connection_email", "connection",
                "connection", "none",
            ]
            #expect(objects == (isAllowed ? expected : []))
        }
    }

    @Test("F099: nothing that the user does waits until what is counted is saved")
    func stuckStorage() async throws {
        let (silence, silent) = AsyncStream<Void>.makeStream()
        let consent = try #require(AnalyticsQueue(random: .system)).stored()
        let storage = AnalyticsStorage(load: { consent }, save: { _ in for await _ in silence {} })
        let analytics = Analytics(to: ifttt().api(), storage: storage)
        let controller = try controller(ifttt(), tokens: nil, analytics: analytics) {
            ScriptedBrowser.redirect($0, "next_step=complete")
        }
        let (_, outcome, _) = try await outcome(of: controller) { state in
            if state == .initial { controller.connect() }
            if case .enteringEmail(let entry) = state { controller.send(.confirmEmail(entry.text)) }
        }
        #expect(outcome == .connected(try Balcony.connection(), isConfirmed: true, isPending: false))
        #expect(await analytics.waitingCount > 3)
        silent.finish()
    }

    @Test("F032: closing the browser is told as going back")
    func closed() async throws {
        let controller = try controller(ifttt(), tokens: nil) { _ in
            throw HandshakeError.signInAbandoned(.closed)
        }
        let (_, outcome, _) = try await outcome(of: controller) { state in
            if state == .initial { controller.connect() }
            if case .enteringEmail(let entry) = state { controller.send(.confirmEmail(entry.text)) }
        }
        #expect(outcome == .cancelled)
    }

    @Test("F006: the network is watched once, however often it is found missing")
    func watchedOnce() async throws {
        let watches = Mutex(0)
        let controller = try controller(
            ScriptedIFTTT(), tokens: nil,
            change: { environment in
                environment.connectivity = {
                    watches.withLock { $0 += 1 }
                    let (silence, _) = AsyncStream<Void>.makeStream()
                    for await _ in silence {}
                }
            }, visit: { _ in nil })
        let updates = controller.updates()
        let running = Task { await controller.run() }
        controller.send(.appeared)
        var failures = 0
        for await update in updates {
            guard case .activation(let activation) = update, activation.state == .loadingFailed else { continue }
            failures += 1
            if failures == 4 { break }
            controller.send(.retryLoading)
        }
        running.cancel()
        await running.value
        #expect(watches.withLock { $0 } == 1)
    }

    @Test("F034: a browser that cannot be opened is told")
    func notOpened() async throws {
        let controller = try controller(
            ifttt(), tokens: nil, visit: { _ in throw HandshakeError.configuration(member: "browser", problem: "none") }
        )
        let (_, outcome, _) = try await outcome(of: controller) { state in
            if state == .initial { controller.connect() }
            if case .enteringEmail(let entry) = state { controller.send(.confirmEmail(entry.text)) }
        }
        #expect(outcome == .failed(.browserNotOpened))
    }

    @Test("a provider of the app that fails is told, and what it said is not")
    func provider() async throws {
        struct Secretive: Error { let secret = "very-secret" }
        let controller = try controller(
            ifttt(), tokens: nil,
            change: { environment in
                environment.isAppInstalled = { true }
                environment.oauthCode = { throw Secretive() }
            }, visit: { _ in nil })
        let (_, outcome, _) = try await outcome(of: controller) { if $0 == .initial { controller.connect() } }
        guard case .failed(.credentials(let what)) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(!what.contains("very-secret"))
    }

    @Test("F028, F029: a URL that the app was opened with is taken, or left to the app")
    func opened() async throws {
        let controller = try controller(ifttt(), tokens: nil) { _ in nil }
        #expect(!controller.open("otherapp://x"))
        try #require(controller.open("gardenapp://connect_callback?next_step=complete&user_token=theirs"))
        let updates = controller.updates()
        let running = Task { await controller.run() }
        for await update in updates {
            guard case .refused(let refusal) = update else { continue }
            #expect(refusal == .noPendingAttempt)
            break
        }
        running.cancel()
    }

    @Test("F018, F069: a token from the partner's server is used and kept")
    func partnerToken() async throws {
        let ifttt = ifttt()
        let tokens = try tokens(MemoryVault(), ifttt)
        let fresh = try token("utk_partner")
        let controller = try controller(
            ifttt, tokens: tokens, change: { $0.tokenDelivery = .redirectOrPartnerServer { fresh } },
            visit: { _ in nil })
        _ = try await controller.api.connection(try ConnectionID(Balcony.id))
        #expect(ifttt.requests.first?.header("Authorization") == "Bearer utk_partner")
        #expect(try await tokens.token() == fresh)
        try await controller.signOut()
        #expect(try await tokens.token() == nil)
    }

    @Test("F106: a token is replaced by the next and gone after logging out; other names are other users")
    func vaulted() async throws {
        let ifttt = ScriptedIFTTT()
        let vault = MemoryVault()
        let tokens = try tokens(vault, ifttt)
        #expect(try await tokens.token() == nil)
        try await tokens.store(try token("a1"))
        try await tokens.store(try token("a2"))
        #expect(try await tokens.token() == (try token("a2")))
        let client = Client(
            service: .ifttt, id: "lumen_garden", redirect: .uri(try RedirectURI("com.example.garden:/connect")))
        let grace = UserTokens(in: try Handshake(client, vault: vault, transport: ifttt), as: "grace")
        #expect(try await grace.token() == nil)
        try await tokens.forget()
        try await tokens.forget()
        #expect(try await tokens.token() == nil && ifttt.requests.isEmpty)
    }

    @Test("a listener on this machine catches the redirect and ignores those of others")
    func loopback() async throws {
        let (_, outcome, got) = try await loopback(idleVisits: 0)
        guard case .connected = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(got == (try token("t1")))
    }

    @Test("who goes back from the browser can go there again: the listener's port is free")
    func loopbackAgain() async throws {
        let (states, outcome, _) = try await loopback(idleVisits: 2)
        guard case .connected = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(states.count { $0 == .goingToService(.web) } == 3)
    }

    /// A user who looks at IFTTT's page so many times and goes back, and then goes on.
    private func loopback(
        idleVisits: Int
    ) async throws -> ([ConnectActivation.State], ConnectActivation.Outcome, UserToken?) {
        final class Visitor: Browser {
            private let idleVisits: Mutex<Int>
            let arrived: @Sendable () -> Void

            init(idleVisits: Int, arrived: @escaping @Sendable () -> Void) {
                self.idleVisits = Mutex(idleVisits)
                self.arrived = arrived
            }

            func show(_ page: SignInPage) async throws -> String? {
                let isIdle = idleVisits.withLock { left in
                    defer { left -= 1 }
                    return left > 0
                }
                if isIdle {
                    arrived()
                    return nil
                }
                let state = page.url.split(separator: "state%3D").last?.prefix { $0 != "&" } ?? ""
                let back = page.redirectURI.string
                for items in [
                    "next_step=complete&user_token=theirs", "state=\(state)&next_step=complete&user_token=t1",
                ] {
                    let url = try EndpointURL("\(back)?\(items)", security: .allowingInsecureLoopback)
                    // A person is patient, and a machine that is busy with other tests may need that.
                    _ = try await PlatformTransport().send(
                        RequestMessage(.get, url), limits: TransferLimits(timeout: .seconds(120)))
                }
                return nil
            }
        }
        let (arrivals, arrived) = AsyncStream<Void>.makeStream()
        let browser = try LoopbackBrowser(Visitor(idleVisits: idleVisits) { arrived.yield() })
        var configuration = try Player.configuration()
        configuration.redirect = browser.callbackURL
        configuration.addresses = ActivationAddresses(
            site: try EndpointURL("http://127.0.0.1:1", security: .allowingInsecureLoopback))
        let ifttt = ifttt()
        let controller = ConnectController(
            ConnectActivation(configuration), tokens: nil,
            environment: ConnectEnvironment(browser: browser, tokens: .redirect),
            through: .init(transport: ifttt, time: TimeSource(now: { 1_000 }, clock: ContinuousClock())))
        let goingBack = Task {
            for await _ in arrivals { controller.send(.cancel) }
        }
        defer { goingBack.cancel() }
        return try await outcome(of: controller, passing: .cancelled) { state in
            if state == .initial { controller.connect() }
            if case .enteringEmail(let entry) = state { controller.send(.confirmEmail(entry.text)) }
        }
    }
}
