import IFTTTConnect
import OAuth
import Testing

private typealias State = ConnectActivation.State

@Suite("Storyboards of complete runs")
struct StoryboardTests {
    private let ada = EmailAddress(rawValue: "ada@example.com")

    /// One run of 3.10: what the world is like, what the user does, and the states that are seen.
    struct Storyboard: Sendable, CustomTestStringConvertible {
        let name: String
        var hasToken = false
        var hasApp = false
        var account = ConnectActivation.AccountLookUp.doesNotExist
        let way: [ConnectActivation.State]
        /// What the address tells of the user.
        let tells: String?
        let kind: ConnectActivation.Destination.Kind

        var testDescription: String { name }
    }

    static let storyboards: [Storyboard] = {
        let entry = State.enteringEmail(.init("ada@example.com"))
        let email = EmailAddress(rawValue: "ada@example.com").map { $0 }
        let creating = email.map(State.creatingAccount) ?? .idle
        return [
            Storyboard(
                name: "new user, no app", way: [entry, .verifying, creating, .goingToService(.web)],
                tells: "email=ada@example.com&sdk_create_account=true", kind: .web),
            Storyboard(
                name: "returning user, no app, no token", account: .exists,
                way: [entry, .verifying, .goingToService(.web)],
                tells: "email=ada@example.com&available_email_app_schemes%5B%5D=message://", kind: .web),
            Storyboard(
                name: "signed-in user, no app", hasToken: true, way: [.verifying, .goingToService(.web)],
                tells: "username=ada_l", kind: .web),
            Storyboard(
                name: "app installed, no token", hasApp: true, way: [.verifying, .goingToService(.app)], tells: nil,
                kind: .app),
            Storyboard(
                name: "app installed, token", hasToken: true, hasApp: true, way: [.verifying, .goingToService(.app)],
                tells: "username=ada_l", kind: .app),
        ]
    }()

    private func begun(_ story: Storyboard) throws -> Player {
        var player = try Player()
        player.world.context.hasUserToken = story.hasToken
        player.world.context.isAppInstalled = story.hasApp
        player.world.context.mailClients = [MailClient.ios[0]]
        player.world.user = .login("ada_l")
        player.world.account = story.account
        player.play(.appeared)
        player.connect()
        if case .enteringEmail = player.activation.state { player.play(.confirmEmail("ada@example.com")) }
        return player
    }

    @Test("3.10, F016–F025: every storyboard runs through its states to connected", arguments: storyboards)
    func runs(_ story: Storyboard) throws {
        var player = try begun(story)
        #expect(player.destination?.kind == story.kind)
        let url = try #require(player.destination?.url)
        if let tells = story.tells { #expect(url.contains("&" + tells)) }
        #expect(url.contains("username=") == (story.tells?.hasPrefix("username") ?? false))
        #expect(url.contains("email=") == (story.tells?.hasPrefix("email") ?? false))
        try player.comeBack()
        #expect(player.states == [.loading, .initial] + story.way + [.connecting, .connected])
        #expect(player.storedTokens == ["t1"])
        #expect(
            player.outcomes == [.connected(try Balcony.connection(), isConfirmed: true, isPending: false)])
        // W27.
        #expect(!player.effects.contains { if case .start = $0 { true } else { false } }, "nothing waits for a time")
    }

    @Test("F002, F004, W4: loading is shown until the answer is there, and nothing waits for show")
    func loading() throws {
        var player = try Player(.enabled)
        player.isSilent = true
        player.play(.appeared)
        #expect(player.activation.state == .loading)
        guard case .fetch(let ticket)? = player.pending.first else {
            Issue.record("nothing was fetched")
            return
        }
        player.play(.fetched(ticket, player.world.connection))
        guard case .gather(let means, .capabilities)? = player.pending.last else {
            Issue.record("the capabilities were not gathered")
            return
        }
        player.play(.gathered(means, .success(player.world.context)))
        #expect(player.states == [.loading, .connected])
        #expect(!player.effects.contains { if case .start = $0 { true } else { false } })
    }

    @Test(
        "F001, F003, F037: a prefetched connection is shown immediately",
        arguments: [
            (Connection.Status.enabled, ConnectActivation.State.connected), (.disabled, .initial),
            (.neverEnabled, .initial), (.unknown, .initial),
        ])
    func prefetched(_ status: Connection.Status, _ expected: ConnectActivation.State) throws {
        var activation = try ConnectActivation(Player.configuration(), prefetched: Balcony.connection(status))
        let effects = activation.handle(.appeared)
        #expect(activation.state == expected)
        #expect(!effects.contains { if case .fetch = $0 { true } else { false } })
    }

    @Test("3.1: a prefetched connection must be the configuration's")
    func foreignPrefetched() throws {
        let configuration = ConnectActivation.Configuration(
            try ConnectionID("another1"), callback: try CallbackURL("gardenapp://connect_callback"))
        let foreign = ConnectError.input(
            member: "connection", problem: "the configuration is for another1, not for aB3dE5fG")
        #expect(throws: foreign) {
            try ConnectActivation(configuration, prefetched: Balcony.connection())
        }
    }

    @Test("F035: the button is free again when the IFTTT app comes up, and its redirect still counts")
    func leftForTheApp() throws {
        var player = try begun(Self.storyboards[3])
        player.play(.enteredBackground)
        #expect(player.activation.state == .initial)
        try player.comeBack()
        #expect(player.activation.state == .connected)
        #expect(player.storedTokens == ["t1"])
    }

    @Test("3.10: a user who leaves the IFTTT app without finishing starts over, and only the new attempt counts")
    func startedOver() throws {
        var player = try begun(Self.storyboards[3])
        player.play(.enteredBackground)
        let old = try player.redirect("next_step=complete&user_token=old")
        player.connect()
        player.open(old, at: 1001)
        #expect(player.refusals == [.otherAttempt] && player.storedTokens.isEmpty)
        try player.comeBack()
        #expect(player.storedTokens == ["t1"])
    }

    @Test("F024: a returning user who closed the page comes back by the link in the mail")
    func mailLink() throws {
        var player = try begun(Self.storyboards[1])
        player.play(.browserClosed(try #require(player.openTicket)))
        #expect(player.activation.state == .initial && player.outcomes == [.cancelled])
        try player.comeBack(at: 1000 + 3599)
        #expect(player.activation.state == .connected)
    }

    @Test("F026, W15: a connection that skipped its configuration is pending, until the app has configured it")
    func pending() throws {
        var player = try Player { $0.skipsConfiguration = true }
        player.world.context.hasUserToken = true
        player.world.user = .login("ada_l")
        player.play(.appeared)
        player.connect()
        #expect(try #require(player.destination?.url).contains("&skip_config=true&"))
        player.world.connectionAfter = .success(try Balcony.unconfigured())
        try player.comeBack()
        #expect(player.activation.state == .pendingConfiguration && player.activation.isPendingConfiguration)
        #expect(player.outcomes == [.connected(try Balcony.unconfigured(), isConfirmed: true, isPending: true)])
        player.play(.refresh)
        #expect(player.activation.state == .pendingConfiguration)
        player.world.connectionAfter = .success(try Balcony.connection())
        player.play(.configurationSaved)
        #expect(player.activation.state == .connected && !player.activation.isPendingConfiguration)
    }

    @Test(
        "W15: a connection that is on and not configured is shown as pending, whichever side skipped the page",
        arguments: [true, false])
    func pendingOnLoad(skips: Bool) throws {
        var player = try Player { $0.skipsConfiguration = skips }
        player.world.connection = .success(try Balcony.unconfigured())
        player.play(.appeared)
        #expect(player.activation.state == .pendingConfiguration)
        player.play(.disconnect, .confirmDisconnection)
        #expect(player.activation.state == .disconnected && !player.activation.isPendingConfiguration)
    }

    @Test("F026, W15: a pending connection that was configured elsewhere is on as soon as one looks")
    func configuredElsewhere() throws {
        var player = try Player { $0.skipsConfiguration = true }
        player.world.connection = .success(try Balcony.unconfigured())
        player.play(.appeared)
        player.world.connection = .success(try Balcony.connection())
        player.play(.refresh)
        #expect(player.states == [.loading, .pendingConfiguration, .connected])
    }

    @Test("W15: a connection that skipped its configuration is pending until its configuration is known")
    func pendingUnconfirmed() throws {
        let unknown = try Balcony.connection(.unknown)
        for found: Result<Connection, ConnectActivation.Failure> in [.success(unknown), .failure(.unreachable)] {
            var player = try Player { $0.skipsConfiguration = true }
            player.play(.appeared)
            player.connect()
            player.play(.confirmEmail("ada@example.com"))
            player.world.connectionAfter = found
            try player.comeBack("next_step=complete")
            #expect(player.activation.state == .pendingConfiguration)
            player.world.connectionAfter = .success(try Balcony.connection())
            player.play(.refresh)
            #expect(player.activation.state == .connected)
        }
    }

    @Test("3.3, case C: without token and app the field is shown immediately, and later capabilities are found")
    func fieldImmediately() throws {
        var player = try Player()
        player.play(.appeared)
        #expect(player.activation.asksForEmail && player.needs == [.capabilities])
        player.world.context.hasUserToken = true
        player.world.user = .login("ada_l")
        player.connect()
        #expect(!player.activation.asksForEmail)
        let entry = ConnectActivation.State.enteringEmail(.init("ada@example.com"))
        #expect(player.states == [.loading, .initial, entry, .verifying, .goingToService(.web)])
    }

    @Test("the partner makes one code for one way to the service")
    func oneCode() throws {
        var player = try Player()
        player.play(.appeared)
        player.connect()
        player.play(.confirmEmail("ada@example.com"))
        #expect(player.needs == [.capabilities, .capabilities, .handoff])
    }

    @Test("W13: who goes to the service again brings a fresh code, the same state, and is counted once")
    func reopened() throws {
        var player = try Player()
        player.world.context.oauthCode = Secret("first")
        player.play(.appeared)
        player.connect()
        player.play(.reopen, .confirmEmail("ada@example.com"))
        let first = try #require(player.destination?.url)
        let closed = try #require(player.openTicket)
        player.world.context.oauthCode = Secret("second")
        player.play(.reopen)
        let second = try #require(player.destination?.url)
        #expect(player.needs.last == .handoff)
        #expect(second == first.replacing("code=first", with: "code=second") && second != first)
        #expect(player.activation.state == .goingToService(.web))
        #expect(player.reports.count { $0.object?.type == "connection" && $0.name == .click } == 1)
        // The page before is no longer the one that counts.
        player.play(.browserClosed(closed))
        #expect(player.activation.state == .goingToService(.web))
        try player.comeBack()
        #expect(player.activation.state == .connected)
        player.play(.reopen)
        #expect(player.activation.state == .connected)
    }

    @Test("who cannot be sent again is waited for as before, and told why")
    func notReopened() throws {
        var player = try begun(Self.storyboards[0])
        let redirect = try player.redirect("next_step=complete&user_token=t1")
        player.isSilent = true
        player.play(.reopen)
        let ticket = try #require(player.pending.last?.gatherTicket(of: .handoff))
        player.play(.gathered(ticket, .failure(.credentials("no session"))))
        #expect(player.activation.state == .goingToService(.web))
        #expect(player.activation.failure == .credentials("no session") && player.outcomes.isEmpty)
        player.isSilent = false
        player.open(redirect, at: 1001)
        #expect(player.activation.state == .connected)
    }

    @Test("F019: while the page makes an account it is known whose")
    func newAccount() throws {
        let player = try begun(Self.storyboards[0])
        #expect(player.activation.newAccount == ada && player.activation.state == .goingToService(.web))
        #expect(try begun(Self.storyboards[1]).activation.newAccount == nil)
    }

    @Test("F050: a connection is managed in the IFTTT app where that is installed", arguments: [true, false, nil])
    func managed(hasApp: Bool?) throws {
        var player = try Player(.enabled) { $0.locale = "de" }
        player.world.context.isAppInstalled = hasApp
        player.play(.appeared)
        #expect(player.activation.isAppInstalled == hasApp)
        let expected =
            "ifttt-handoff-v1://connections/aB3dE5fG?sdk_return_to=gardenapp://connect_callback"
            + "&sdk_version=2.8.0&sdk_platform=ios&locale=de&action=edit"
        #expect(player.activation.appEditURL == (hasApp == true ? expected : nil))
    }

    @Test("F043, W16: a connection that was on before is turned on by asking")
    func enabledAgain() throws {
        var player = try Player(.disabled)
        player.world.context.hasUserToken = true
        player.world.enabling = .success(try Balcony.connection())
        player.play(.appeared)
        player.connect()
        #expect(player.states == [.loading, .initial, .verifying, .connecting, .connected])
        // F099: the animation is the same as after a redirect.
        #expect(player.reports.contains(.connectingShown(player.activation.configuration.connection)))
        #expect(player.destination == nil)
    }

    @Test(
        "F043: what cannot be turned on by asking goes through the service's pages",
        arguments: [
            ConnectActivation.Failure.service(status: 422, code: "invalid_parameters", message: nil), .notFound,
        ])
    func enabledByThePages(_ reason: ConnectActivation.Failure) throws {
        var player = try Player(.disabled)
        player.world.context.hasUserToken = true
        player.world.user = .login("ada_l")
        player.world.enabling = .failure(reason)
        player.play(.appeared)
        player.connect()
        #expect(player.activation.state == .goingToService(.web))
    }
}
