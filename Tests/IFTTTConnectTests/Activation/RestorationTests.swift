import Foundation
import IFTTTConnect
import OAuth
import Testing

@Suite("An activation in another process")
struct RestorationTests {
    private func shown(_ status: Connection.Status = .neverEnabled) throws -> Player {
        var player = try Player(status)
        player.play(.appeared)
        return player
    }

    private func reborn(_ player: Player) throws -> ConnectActivation {
        try JSONDecoder().decode(ConnectActivation.self, from: JSONEncoder().encode(player.activation))
    }

    @Test("an activation survives the app being killed while the browser is open")
    func survives() throws {
        var player = try shown()
        player.connect()
        player.play(.confirmEmail("ada@example.com"))
        let redirect = try player.redirect("next_step=complete&user_token=t1")
        player.activation = try reborn(player)
        player.play(.restored)
        player.open(redirect, at: 1001)
        #expect(player.activation.state == .connected && player.storedTokens == ["t1"])
    }

    @Test("what is stored holds no token and no code")
    func storesNoSecret() throws {
        var player = try shown()
        player.world.context.isAppInstalled = true
        player.world.context.oauthCode = Secret("oauth-code-1")
        player.world.context.inviteCode = Secret("invite-code-1")
        player.connect()
        var stored = String(decoding: try JSONEncoder().encode(player.activation), as: UTF8.self)
        try player.comeBack("next_step=complete&user_token=user-token-1")
        stored += String(decoding: try JSONEncoder().encode(player.activation), as: UTF8.self)
        for secret in ["oauth-code-1", "invite-code-1", "user-token-1"] { #expect(!stored.contains(secret)) }
    }

    @Test("a process that ended while it waited for an answer goes on where the user can decide")
    func restored() throws {
        var player = try Player()
        player.world.context.hasUserToken = true
        player.play(.appeared)
        player.isSilent = true
        player.connect()
        player.activation = try reborn(player)
        player.isSilent = false
        player.play(.restored)
        #expect(player.activation.state == .initial)

        var disconnecting = try shown(.enabled)
        disconnecting.isSilent = true
        disconnecting.play(.disconnect, .confirmDisconnection)
        disconnecting.activation = try reborn(disconnecting)
        disconnecting.isSilent = false
        disconnecting.world.connection = .success(try Balcony.connection(.disabled))
        disconnecting.play(.restored)
        #expect(disconnecting.activation.state == .initial)
    }

    @Test("W1: a disconnection that could still be undone when its run ended is done when the next one begins")
    func undoable() throws {
        var player = try Player(.enabled) { $0.disconnection = .undoable(seconds: 5) }
        player.play(.appeared, .disconnect)
        player.activation = try reborn(player)
        player.play(.restored)
        #expect(player.activation.state == .disconnected)
        #expect(player.outcomes == [.disconnected(try Balcony.connection(.disabled))])
    }

    @Test("a process that ended while a redirect was being confirmed asks again")
    func restoredWhileConfirming() throws {
        var player = try shown()
        player.world.context.hasUserToken = true
        player.world.user = .login("ada_l")
        player.connect()
        player.isSilent = true
        try player.comeBack()
        #expect(player.activation.state == .connecting)
        player.activation = try reborn(player)
        player.isSilent = false
        player.play(.restored)
        #expect(player.activation.state == .connected)
    }

    /// The moments at which a process can end after Keep: before the answer to turning off, and before the one to turning on again.
    enum Moment: CaseIterable { case turningOff, turningOnAgain }

    /// A user who has pressed Keep while the connection was turned off, in the next process.
    private func kept(_ moment: Moment) throws -> Player {
        var player = try shown(.enabled)
        player.isSilent = true
        player.play(.disconnect, .confirmDisconnection)
        let ticket = try #require(
            player.pending.lazy.compactMap { if case .disable(let ticket) = $0 { ticket } else { nil } }.last)
        player.play(.keepConnection)
        if moment == .turningOnAgain { player.play(.disabled(ticket, .success(try Balcony.connection(.disabled)))) }
        #expect(player.activation.state == .connecting && player.outcomes.isEmpty)
        player.activation = try reborn(player)
        player.isSilent = false
        return player
    }

    @Test("Keep before a process ended turns it on again in the next one", arguments: Moment.allCases)
    func keptBefore(_ moment: Moment) throws {
        var player = try kept(moment)
        player.world.connection = .success(try Balcony.connection(.disabled))
        player.world.enabling = .success(try Balcony.connection(.enabled))
        player.play(.restored)
        #expect(player.activation.state == .connected && player.outcomes.isEmpty)
    }

    @Test("Keep before a process ended ends nothing that was never off", arguments: Moment.allCases)
    func keptInTime(_ moment: Moment) throws {
        var player = try kept(moment)
        player.play(.restored)
        #expect(player.activation.state == .connected && player.outcomes.isEmpty)
    }

    @Test("Keep that cannot be made good in the next process is told to the user and to the app")
    func keptInVain() throws {
        var player = try kept(.turningOnAgain)
        player.world.connection = .failure(.unreachable)
        player.play(.restored)
        #expect(player.activation.state == .initial && player.activation.failure == .unreachable)
        #expect(player.outcomes == [.disconnected(try Balcony.connection(.disabled)), .failed(.unreachable)])

        var unknown = try kept(.turningOff)
        unknown.world.connection = .failure(.unreachable)
        unknown.play(.restored)
        #expect(unknown.activation.state == .connected && unknown.activation.failure == .unreachable)
        #expect(unknown.outcomes == [.failed(.unreachable)])
    }

    @Test("Keep in vain because IFTTT refuses the user token is told to the user and to the app")
    func keptWithoutUser() throws {
        var player = try kept(.turningOnAgain)
        player.world.connection = .failure(.unauthorized)
        player.play(.restored)
        #expect(player.activation.state == .initial && player.activation.failure == .unauthorized)
        #expect(player.outcomes == [.disconnected(try Balcony.connection(.disabled)), .failed(.unauthorized)])
        #expect(player.dropped.count == 1)
    }

    @Test("F060: a button that had no way to IFTTT is there again in the next process, which may have one")
    func unavailable() throws {
        var player = try shown()
        player.world.context.canOpenPages = false
        player.connect()
        #expect(player.activation.state == .unavailable)
        player.activation = try reborn(player)
        player.play(.restored)
        #expect(player.activation.state == .unavailable)
        player.activation = try reborn(player)
        player.world.context.canOpenPages = true
        player.play(.restored)
        #expect(player.activation.state == .initial)
        player.connect()
        #expect(player.activation.state == .enteringEmail(.init("ada@example.com")))
    }

    @Test("an address that was marked as none is not marked for ever, since the time of the mark is gone")
    func markedAddress() throws {
        var player = try shown()
        player.connect()
        player.play(.confirmEmail("ada"))
        player.activation = try reborn(player)
        player.play(.restored)
        #expect(player.activation.state == .enteringEmail(.init("ada")))
    }

    @Test("a restarted activation ignores answers to earlier questions")
    func restarted() throws {
        for isLoaded in [true, false] {
            var player = try shown()
            player.isSilent = true
            player.play(.refresh)
            let old = try #require(player.pending.last?.fetchTicket)
            player.activation = player.activation.restarted(player.activation.configuration, isLoaded: isLoaded)
            #expect(player.activation.state == (isLoaded ? .initial : .idle))
            player.play(.appeared)
            // As many questions as there were before: none of them bears a number of theirs.
            for _ in 0..<5 {
                player.play(.refresh)
                player.play(.fetched(old, .success(try Balcony.connection())))
                #expect(player.activation.state == (isLoaded ? .initial : .loading))
                guard !isLoaded else { continue }
                let new = try #require(player.pending.last?.fetchTicket)
                player.play(.fetched(new, .failure(.notFound)))
                player.play(.retryLoading)
            }
        }
    }

    @Test("an answer counts only for the question that it answers")
    func otherQuestion() throws {
        var player = try shown()
        player.isSilent = true
        player.play(.refresh)
        let ticket = try #require(player.pending.last?.fetchTicket)
        player.play(
            .gathered(ticket, .success(.init())), .disabled(ticket, .success(try Balcony.connection(.disabled))))
        player.play(.fetched(ticket, .success(try Balcony.connection())))
        #expect(player.activation.state == .connected)
    }

    @Test("a stored activation is validated when it is decoded")
    func damaged() throws {
        let player = try shown()
        let stored = String(decoding: try JSONEncoder().encode(player.activation), as: UTF8.self)
        for (good, bad) in [("aB3dE5fG", "../../x"), ("gardenapp:", "javascript:")] {
            let changed = stored.replacing(good, with: bad)
            #expect(changed != stored)
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode(ConnectActivation.self, from: Data(changed.utf8))
            }
        }
    }
}
