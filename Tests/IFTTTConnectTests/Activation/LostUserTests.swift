import Foundation
import IFTTTConnect
import OAuth
import Testing

@Suite("Users whom IFTTT no longer knows (10.2, W10)")
struct LostUserTests {
    private func on(_ change: (inout ConnectActivation.Configuration) -> Void = { _ in }) throws -> Player {
        var player = try Player(.enabled, change: change)
        player.world.context.hasUserToken = true
        player.world.connectionAfterDropping = .success(try Balcony.connection(.unknown))
        player.play(.appeared)
        return player
    }

    @Test("F041: turning off that fails for an expired token leads to connecting again, and that works")
    func disconnecting() throws {
        var player = try on()
        player.world.disabling = .failure(.unauthorized)
        player.play(.disconnect, .confirmDisconnection)
        #expect(player.activation.state == .initial && player.activation.failure == .unauthorized)
        #expect(player.dropped.count == 1 && player.outcomes == [.failed(.unauthorized)])
        player.play(.refresh)
        #expect(player.activation.state == .initial && player.activation.failure == .unauthorized)
        player.connect()
        player.play(.confirmEmail("ada@example.com"))
        player.world.connectionAfter = .success(try Balcony.connection())
        try player.comeBack()
        #expect(player.activation.state == .connected && player.activation.failure == nil)
        #expect(player.storedTokens == ["t1"])
    }

    @Test("a look with an expired token is repeated without it, and a button that was on says why it is off")
    func looking() throws {
        var player = try on()
        player.world.connection = .failure(.unauthorized)
        player.play(.refresh)
        #expect(player.activation.state == .initial && player.activation.failure == .unauthorized)
        #expect(player.outcomes.isEmpty, "nothing that the user has begun has ended")
    }

    @Test("a look with an expired token is repeated with the newer one that there is, and the button stays on")
    func renewed() throws {
        var player = try on()
        player.world.connection = .failure(.unauthorized)
        player.world.connectionAfterDropping = .success(try Balcony.connection())
        player.play(.refresh)
        #expect(player.activation.state == .connected && player.activation.failure == nil)
        #expect(player.states == [.loading, .connected])
        #expect(player.dropped.count == 1 && player.effects.compactMap(\.fetchTicket).count == 3)
    }

    @Test("a service that refuses everything is not asked for ever")
    func refusingAll() throws {
        var player = try on()
        player.world.connection = .failure(.unauthorized)
        player.world.connectionAfterDropping = nil
        player.play(.refresh)
        #expect(player.activation.state == .connected && player.dropped.count == 2)
        player.world.connection = .success(try Balcony.connection(.unknown))
        player.play(.refresh)
        #expect(player.activation.state == .initial && player.activation.failure == .unauthorized)
    }

    @Test("a connection whose redirect brought no token stays on when one looks without: nothing was refused")
    func tokenless() throws {
        var player = try Player()
        player.play(.appeared)
        player.connect()
        player.play(.confirmEmail("ada@example.com"))
        player.world.connectionAfter = .success(try Balcony.connection(.unknown))
        try player.comeBack("next_step=complete")
        player.play(.refresh, .refresh)
        #expect(player.activation.state == .connected)
    }

    @Test("what an earlier process has stored as on is not believed once its token has expired")
    func restored() throws {
        var player = try on()
        player.activation = try JSONDecoder().decode(
            ConnectActivation.self, from: JSONEncoder().encode(player.activation))
        player.world.connection = .failure(.unauthorized)
        player.play(.restored)
        #expect(player.activation.state == .initial && player.activation.failure == .unauthorized)
    }

    @Test("a prefetched connection is not believed once its token has expired")
    func prefetched() throws {
        var player = try on()
        player.activation = try ConnectActivation(Player.configuration(), prefetched: Balcony.connection())
        player.world.connection = .failure(.unauthorized)
        player.play(.appeared, .refresh)
        #expect(player.activation.state == .initial)
    }

    @Test("F106: after logging out nothing is known of the user, and a redirect of theirs is refused")
    func signedOut() throws {
        var player = try on()
        player.world.connection = .success(try Balcony.connection(.unknown))
        player.play(.signedOut)
        #expect(player.activation.state == .initial && player.activation.failure == nil)
        #expect(player.effects.contains(.forgetToken) && player.outcomes.isEmpty)

        var leaving = try Player()
        leaving.play(.appeared)
        leaving.connect()
        leaving.world.connectionAfter = .success(try Balcony.connection(.unknown))
        leaving.play(.confirmEmail("ada@example.com"), .signedOut)
        try leaving.comeBack()
        #expect(leaving.activation.state == .initial && leaving.storedTokens.isEmpty)
        #expect(leaving.refusals == [.noPendingAttempt] && leaving.outcomes == [.cancelled])
        #expect(leaving.effects.contains(.closeBrowser))
    }

    @Test("F060: logging out does not show what cannot work")
    func signedOutWhileHidden() throws {
        var player = try Player()
        player.world.context.canOpenPages = false
        player.play(.appeared, .signedOut)
        #expect(player.activation.state == .unavailable && player.effects.last == .forgetToken)
    }

    @Test("logging out while the connection is loaded loads it again, anonymously")
    func signedOutWhileLoading() throws {
        var player = try Player(.enabled)
        player.isSilent = true
        player.play(.appeared)
        let first = try #require(player.pending.last?.fetchTicket)
        player.play(.signedOut)
        player.play(.fetched(first, .success(try Balcony.connection())))
        #expect(player.activation.state == .loading)
    }
}
