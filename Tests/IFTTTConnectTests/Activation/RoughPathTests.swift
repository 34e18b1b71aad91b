import IFTTTConnect
import OAuth
import Testing

private typealias Failure = ConnectActivation.Failure
private typealias State = ConnectActivation.State

@Suite("Rough paths of the activation")
struct RoughPathTests {
    private func shown(_ status: Connection.Status = .neverEnabled, email: String = "ada@example.com") throws -> Player
    {
        var player = try Player(status, email: email)
        player.play(.appeared)
        return player
    }

    // MARK: Loading

    @Test(
        "F005, W6: why loading failed is said by its own reason, and the user can try again",
        arguments: [
            Failure.unreachable, .notFound, .service(status: 500, code: nil, message: nil),
            .unreadableAnswer("services"), .unauthorized,
        ])
    func loadingFailed(_ reason: ConnectActivation.Failure) throws {
        var player = try Player()
        player.world.connection = .failure(reason)
        player.play(.appeared)
        #expect(player.activation.state == .loadingFailed && player.activation.failure == reason)
        // Watching the network helps against nothing else.
        #expect(player.effects.contains(.watchConnectivity) == (reason == .unreachable))
        player.world.connection = .success(try Balcony.connection())
        player.play(.retryLoading)
        #expect(player.activation.state == .connected && player.activation.failure == nil)
        #expect(player.effects.contains(.stopWatchingConnectivity))
    }

    @Test("F006: loading begins again by itself when there is a network")
    func connectivity() throws {
        var player = try Player()
        player.world.connection = .failure(.unreachable)
        player.play(.appeared)
        #expect(player.effects.filter { $0 == .watchConnectivity }.count == 1)
        player.world.connection = .success(try Balcony.connection())
        player.play(.connectivityReturned, .connectivityReturned)
        #expect(player.states == [.loading, .loadingFailed, .loading, .connected])
    }

    @Test("W10: an expired token is dropped once, and the button is shown all the same")
    func expiredTokenOnLoad() throws {
        var player = try Player()
        player.isSilent = true
        player.play(.appeared)
        let first = try #require(player.pending.first?.fetchTicket)
        player.play(.fetched(first, .failure(.unauthorized)))
        #expect(player.activation.state == .loading && player.dropped == [first])
        let second = try #require(player.pending.last?.fetchTicket)
        #expect(first != second)
        player.play(.fetched(second, .success(try Balcony.connection(.unknown))))
        let third = try #require(player.pending.last?.gatherTicket(of: .capabilities))
        player.play(.gathered(third, .success(.init())))
        #expect(player.activation.state == .initial)
    }

    @Test("an answer about another connection is none")
    func otherConnection() throws {
        var player = try Player()
        let other = Balcony.json().replacing("\"aB3dE5fG\"", with: "\"another1\"")
        player.world.connection = .success(try Connection(parsing: Array(other.utf8)))
        player.play(.appeared)
        #expect(player.activation.state == .loadingFailed && player.activation.failure?.code == "malformed_answer")
    }

    // MARK: Who the user is

    @Test("W10: an expired token does not block the way: the user is asked, or the app knows")
    func expiredToken() throws {
        for hasApp in [false, true] {
            var player = try shown()
            player.world.context.hasUserToken = true
            player.world.context.isAppInstalled = hasApp
            player.connect()
            #expect(player.dropped.count == 1)
            #expect(
                player.activation.state
                    == (hasApp ? .goingToService(.app) : .enteringEmail(.init("ada@example.com"))))
        }
    }

    @Test("W5: a look-up that fails is no new user: the address stays, the reason is shown")
    func couldNotAsk() throws {
        var player = try shown()
        player.world.account = .couldNotAsk(.unreachable)
        player.connect()
        player.play(.confirmEmail("grace@example.com"))
        #expect(player.activation.state == .enteringEmail(.init("grace@example.com")))
        #expect(player.activation.failure == .unreachable && player.destination == nil)
        #expect(player.outcomes == [.failed(.unreachable)])
        player.world.account = .exists
        player.play(.confirmEmail("grace@example.com"))
        #expect(player.activation.state == .goingToService(.web) && player.activation.failure == nil)
    }

    @Test("offline while the token is looked up: back to Connect with the reason, and the token stays")
    func offline() throws {
        var player = try shown()
        player.world.context.hasUserToken = true
        player.world.user = .couldNotAsk(.unreachable)
        player.connect()
        #expect(player.activation.state == .initial && player.activation.failure == .unreachable)
        #expect(player.dropped.isEmpty)
        player.world.user = .login("ada_l")
        player.connect()
        #expect(player.activation.state == .goingToService(.web))
    }

    @Test("offline while a connection is turned on again: the reason, not the service's pages")
    func offlineWhileEnabling() throws {
        var player = try shown(.disabled)
        player.world.context.hasUserToken = true
        player.world.enabling = .failure(.unreachable)
        player.connect()
        #expect(player.activation.state == .initial && player.activation.failure == .unreachable)
        player.world.enabling = .failure(.unauthorized)
        player.connect()
        #expect(player.dropped.count == 1)
        #expect(player.activation.state == .enteringEmail(.init("ada@example.com")))
    }

    @Test("W13: codes are read when they are needed, again before the user leaves")
    func freshCodes() throws {
        var player = try shown()
        player.world.context.oauthCode = Secret("stale")
        player.connect()
        player.world.context.oauthCode = Secret("fresh")
        player.play(.confirmEmail("ada@example.com"))
        #expect(player.needs.last == .handoff)
        #expect(try #require(player.destination?.url).contains("&code=fresh"))
    }

    @Test("the app's own provider may fail, and says why")
    func providerFails() throws {
        var player = try shown()
        player.isSilent = true
        player.connect()
        let ticket = try #require(player.pending.last?.gatherTicket())
        player.play(.gathered(ticket, .failure(.credentials("no session"))))
        #expect(player.activation.state == .initial && player.activation.failure == .credentials("no session"))
    }

    // MARK: The email field

    @Test("W8, W26: any suggestion, also none, leads to the field; white space around it is taken away")
    func suggestions() throws {
        for (suggestion, text) in [
            ("", ""), ("not an address", "not an address"), (" ada@example.com ", "ada@example.com"),
        ] {
            var player = try shown(email: suggestion)
            player.connect()
            #expect(player.activation.state == .enteringEmail(.init(text)))
        }
    }

    @Test("F015: an invalid address is reported for two seconds, and again each time")
    func invalid() throws {
        var player = try shown()
        player.connect()
        player.play(.confirmEmail("ada at example"))
        #expect(player.activation.state == .enteringEmail(.init("ada at example", isInvalid: true)))
        let deadline = try #require(player.deadline)
        #expect(player.effects.last == .start(deadline, seconds: 2))
        player.play(.deadlinePassed(deadline))
        #expect(player.activation.state == .enteringEmail(.init("ada at example")))
        player.play(.confirmEmail("x"))
        let second = try #require(player.deadline)
        player.play(.confirmEmail("x"))
        player.play(.deadlinePassed(deadline), .deadlinePassed(second))
        #expect(player.activation.state == .enteringEmail(.init("x", isInvalid: true)))
        #expect(player.activation.refusals == 3)
        player.play(.deadlinePassed(try #require(player.deadline)))
        #expect(player.activation.state == .enteringEmail(.init("x")))
    }

    @Test("F017: an address that the service finds malformed is reported as invalid")
    func malformedAddress() throws {
        var player = try shown()
        player.world.account = .couldNotAsk(.service(status: 422, code: "invalid_parameters", message: nil))
        player.connect()
        player.play(.confirmEmail("ada@example.com"))
        #expect(player.activation.state == .enteringEmail(.init("ada@example.com", isInvalid: true)))
        #expect(player.activation.failure == nil && player.activation.refusals == 1 && player.outcomes.isEmpty)
    }

    @Test("F013: what was confirmed stays in the field, at most 320 characters of it")
    func typed() throws {
        var player = try shown()
        player.connect()
        player.play(.confirmEmail(String(repeating: "x", count: 1_000_000)))
        #expect(
            player.activation.state == .enteringEmail(.init(String(repeating: "x", count: 320), isInvalid: true)))
    }

    // MARK: Leaving

    @Test("F034: an app or a browser that cannot be opened, and no other way, is told, and one can try again")
    func openingFailed() throws {
        for (hasApp, reason) in [(true, Failure.appNotOpened), (false, .browserNotOpened)] {
            var player = try shown()
            player.world.context.isAppInstalled = hasApp
            player.world.context.canOpenPages = !hasApp
            player.world.context.hasUserToken = true
            player.world.user = .login("ada_l")
            player.connect()
            player.play(.openingFailed(try #require(player.openTicket)))
            #expect(player.activation.state == .initial && player.activation.failure == reason)
            player.connect()
            #expect(player.activation.state == .goingToService(hasApp ? .app : .web))
        }
    }

    @Test("F034: an app that cannot be opened is told, and the pages take its place until the user was there")
    func withoutTheApp() throws {
        var player = try shown()
        player.world.context.isAppInstalled = true
        player.world.context.hasUserToken = true
        player.world.user = .login("ada_l")
        player.connect()
        player.isSilent = true
        player.play(.openingFailed(try #require(player.openTicket)))
        #expect(player.activation.state == .verifying && player.activation.failure == .appNotOpened)
        guard case .gather(let ticket, .handoff)? = player.pending.last else {
            Issue.record("\(player.pending)")
            return
        }
        player.isSilent = false
        player.play(.gathered(ticket, .success(player.world.context)))
        #expect(player.activation.state == .goingToService(.web) && player.activation.failure == nil)
        #expect(try #require(player.destination?.url).contains("&username=ada_l"))
        player.play(.cancel)
        player.connect()
        #expect(player.activation.state == .goingToService(.web))
    }

    @Test("F060: without a browser and without the app it cannot work")
    func unavailable() throws {
        var player = try shown()
        player.world.context.canOpenPages = false
        player.connect()
        #expect(player.activation.state == .unavailable)
    }

    @Test("F034: an app that cannot be opened and is the only way is tried again")
    func onlyTheApp() throws {
        var player = try shown()
        player.world.context.isAppInstalled = true
        player.world.context.canOpenPages = false
        player.connect()
        player.play(.openingFailed(try #require(player.openTicket)))
        player.connect()
        #expect(player.activation.state == .goingToService(.app))
    }

    @Test("F060: without a browser and without the app it is hidden from the first look on, said once, and back again")
    func hidden() throws {
        var player = try Player()
        player.world.context.canOpenPages = false
        player.play(.appeared, .refresh)
        #expect(player.states == [.loading, .unavailable] && player.outcomes == [.failed(.browserNotOpened)])
        player.world.context.isAppInstalled = true
        player.play(.refresh)
        #expect(player.activation.state == .initial && player.activation.failure == nil)
        #expect(player.reports.count == 1, "it was not shown before")
    }

    @Test("F060: what is on is shown without a way to the service, too: it can be turned off")
    func hiddenOnlyWhenOff() throws {
        var player = try Player(.enabled)
        player.world.context.canOpenPages = false
        player.play(.appeared, .disconnect, .confirmDisconnection)
        #expect(player.activation.state == .disconnected)
    }

    @Test("F032: closing the page leads back to Connect without a failure, and a late notice of it does nothing")
    func closed() throws {
        var player = try shown()
        player.world.context.hasUserToken = true
        player.world.user = .login("ada_l")
        player.connect()
        let first = try #require(player.openTicket)
        player.play(.browserClosed(first))
        #expect(player.activation.state == .initial && player.activation.failure == nil)
        #expect(player.outcomes == [.cancelled])
        player.connect()
        player.play(.browserClosed(first))
        #expect(player.activation.state == .goingToService(.web))
        try player.comeBack()
        player.play(.browserClosed(try #require(player.openTicket)))
        #expect(player.activation.state == .connected && player.outcomes.count == 2)
    }

    @Test("double taps: a second wish changes nothing, wherever the first has led")
    func doubleTaps() throws {
        var player = try Player()
        player.world.context.hasUserToken = true
        player.play(.appeared)
        player.isSilent = true
        player.connect()
        let before = player.activation
        player.connect()
        player.play(.disconnect, .confirmDisconnection, .confirmEmail("ada@example.com"), .appeared, .retryLoading)
        #expect(player.activation == before)
    }

    @Test("answers that come twice, late or without a question change nothing")
    func lateAnswers() throws {
        var player = try shown()
        player.isSilent = true
        player.connect()
        let ticket = try #require(player.pending.last?.gatherTicket())
        player.play(.cancel)
        let before = player.activation
        player.play(
            .gathered(ticket, .success(.init())), .userLookedUp(ticket, .login("eve")),
            .accountLookedUp(ticket, .exists), .enabled(ticket, .success(try Balcony.connection())),
            .disabled(ticket, .success(try Balcony.connection(.disabled))),
            .fetched(ticket, .success(try Balcony.connection())), .openingFailed(ticket), .browserClosed(ticket))
        #expect(player.activation == before)
    }

    // MARK: Turning off

    @Test("F040, F042, W1: turning off asks first, then tells, then is off")
    func confirmed() throws {
        var player = try shown(.enabled)
        player.play(.disconnect, .disconnect)
        #expect(player.activation.state == .confirmingDisconnection)
        player.play(.keepConnection)
        #expect(player.activation.state == .connected && player.outcomes.isEmpty)
        player.play(.disconnect, .confirmDisconnection)
        #expect(player.activation.state == .disconnected)
        #expect(player.outcomes == [.disconnected(try Balcony.connection(.disabled))])
        #expect(player.effects.last == .start(try #require(player.deadline), seconds: 2))
        player.play(.deadlinePassed(try #require(player.deadline)))
        #expect(player.states.suffix(4) == [.confirmingDisconnection, .disconnecting, .disconnected, .initial])
    }

    @Test("W1: turning off can be taken back, until the time is over")
    func undo() throws {
        var player = try Player(.enabled) { $0.disconnection = .undoable(seconds: 5) }
        player.play(.appeared, .disconnect)
        #expect(player.activation.state == .undoableDisconnection(seconds: 5))
        let first = try #require(player.deadline)
        player.play(.keepConnection)
        player.play(.deadlinePassed(first))
        #expect(player.activation.state == .connected && player.effects.contains(.cancel(first)))
        player.play(.disconnect)
        player.play(.deadlinePassed(first))
        #expect(player.activation.state == .undoableDisconnection(seconds: 5))
        player.play(.deadlinePassed(try #require(player.deadline)))
        #expect(player.activation.state == .disconnected)
    }

    @Test("who says so turns off with one tap")
    func immediate() throws {
        var player = try Player(.enabled) { $0.disconnection = .immediate }
        player.play(.appeared, .disconnect)
        #expect(player.activation.state == .disconnected)
    }

    @Test("F041, W7: turning off that fails leads back to connected, with the reason")
    func disconnectFails() throws {
        for reason in [Failure.unreachable, .service(status: 500, code: nil, message: nil)] {
            var player = try shown(.enabled)
            player.world.disabling = .failure(reason)
            player.play(.disconnect, .confirmDisconnection)
            #expect(player.activation.state == .connected && player.activation.failure == reason)
            #expect(player.outcomes == [.failed(reason)] && player.dropped.isEmpty)
        }
    }

    @Test("F041: a connection that is not there is not said to be on for ever: how it stands is asked")
    func disconnectMissing() throws {
        for (found, state) in [
            (Result<Connection, Failure>.success(try Balcony.connection(.disabled)), State.disconnected),
            (.success(try Balcony.connection(.unknown)), .disconnected), (.failure(.notFound), .loadingFailed),
            (.success(try Balcony.connection(.enabled)), .connected), (.failure(.unreachable), .connected),
        ] {
            for answer in [
                Result<Connection, Failure>.failure(.notFound), .success(try Balcony.connection(.unknown)),
            ] {
                var player = try shown(.enabled)
                player.world.disabling = answer
                player.world.connection = found
                player.play(.disconnect, .confirmDisconnection)
                #expect(player.activation.state == state && player.outcomes.count == 1)
            }
        }
    }

    @Test("a service that says yes and leaves it on is not believed")
    func stillOn() throws {
        var player = try shown(.enabled)
        player.world.disabling = .success(try Balcony.connection(.enabled))
        player.play(.disconnect, .confirmDisconnection)
        #expect(player.activation.state == .connected && player.activation.failure == .notConfirmed(.enabled))
    }

    @Test("F041: what IFTTT did not do is said without its own word for the state")
    func notConfirmed() {
        #expect(
            "\(Failure.notConfirmed(.enabled))" == "IFTTT did not turn the connection off. It is still on. Try again.")
        for status in [Connection.Status.disabled, .neverEnabled] {
            #expect(
                "\(Failure.notConfirmed(status))" == "IFTTT did not turn the connection on. It is off. Try again.")
        }
    }

    @Test("F077: what to do after a failure of IFTTT is a sentence with its full stop")
    func sentences() {
        let failures = [
            Failure.service(status: 503, code: nil, message: nil), .refusedByService(type: "limit"),
            .refusedByService(type: nil),
        ]
        for failure in failures { #expect("\(failure)".hasSuffix("."), "\(failure)") }
    }

    @Test("it can be turned on again while the notice is still shown")
    func onAgain() throws {
        var player = try shown(.enabled)
        player.play(.disconnect, .confirmDisconnection)
        let notice = try #require(player.deadline)
        player.connect()
        player.play(.deadlinePassed(notice))
        #expect(player.activation.state == .enteringEmail(.init("ada@example.com")))
    }

    // MARK: Analytics

    @Test("F099: the events of a new user's run, in their order")
    func analytics() throws {
        var player = try Player { $0.appName = "Garden App" }
        player.play(.appeared)
        player.connect()
        player.play(.confirmEmail("nonsense"), .confirmEmail("ada@example.com"))
        try player.comeBack()
        player.play(.disconnect, .confirmDisconnection)
        let id = ConnectionID(rawValue: Balcony.id)
        let before = try Balcony.connection(.neverEnabled)
        #expect(
            player.reports
                == [
                    .connectionShown(before, appName: "Garden App"), id.map(AnalyticsEvent.emailShown),
                    id.map(AnalyticsEvent.emailConfirmed), id.map(AnalyticsEvent.emailConfirmed),
                    .connectionClicked(before), .turnedOn(before), id.map(AnalyticsEvent.connectingShown),
                    .connectionClicked(try Balcony.connection()),
                ].compactMap(\.self))
    }
}
