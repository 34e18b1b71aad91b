import IFTTTConnect
import Testing

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
        let requests = disableTickets(player)
        try #require(requests.count == 2)
        player.play(.disabled(requests[0], .success(try Balcony.connection(.disabled))))
        #expect(player.activation.state == .disconnecting)
        player.play(.disabled(requests[1], .success(try Balcony.connection(.disabled))))
        #expect(player.activation.state == .disconnected)
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
