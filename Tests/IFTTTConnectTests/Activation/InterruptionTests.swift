import Foundation
import Testing

@testable import IFTTTConnect

/// What a user takes back while the service is at work on it: nothing that the service does afterwards stays silent.
@Suite("Cancel and Keep in the middle of a call")
struct InterruptionTests {
    /// A connection that was on before and is being turned on again.
    private func enabling() throws -> (Player, ConnectActivation.Ticket) {
        var player = try Player(.disabled)
        player.world.context.hasUserToken = true
        player.play(.appeared)
        let ticket = try enable(&player)
        return (player, ticket)
    }

    /// A user who wants it on: the request is sent, and nothing is answered.
    private func enable(_ player: inout Player) throws -> ConnectActivation.Ticket {
        player.isSilent = true
        player.connect()
        let gathering = try #require(
            player.pending.lazy.compactMap { if case .gather(let ticket, _) = $0 { ticket } else { nil } }.last)
        player.play(.gathered(gathering, .success(player.world.context)))
        let ticket = try #require(
            player.pending.lazy.compactMap { if case .enable(let ticket) = $0 { ticket } else { nil } }.last)
        #expect(player.activation.state == .connecting && player.activation.isCancellable)
        return ticket
    }

    /// Two requests to turn on, both cancelled.
    private func abandonedTwice() throws -> (Player, [ConnectActivation.Ticket]) {
        var (player, first) = try enabling()
        player.play(.cancel)
        let second = try enable(&player)
        player.play(.cancel)
        #expect(player.activation.state == .initial && first != second)
        return (player, [first, second])
    }

    private func disableTickets(_ player: Player) -> [ConnectActivation.Ticket] {
        player.effects.compactMap { if case .disable(let ticket) = $0 { ticket } else { nil } }
    }

    /// Answers the two requests that turn it off, one after the other: only the newer one's answer ends it.
    private func answerBothDisablings(_ player: inout Player) throws {
        let requests = disableTickets(player)
        try #require(requests.count == 2)
        player.play(.disabled(requests[0], .success(try Balcony.connection(.disabled))))
        #expect(player.activation.state == .disconnecting)
        player.play(.disabled(requests[1], .success(try Balcony.connection(.disabled))))
        #expect(player.activation.state == .disconnected)
    }

    private func disabling() throws -> (Player, ConnectActivation.Ticket) {
        var player = try Player(.enabled)
        player.play(.appeared)
        player.isSilent = true
        player.play(.disconnect, .confirmDisconnection)
        let ticket = try #require(
            player.pending.lazy.compactMap { if case .disable(let ticket) = $0 { ticket } else { nil } }.last)
        #expect(player.activation.state == .disconnecting && player.activation.isCancellable)
        return (player, ticket)
    }

    @Test("what was turned on after Cancel is turned off again, and the user is told")
    func takenBack() throws {
        var (player, ticket) = try enabling()
        player.play(.cancel)
        #expect(player.activation.state == .initial && player.outcomes == [.cancelled])
        player.isSilent = false
        player.play(.enabled(ticket, .success(try Balcony.connection(.enabled))))
        #expect(player.states.suffix(3) == [.initial, .disconnecting, .disconnected])
        #expect(player.outcomes.last == .disconnected(try Balcony.connection(.disabled)))
    }

    @Test("what cannot be turned off again after Cancel is shown as it is, with a failure")
    func notTakenBack() throws {
        var (player, ticket) = try enabling()
        player.play(.cancel)
        player.isSilent = false
        player.world.disabling = .failure(.unreachable)
        player.play(.enabled(ticket, .success(try Balcony.connection(.enabled))))
        #expect(player.activation.state == .connected && player.activation.failure == .unreachable)
        #expect(player.outcomes.last == .failed(.unreachable))
    }

    @Test("an answer to turning on that is lost after Cancel is asked for")
    func lostAfterCancel() throws {
        var (player, ticket) = try enabling()
        player.play(.cancel)
        player.isSilent = false
        player.world.connection = .success(try Balcony.connection(.enabled))
        player.play(.enabled(ticket, .failure(.unreachable)))
        #expect(player.activation.state == .connected)
    }

    @Test("what is turned on late belongs to the attempt that the user has started since")
    func startedSince() throws {
        var (player, ticket) = try enabling()
        player.play(.cancel)
        player.connect()
        #expect(player.activation.state == .verifying)
        player.play(.enabled(ticket, .success(try Balcony.connection(.enabled))))
        #expect(player.activation.state == .connected)
        #expect(
            player.outcomes.last
                == .connected(try Balcony.connection(.enabled), isConfirmed: true, isPending: false))
    }

    @Test("of two cancelled requests each is turned off again that the service performs after all", arguments: [0, 1])
    func eachTakenBack(index: Int) throws {
        var (player, tickets) = try abandonedTwice()
        player.isSilent = false
        player.play(.enabled(tickets[index], .success(try Balcony.connection(.enabled))))
        #expect(player.states.suffix(3) == [.initial, .disconnecting, .disconnected])
        #expect(player.outcomes.last == .disconnected(try Balcony.connection(.disabled)))
    }

    @Test("a second one that is performed while the notice stands is turned off again as well")
    func duringNotice() throws {
        var (player, tickets) = try abandonedTwice()
        player.isSilent = false
        for ticket in tickets { player.play(.enabled(ticket, .success(try Balcony.connection(.enabled)))) }
        #expect(disableTickets(player).count == 2 && player.activation.state == .disconnected)
        player.play(.deadlinePassed(try #require(player.deadline)))
        #expect(player.activation.state == .initial && player.activation.connection?.status == .disabled)
    }

    @Test("a second one that is performed while the first is turned off is turned off with a newer request")
    func whileTurningOff() throws {
        var (player, tickets) = try abandonedTwice()
        for ticket in tickets { player.play(.enabled(ticket, .success(try Balcony.connection(.enabled)))) }
        try answerBothDisablings(&player)
    }

    @Test("an answer that is lost while the notice stands is asked for, and what is on is shown")
    func lostDuringNotice() throws {
        var (player, tickets) = try abandonedTwice()
        player.isSilent = false
        player.play(.enabled(tickets[0], .success(try Balcony.connection(.enabled))))
        #expect(player.activation.state == .disconnected)
        player.world.connection = .success(try Balcony.connection(.enabled))
        player.play(.enabled(tickets[1], .failure(.unreachable)))
        #expect(player.activation.state == .connected)
        player.play(.deadlinePassed(try #require(player.deadline)))
        #expect(player.activation.state == .connected)
    }

    @Test("a request whose attempt an earlier answer has completed is turned off again when it comes after turning off")
    func completedByEarlier() throws {
        var (player, first) = try enabling()
        player.play(.cancel)
        let second = try enable(&player)
        player.play(.enabled(first, .success(try Balcony.connection(.enabled))))
        #expect(player.activation.state == .connected)
        player.isSilent = false
        player.play(.disconnect, .confirmDisconnection)
        #expect(player.activation.state == .disconnected)
        player.play(.enabled(second, .success(try Balcony.connection(.enabled))))
        #expect(disableTickets(player).count == 2 && player.activation.state == .disconnected)
    }

    // MARK: Cancel while the user is at the service

    /// A user who cancels while the service's page stays open elsewhere, and the redirect with which that page ends.
    private func cancelledAway(_ player: inout Player, at time: Double = 1000) throws -> String {
        player.connect(at: time)
        player.play(.confirmEmail("ada@example.com"))
        #expect(player.activation.state == .goingToService(.web))
        let redirect = try player.redirect("next_step=complete&user_token=late")
        player.play(.cancel)
        #expect(player.activation.state == .initial && player.outcomes.last == .cancelled)
        return redirect
    }

    private func shown() throws -> Player {
        var player = try Player()
        player.play(.appeared)
        return player
    }

    @Test("F043: what the user finishes at the service after Cancel is fetched and shown, once")
    func finishedAfterCancel() throws {
        var player = try shown()
        let redirect = try cancelledAway(&player)
        player.open(redirect, at: 1001)
        #expect(player.activation.state == .connected && player.storedTokens == ["late"] && player.refusals.isEmpty)
        let connected = ConnectActivation.Outcome.connected(
            try Balcony.connection(.enabled), isConfirmed: true, isPending: false)
        #expect(player.outcomes == [.cancelled, connected])
        player.open(redirect, at: 1002)
        #expect(player.refusals == [.noPendingAttempt] && player.outcomes == [.cancelled, connected])
    }

    @Test("F043: what the service does not confirm after Cancel is a failure that the user reads")
    func notConfirmedAfterCancel() throws {
        var player = try shown()
        let redirect = try cancelledAway(&player)
        player.world.connectionAfter = .success(try Balcony.connection(.neverEnabled))
        player.open(redirect, at: 1001)
        #expect(player.activation.state == .initial && player.activation.failure == .notConfirmed(.neverEnabled))
        #expect(player.outcomes == [.cancelled, .failed(.notConfirmed(.neverEnabled))])
    }

    @Test("F043: what the user finishes after the attempt's lifetime is not believed, but asked for and told")
    func finishedTooLate() throws {
        var player = try shown()
        let redirect = try cancelledAway(&player)
        player.world.connectionAfter = player.world.connection
        player.open(redirect, at: 1000 + 3600)
        #expect(player.activation.state == .initial && player.activation.failure == .attemptExpired)
        #expect(player.storedTokens.isEmpty && player.effects.last?.fetchTicket != nil)
    }

    @Test("F043: what is finished after Cancel completes the attempt that the user has started since")
    func finishedAtEmail() throws {
        var player = try shown()
        let redirect = try cancelledAway(&player)
        player.connect(at: 1002)
        #expect(player.activation.state == .enteringEmail(.init("ada@example.com")))
        player.open(redirect, at: 1003)
        #expect(player.activation.state == .connected && player.storedTokens == ["late"])
    }

    @Test("F043: what is finished after the lifetime of a cancelled attempt leaves the one that follows")
    func finishedTooLateAtEmail() throws {
        var player = try shown()
        let redirect = try cancelledAway(&player)
        player.connect(at: 1002)
        player.open(redirect, at: 1000 + 3600)
        #expect(player.activation.state == .enteringEmail(.init("ada@example.com")) && player.refusals.isEmpty)
        #expect(player.activation.failure == nil && player.storedTokens.isEmpty && player.outcomes == [.cancelled])
        player.play(.confirmEmail("ada@example.com"))
        try player.comeBack(at: 1000 + 3601)
        #expect(player.activation.state == .connected && player.storedTokens == ["t1"])
    }

    @Test("F043, W9: of an attempt that was cancelled nothing counts while the user is at the service with another one")
    func finishedWhileAway() throws {
        var player = try shown()
        let redirect = try cancelledAway(&player)
        player.connect(at: 1002)
        player.play(.confirmEmail("ada@example.com"))
        player.open(redirect, at: 1003)
        #expect(player.refusals == [.otherAttempt] && player.activation.state == .goingToService(.web))
        try player.comeBack(at: 1004)
        #expect(player.activation.state == .connected && player.storedTokens == ["t1"])
    }

    @Test("F043: what is finished after Cancel and is on already is asked for, and its token is not taken")
    func finishedWhileOn() throws {
        var player = try shown()
        let redirect = try cancelledAway(&player)
        player.connect(at: 1002)
        player.play(.confirmEmail("ada@example.com"))
        try player.comeBack(at: 1003)
        let fetches = player.effects.count { $0.fetchTicket != nil }
        player.open(redirect, at: 1004)
        #expect(player.activation.state == .connected && player.storedTokens == ["t1"] && player.refusals.isEmpty)
        #expect(player.effects.count { $0.fetchTicket != nil } == fetches + 1)
    }

    @Test("F043: what is finished after Cancel while it is turned off is turned off with a newer request")
    func finishedWhileTurningOff() throws {
        var player = try shown()
        let redirect = try cancelledAway(&player)
        player.connect(at: 1002)
        player.play(.confirmEmail("ada@example.com"))
        try player.comeBack(at: 1003)
        player.isSilent = true
        player.play(.disconnect, .confirmDisconnection)
        player.open(redirect, at: 1004)
        try answerBothDisablings(&player)
    }

    @Test("F043: of the attempts that a user cancels the newest eight are remembered")
    func eightAreRemembered() throws {
        var player = try shown()
        var redirects: [String] = []
        for _ in 0..<9 { redirects.append(try cancelledAway(&player)) }
        player.open(redirects[0], at: 1001)
        #expect(player.refusals == [.noPendingAttempt] && player.activation.state == .initial)
        player.open(redirects[1], at: 1001)
        #expect(player.activation.state == .connected)
    }

    @Test("F043: an attempt that was cancelled is remembered in the next process, without the user's address")
    func rememberedAttempt() throws {
        var player = try shown()
        let redirect = try cancelledAway(&player)
        let stored = try JSONEncoder().encode(player.activation.cancelledAttempts)
        #expect(!String(decoding: stored, as: UTF8.self).contains("ada"))
        player.activation = try JSONDecoder().decode(
            ConnectActivation.self, from: JSONEncoder().encode(player.activation))
        player.activation = player.activation.restarted(player.activation.configuration, isLoaded: true)
        player.world.connectionAfter = player.world.connection
        player.play(.restored)
        player.world.connectionAfter = .success(try Balcony.connection(.enabled))
        player.open(redirect, at: 1001)
        #expect(player.activation.state == .connected && player.storedTokens == ["late"])
    }

    @Test("F106: who logs out after Cancel is not brought back by what is finished at the service")
    func signedOutAfterCancel() throws {
        var player = try shown()
        let redirect = try cancelledAway(&player)
        player.world.connectionAfter = .success(try Balcony.connection(.unknown))
        player.play(.signedOut)
        player.open(redirect, at: 1001)
        #expect(player.refusals == [.noPendingAttempt] && player.storedTokens.isEmpty)
        #expect(player.activation.state == .initial)
    }

    // MARK: Keep

    @Test("Keep while it is being turned off turns it on again", arguments: [false, true])
    func kept(byCancel: Bool) throws {
        var (player, ticket) = try disabling()
        player.play(byCancel ? .cancel : .keepConnection)
        #expect(player.activation.state == .connecting)
        player.isSilent = false
        player.world.enabling = .success(try Balcony.connection(.enabled))
        player.play(.disabled(ticket, .success(try Balcony.connection(.disabled))))
        #expect(player.activation.state == .connected && player.activation.failure == nil && player.outcomes.isEmpty)
    }

    @Test("Keep after the service could not turn it off leaves it on")
    func keptByFailure() throws {
        var (player, ticket) = try disabling()
        player.play(.keepConnection)
        player.isSilent = false
        player.play(.disabled(ticket, .failure(.unreachable)))
        #expect(player.activation.state == .connected && player.outcomes.isEmpty)
    }

    @Test("Keep that comes too late is told to the user and to the app")
    func keptTooLate() throws {
        var (player, ticket) = try disabling()
        player.play(.keepConnection)
        player.isSilent = false
        player.world.enabling = .failure(.service(status: 422, code: nil, message: nil))
        player.play(.disabled(ticket, .success(try Balcony.connection(.disabled))))
        let reason = ConnectActivation.Failure.service(status: 422, code: nil, message: nil)
        #expect(player.activation.state == .initial && player.activation.failure == reason)
        #expect(player.outcomes == [.disconnected(try Balcony.connection(.disabled)), .failed(reason)])
    }

    @Test("F032: back from the service without an answer is Connect; a redirect that comes later still counts")
    func leftService() throws {
        var player = try Player()
        player.play(.appeared)
        player.connect()
        player.play(.confirmEmail("ada@example.com"))
        #expect(player.activation.state == .goingToService(.web))
        player.play(.leftService)
        #expect(player.activation.state == .initial && player.outcomes == [.cancelled])
        try player.comeBack()
        #expect(player.activation.state == .connected)
    }
}
