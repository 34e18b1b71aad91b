import IFTTTConnect
import OAuth
import Testing

private typealias Failure = ConnectActivation.Failure

@Suite("Redirects")
struct RedirectTests {
    /// An activation whose user is at the service.
    private func away(change: (inout ConnectActivation.Configuration) -> Void = { _ in }) throws -> Player {
        var player = try Player(change: change)
        player.world.context.hasUserToken = true
        player.world.user = .login("ada_l")
        player.play(.appeared)
        player.connect()
        return player
    }

    @Test(
        "12, F031, F033: what a redirect says becomes a typed outcome",
        arguments: [
            ("next_step=error&error_type=account_creation", Failure.accountCreationFailed),
            ("next_step=error&error_type=auth_error", .refusedByService(type: "auth_error")),
            ("next_step=error&error_type=verification_failed", .refusedByService(type: "verification_failed")),
            (
                "next_step=error&error_type=connection_request_failed",
                .refusedByService(type: "connection_request_failed")
            ),
            ("next_step=error", .refusedByService(type: nil)),
            ("next_step=user_cancelled_configuration", .configurationCancelled),
            ("next_step=other", .unknownRedirect), ("", .unknownRedirect), ("user_token=t1", .unknownRedirect),
            ("next_step=complete&user_token=a%20b", .unknownRedirect),
            ("next_step=complete&user_token=%C3%A9", .unknownRedirect),
        ])
    func failures(_ items: String, _ expected: ConnectActivation.Failure) throws {
        var player = try away()
        try player.comeBack(items)
        #expect(player.activation.state == .initial && player.activation.failure == expected)
        #expect(player.outcomes == [.failed(expected)])
        #expect(player.storedTokens.isEmpty)
        // It was this attempt's answer: no other one counts after it.
        try player.comeBack()
        #expect(player.refusals == [.noPendingAttempt] && player.activation.state == .initial)
    }

    @Test("12, F030: a complete redirect is success with its token, or without one")
    func complete() throws {
        for (items, tokens) in [("next_step=complete&user_token=t1", ["t1"]), ("next_step=complete", [])] {
            var player = try away()
            try player.comeBack(items)
            #expect(player.activation.state == .connected && player.storedTokens == tokens)
        }
    }

    @Test("a plus in a token stays one")
    func plus() throws {
        var player = try away()
        try player.comeBack("next_step=complete&user_token=a+b%2Bc/d%3D")
        #expect(player.storedTokens == ["a+b+c/d="])
    }

    @Test("W14: a token in the redirect is not looked at where the partner's server delivers it")
    func partnerServer() throws {
        var player = try away()
        player.activation = player.activation.taking(.partnerServer { nil })
        try player.comeBack()
        #expect(player.activation.state == .connected && player.storedTokens.isEmpty)
    }

    @Test(
        "F029, W9: a URL elsewhere is not the kit's",
        arguments: [
            "otherapp://connect_callback?next_step=complete&user_token=t1", "gardenapp://connect_callbac",
            "gardenapp://connect_callback/x?next_step=complete", "gardenapp:connect_callback?next_step=complete",
            "gardenapp://evil@connect_callback?next_step=complete", "", "gardenapp", "://", "gardenapp://",
            "https://connect_callback?next_step=complete", "javascript:alert(1)",
            "gardenapp://connect_callback" + String(repeating: "x", count: 100_000),
        ])
    func foreign(_ url: String) throws {
        var player = try away()
        player.open(url, at: 1001)
        #expect(player.refusals == [.foreign] && player.activation.state == .goingToService(.web))
        #expect(player.storedTokens.isEmpty && player.outcomes.isEmpty)
        #expect(throws: RedirectRefusal.foreign) { try player.activation.configuration.redirect.redirect(from: url) }
    }

    @Test(
        "W9: an injected token is refused, and the attempt goes on",
        arguments: [
            ("gardenapp://connect_callback?next_step=complete&user_token=theirs", RedirectRefusal.stateMissing),
            ("gardenapp://connect_callback?state=&next_step=complete&user_token=theirs", .otherAttempt),
            ("gardenapp://connect_callback?state=guessed&next_step=complete&user_token=theirs", .otherAttempt),
            ("GARDENAPP://Connect_Callback?next_step=complete&user_token=theirs", .stateMissing),
            ("gardenapp://connect_callback?next_step=complete&user_token=theirs#state=x", .stateMissing),
            ("gardenapp://connect_callback?next_step=error", .stateMissing),
        ])
    func injected(_ url: String, _ expected: RedirectRefusal) throws {
        var player = try away()
        player.open(url, at: 1001)
        #expect(player.refusals == [expected] && player.activation.state == .goingToService(.web))
        #expect(player.storedTokens.isEmpty)
        try player.comeBack()
        #expect(player.storedTokens == ["t1"])
    }

    @Test(
        "a redirect that says something twice, or cannot be decoded, is refused",
        arguments: [
            "next_step=complete&user_token=t1&user_token=t2", "next_step=error&next_step=complete&user_token=t1",
            "next_step=complete&user_token=%", "next_step=complete&user_token=%zz",
            "next_step=complete&user_token=a%00b", "next_step=complete&state=x", "%FF=1",
        ])
    func unreadable(_ items: String) throws {
        var player = try away()
        try player.comeBack(items)
        #expect(player.refusals == [.unreadable] && player.storedTokens.isEmpty)
    }

    @Test("a redirect that is replayed counts once")
    func replayed() throws {
        var player = try away()
        try player.comeBack()
        let stored = player.storedTokens
        try player.comeBack()
        #expect(player.refusals == [.noPendingAttempt] && player.storedTokens == stored)
        #expect(player.outcomes.count == 1 && player.activation.state == .connected)
    }

    @Test("a redirect before anyone was sent away, and one of another button, are refused")
    func early() throws {
        var other = try away()
        var player = try Player(email: "")
        player.play(.appeared)
        player.open(try other.redirect("next_step=complete&user_token=t1"), at: 1001)
        player.connect(at: 2000)
        player.open("gardenapp://connect_callback?state=x&next_step=complete", at: 2001)
        #expect(player.refusals == [.noPendingAttempt, .otherAttempt])
        try other.comeBack()
        #expect(other.activation.state == .connected)
    }

    @Test("the right state before the user was sent away does not count either")
    func beforeLeaving() throws {
        var twin = try away()
        var player = try Player()
        player.play(.appeared)
        player.connect()
        // Drawn from the same bytes as the twin's: a state that only this machine can know, too early.
        player.open(try twin.redirect("next_step=complete&user_token=t1"), at: 1001)
        #expect(player.refusals == [.noPendingAttempt] && player.storedTokens.isEmpty)
        try twin.comeBack()
    }

    @Test(
        "a redirect that tells of no success is refused after the attempt was cancelled",
        arguments: [
            "next_step=error", "next_step=error&error_type=account_creation", "next_step=user_cancelled_configuration",
            "", "user_token=t1", "next_step=complete&user_token=a%20b",
        ])
    func cancelled(_ items: String) throws {
        var player = try away()
        player.play(.cancel)
        #expect(player.effects.contains(.closeBrowser) && player.outcomes == [.cancelled])
        try player.comeBack(items)
        #expect(player.refusals == [.noPendingAttempt] && player.activation.state == .initial)
        #expect(player.activation.failure == nil && player.storedTokens.isEmpty)
    }

    @Test(
        "clock jumps: a redirect after the lifetime is too late, one before the beginning is not",
        arguments: [(1000 + 3600.0, false), (1000 + 3599.0, true), (10, true), (1e12, false), (.infinity, false)])
    func time(_ time: Double, _ counts: Bool) throws {
        var player = try away()
        if !counts { player.world.connectionAfter = player.world.connection }
        try player.comeBack(at: time)
        #expect(player.activation.state == (counts ? .connected : .initial))
        #expect(player.activation.failure == (counts ? nil : .attemptExpired))
        // What the service has done all the same is seen.
        #expect(counts || player.effects.contains { if case .fetch = $0 { true } else { false } })
    }

    @Test("a time that is no number counts as too late")
    func notANumber() throws {
        var player = try away()
        player.world.connectionAfter = player.world.connection
        try player.comeBack(at: .nan)
        #expect(player.activation.failure == .attemptExpired)
    }

    @Test(
        "an address that cannot be returned to is refused when it is given",
        arguments: [
            "", "gardenapp", "javascript:alert(1)", "data:text/html,x", "http://garden.example/callback",
            "https://garden.example/cb#x", "gardenapp://cb?state=1", "gardenapp://cb?user_token=1", "garden app://cb",
            "https://user@garden.example/", "gardenapp://cb\u{0}", "1app://cb", "gardenapp:",
        ])
    func returnAddresses(_ text: String) {
        #expect { try CallbackURL(text) } throws: { ($0 as? ConnectError)?.code == "invalid_input" }
    }

    @Test("an https address keeps its own query, and all of it has to come back")
    func claimed() throws {
        var player = try away {
            $0.redirect = CallbackURL(rawValue: "https://garden.example/back?lang=de") ?? $0.redirect
        }
        let url = try #require(player.destination?.url)
        #expect(url.contains("sdk_return_to=https://garden.example/back?lang%3Dde%26state%3D"))
        let state = try #require(url.split(separator: "state%3D").last?.prefix { $0 != "&" })
        player.open("https://garden.example/back?state=\(state)&next_step=complete", at: 1001)
        #expect(player.refusals == [.foreign])
        player.open("https://GARDEN.example/back?lang=de&state=\(state)&next_step=complete", at: 1001)
        #expect(player.activation.state == .connected)
    }

    @Test(
        "F028: an address comes back as browsers spell it (RFC 3986, 6.2.3)",
        arguments: [
            ("https://garden.example", "https://garden.example/", true),
            ("https://garden.example?a=1", "https://garden.example/?a=1", true),
            ("https://garden.example/", "https://garden.example", true),
            ("https://Garden.example:443/cb", "https://garden.example/cb", true),
            ("https://garden.example/cb", "https://garden.example:443/cb", true),
            ("http://127.0.0.1:80/cb", "http://127.0.0.1/cb", true),
            ("https://garden.example:8443/cb", "https://garden.example/cb", false),
            ("https://garden.example/cb", "https://garden.example/cb/", false),
            ("https://garden.example/cb", "https://garden.example/CB", false),
            ("https://garden.example", "https://garden.example.evil.example/", false),
            ("https://kite.example/cb", "https://\u{212A}ite.example/cb", false),
            ("gardenapp://cb", "GARDENAPP://CB", true), ("gardenapp://cb", "gardenapp://cb/", false),
        ])
    func spelled(_ address: String, _ url: String, _ isSame: Bool) throws {
        let callback = try CallbackURL(address)
        if isSame {
            #expect(throws: Never.self) { try callback.redirect(from: url) }
        } else {
            #expect(throws: RedirectRefusal.foreign) { try callback.redirect(from: url) }
        }
    }

    @Test("W15: a redirect that the service contradicts is not believed")
    func contradicted() throws {
        var player = try away()
        player.world.connectionAfter = .success(try Balcony.connection(.neverEnabled))
        try player.comeBack()
        #expect(player.activation.state == .initial && player.activation.failure == .notConfirmed(.neverEnabled))
    }

    @Test("a redirect that cannot be confirmed is believed, and said to be unconfirmed")
    func unconfirmed() throws {
        for answer: Result<Connection, ConnectActivation.Failure> in [
            .success(try Balcony.connection(.unknown)), .failure(.unreachable),
        ] {
            var player = try away()
            player.world.connectionAfter = answer
            try player.comeBack("next_step=complete")
            guard case .connected(let connection, false, false)? = player.outcomes.first else {
                Issue.record("\(player.outcomes)")
                return
            }
            #expect(connection.status == .enabled && player.activation.state == .connected)
        }
    }
}
