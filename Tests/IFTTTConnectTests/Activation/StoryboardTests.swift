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
                name: "new user, no app", way: [.verifying, entry, .verifying, creating, .goingToService(.web)],
                tells: "email=ada@example.com&sdk_create_account=true", kind: .web),
            Storyboard(
                name: "returning user, no app, no token", account: .exists,
                way: [.verifying, entry, .verifying, .goingToService(.web)],
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
        player.world.circumstances.hasUserToken = story.hasToken
        player.world.circumstances.isAppInstalled = story.hasApp
        player.world.circumstances.mailClients = [MailClient.ios[0]]
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
        #expect(player.states == [.loading, .connected])
        #expect(!player.effects.contains { if case .start = $0 { true } else { false } })
    }

    @Test(
        "F001, F003, F037: a connection that is there already is shown at once",
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
            try ConnectionID("another1"), returningTo: try ReturnAddress("gardenapp://connect_callback"))
        #expect(throws: ConnectError.self) {
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
        player.play(.redirected(old, at: 1001))
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
        player.world.circumstances.hasUserToken = true
        player.world.user = .login("ada_l")
        player.play(.appeared)
        player.connect()
        #expect(try #require(player.destination?.url).contains("&skip_config=true&"))
        try player.comeBack()
        #expect(player.activation.state == .pendingConfiguration && player.activation.isPendingConfiguration)
        #expect(player.outcomes == [.connected(try Balcony.connection(), isConfirmed: true, isPending: true)])
        player.play(.refresh)
        #expect(player.activation.state == .pendingConfiguration)
        player.play(.configurationSaved)
        #expect(player.activation.state == .connected && !player.activation.isPendingConfiguration)
    }

    @Test("W15: a connection that is on and has nothing configured is shown as pending where the page is skipped")
    func pendingOnLoad() throws {
        var player = try Player { $0.skipsConfiguration = true }
        let empty = #"{ "user_features": [] }"#
        player.world.connection = .success(
            try Connection(parsing: Array(Balcony.json(userConnection: empty).utf8)))
        player.play(.appeared)
        #expect(player.activation.state == .pendingConfiguration)
        player.play(.disconnect, .confirmDisconnection)
        #expect(player.activation.state == .disconnected && !player.activation.isPendingConfiguration)
    }

    @Test("F043, W16: a connection that was on before is turned on by asking")
    func enabledAgain() throws {
        var player = try Player(.disabled)
        player.world.circumstances.hasUserToken = true
        player.world.enabling = .success(try Balcony.connection())
        player.play(.appeared)
        player.connect()
        #expect(player.states == [.loading, .initial, .verifying, .connecting, .connected])
        #expect(player.destination == nil)
    }

    @Test(
        "F043: what cannot be turned on by asking goes through the service's pages",
        arguments: [
            ConnectActivation.Failure.service(status: 422, code: "invalid_parameters", message: nil), .notFound,
        ])
    func enabledByThePages(_ reason: ConnectActivation.Failure) throws {
        var player = try Player(.disabled)
        player.world.circumstances.hasUserToken = true
        player.world.user = .login("ada_l")
        player.world.enabling = .failure(reason)
        player.play(.appeared)
        player.connect()
        #expect(player.activation.state == .goingToService(.web))
    }
}
