import HTTPTypes
import Handshake
import IFTTTConnect
import OAuth
import Sandbox
import Synchronization
import TestFixtures
import Testing

/// A person at the pages of the sandbox, as a closure that is given the address and says where they left to.
private struct Person: ConnectBrowser {
    let visit: @Sendable (ConnectActivation.Destination) async throws -> String?

    func open(_ destination: ConnectActivation.Destination) async throws -> String? { try await visit(destination) }
}

@Suite("Activations over HTTP, at the sandbox", .heavy)
struct LoopbackActivationTests {
    private static let settings = [
        ("f0", "on"), ("f0.c0.location.lat", "52.5"), ("f0.c0.location.lng", "13.4"),
        ("f0.c0.location.radius", "120"), ("f0.c0.location.address", "Sample Square 1"), ("f0.c1.zone", "zone-9"),
        ("do", "save"),
    ]

    /// An activation with everything real but the person.
    private struct Scene {
        let controller: ConnectController
        let tokens: UserTokens

        init(
            _ ifttt: LoopbackIFTTT, _ email: String, browser: some ConnectBrowser,
            redirect: CallbackURL? = nil, skipsConfiguration: Bool = false,
            change: (inout ConnectEnvironment) -> Void = { _ in }
        ) throws {
            var configuration = ConnectActivation.Configuration(
                try ConnectionID("aB3dE5fG"),
                callback: try redirect ?? CallbackURL("gardenapp://connect_callback"), suggestedEmail: email,
                skipsConfiguration: skipsConfiguration)
            configuration.addresses = ActivationAddresses(
                ifttt.hosts, handoffPrefix: "\(ifttt.sandbox.ifttt.origin)/app/connections/")
            let service = Service.ifttt.at(
                try EndpointURL(ifttt.sandbox.ifttt.origin, security: .allowingInsecureLoopback))
            let client = Client(
                service: service, id: "lumen_garden", redirect: .uri(try RedirectURI("com.example.garden:/connect")))
            tokens = UserTokens(in: try Handshake(client, vault: MemoryVault()))
            var environment = ConnectEnvironment(browser: browser, tokens: .redirect)
            change(&environment)
            controller = ConnectController(
                ConnectActivation(configuration), tokens: tokens, environment: environment,
                through: .init(hosts: ifttt.hosts))
        }

        /// Runs until so many outcomes came; what they are, and the kinds of pages that were opened.
        func run(
            until count: Int = 1, _ react: @Sendable (ConnectController, ConnectActivation.State) -> Void = { _, _ in }
        ) async throws -> [ConnectActivation.Outcome] {
            let updates = controller.updates()
            let running = Task { [controller] in await controller.run() }
            defer { running.cancel() }
            controller.send(.appeared)
            var outcomes: [ConnectActivation.Outcome] = []
            var last: ConnectActivation.State?
            for await update in updates {
                switch update {
                case .activation(let activation) where activation.state != last:
                    last = activation.state
                    if case .enteringEmail(let entry) = activation.state {
                        controller.send(.confirmEmail(entry.text))
                    }
                    react(controller, activation.state)
                case .activation: break
                case .outcome(let outcome, _): outcomes.append(outcome)
                case .refused(let refusal): Issue.record("\(refusal)")
                case .problem(let error): throw error
                }
                if outcomes.count == count { return outcomes }
            }
            throw CancellationError()
        }
    }

    /// Turns it on as soon as that can be done.
    private static func connecting(_ controller: ConnectController, _ state: ConnectActivation.State) {
        if state == .initial { controller.connect() }
    }

    @Test("3.10: a new user, from the first look to on and off again, with the partner's code")
    func newUser() async throws {
        try await LoopbackIFTTT.run { ifttt in
            let sandbox = ifttt.sandbox
            let person = Person { destination in
                #expect(destination.kind == .web && destination.url.contains("sdk_create_account=true"))
                let visitor = try await ifttt.visitor(at: destination.url)
                #expect(visitor.heading == "Connect Location")
                try await visitor.press("allow")
                try await visitor.submit(Self.settings)
                return visitor.left
            }
            let scene = try Scene(
                ifttt, "new@example.test", browser: person,
                change: { $0.oauthCode = { Secret(try sandbox.issueOAuthCode(for: "garden-1005")) } })
            let wished = Mutex(false)
            let outcomes = try await scene.run(until: 2) { controller, state in
                switch state {
                case .initial where !wished.withLock({ $0 }):
                    wished.withLock { $0 = true }
                    controller.connect()
                case .connected: controller.send(.disconnect)
                case .confirmingDisconnection: controller.send(.confirmDisconnection)
                default: break
                }
            }
            guard case .connected(let on, isConfirmed: true, isPending: false)? = outcomes.first,
                case .disconnected(let off)? = outcomes.last
            else {
                Issue.record("\(outcomes)")
                return
            }
            #expect(on.status == .enabled && off.status == .disabled)
            #expect(on.userConnection?.locationTriggers.first?.area.radius == 120)
            let stored = try #require(try await scene.tokens.token())
            let own = ConnectAPI(.user(stored), at: ifttt.hosts)
            #expect(try await own.me().login == "new")
            #expect(try await own.connection(on.id).status == .disabled)
            #expect(try ifttt.log(.webhooks, "event") == ["connection/enabled", "connection/disabled"])
        }
    }

    @Test("3.10: a returning user goes on by the link in a mail, in another browser, which opens the app")
    func returningUser() async throws {
        try await LoopbackIFTTT.run { ifttt in
            let (redirects, input) = AsyncStream<String>.makeStream()
            let person = Person { destination in
                #expect(!destination.url.contains("sdk_create_account"))
                let visitor = try await ifttt.visitor(at: destination.url)
                #expect(visitor.heading == "Check your mail")
                #expect(visitor.page.text.contains(#"<a href="message://">"#))
                #expect(try ifttt.log(.mails, "to") == ["edsger@example.test"])
                let other = try await ifttt.visitor(at: try #require(try ifttt.log(.mails, "link").first))
                #expect(other.heading == "Welcome back, edsger_d")
                try await other.submit([])
                try await other.press("allow")
                try await other.submit(Self.settings)
                input.yield(try #require(other.left))
                return nil
            }
            let scene = try Scene(
                ifttt, "edsger@example.test", browser: person,
                change: { $0.mailClients = { [MailClient(rawValue: "message://")] } })
            let opening = Task { for await url in redirects { scene.controller.open(url) } }
            let outcomes = try await scene.run(Self.connecting)
            opening.cancel()
            guard case .connected(_, isConfirmed: true, isPending: false)? = outcomes.first else {
                Issue.record("\(outcomes)")
                return
            }
            #expect(try await scene.tokens.token() == (try token("utk_sandbox_edsger")))
        }
    }

    @Test("3.10: a user with a token and the app is handed over to the app by name")
    func app() async throws {
        try await LoopbackIFTTT.run { ifttt in
            let person = Person { destination in
                #expect(destination.kind == .app && destination.url.contains("username=edsger_d"))
                let app = try await ifttt.visitor(at: destination.url)
                #expect(app.page.text.contains("IFTTT app") && app.heading == "Continue as edsger_d?")
                try await app.press("yes")
                try await app.press("allow")
                try await app.submit(Self.settings)
                return app.left
            }
            let scene = try Scene(
                ifttt, "edsger@example.test", browser: person, change: { $0.isAppInstalled = { true } })
            try await scene.tokens.store(try token("utk_sandbox_edsger"))
            let outcomes = try await scene.run(Self.connecting)
            guard case .connected(_, isConfirmed: true, _)? = outcomes.first else {
                Issue.record("\(outcomes)")
                return
            }
        }
    }

    @Test("F043: what was on before is turned on without a page")
    func again() async throws {
        try await LoopbackIFTTT.run { ifttt in
            let person = Person { _ in
                Issue.record("a page was opened")
                return nil
            }
            let scene = try Scene(ifttt, "grace@example.test", browser: person)
            try await scene.tokens.store(try token("utk_sandbox_grace"))
            let outcomes = try await scene.run(Self.connecting)
            guard case .connected(_, isConfirmed: true, isPending: false)? = outcomes.first else {
                Issue.record("\(outcomes)")
                return
            }
            #expect(try await ifttt.api("grace").connection(try ConnectionID("aB3dE5fG")).status == .enabled)
        }
    }

    @Test("F026, F028: a listener on this machine catches the redirect, and without configuration it is pending")
    func listener() async throws {
        struct Visitor: Browser {
            let ifttt: LoopbackIFTTT

            func show(_ page: SignInPage) async throws -> String? {
                let visitor = try await ifttt.visitor(at: page.url)
                try await visitor.press("allow")
                try await visitor.press("yes")
                let back = try EndpointURL(
                    try #require(visitor.left), security: .allowingInsecureLoopback)
                _ = try await PlatformTransport().send(RequestMessage(.get, back), limits: TransferLimits())
                return nil
            }
        }
        try await LoopbackIFTTT.run { ifttt in
            let sandbox = ifttt.sandbox
            let browser = try LoopbackBrowser(Visitor(ifttt: ifttt))
            let scene = try Scene(
                ifttt, "new@example.test", browser: browser, redirect: browser.callbackURL, skipsConfiguration: true,
                change: { $0.oauthCode = { Secret(try sandbox.issueOAuthCode(for: "garden-1005")) } })
            let outcomes = try await scene.run(Self.connecting)
            guard case .connected(_, isConfirmed: true, isPending: true)? = outcomes.first else {
                Issue.record("\(outcomes)")
                return
            }
        }
    }

    @Test(
        "F031, F033: what the pages end with is told",
        arguments: [
            ("user_cancelled_configuration", ConnectActivation.Failure.configurationCancelled),
            ("account_creation", .accountCreationFailed), ("auth_error", .refusedByService(type: "auth_error")),
            ("unknown", .unknownRedirect),
        ])
    func failures(_ word: String, _ failure: ConnectActivation.Failure) async throws {
        try await LoopbackIFTTT.run { ifttt in
            let person = Person { destination in
                let visitor = try await ifttt.visitor(at: destination.url)
                try await visitor.submit([("outcome", word)])
                return visitor.left
            }
            let scene = try Scene(ifttt, "new@example.test", browser: person)
            #expect(try await scene.run(Self.connecting) == [.failed(failure)])
            #expect(try await scene.tokens.token() == nil)
        }
    }

    @Test("W15: a redirect that says “complete” and brings no token is not taken for confirmed")
    func unconfirmed() async throws {
        try await LoopbackIFTTT.run { ifttt in
            let person = Person { destination in
                let visitor = try await ifttt.visitor(at: destination.url)
                try await visitor.submit([("outcome", "complete_without_token")])
                return visitor.left
            }
            let scene = try Scene(ifttt, "new@example.test", browser: person)
            let outcomes = try await scene.run(Self.connecting)
            if case .connected(_, isConfirmed: true, _)? = outcomes.first { Issue.record("\(outcomes)") }
        }
    }
}
