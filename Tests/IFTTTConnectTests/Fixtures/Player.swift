import IFTTTConnect
import OAuth
import Testing

/// Plays runs of an activation: a world that answers every question immediately, and a list of what was seen.
struct Player {
    /// What the world is like.
    struct World {
        var connection: Result<Connection, ConnectActivation.Failure>
        /// What is found after the user came back.
        var connectionAfter: Result<Connection, ConnectActivation.Failure>
        var context = ConnectActivation.AttemptContext()
        var user = ConnectActivation.UserLookUp.noUser
        var account = ConnectActivation.AccountLookUp.doesNotExist
        var enabling: Result<Connection, ConnectActivation.Failure> = .failure(.notFound)
        var disabling: Result<Connection, ConnectActivation.Failure>
        /// What is found once a token was refused, with another one or without; nil is as before.
        var connectionAfterDropping: Result<Connection, ConnectActivation.Failure>?

        init(_ status: Connection.Status) throws {
            connection = .success(try Balcony.connection(status))
            connectionAfter = .success(try Balcony.connection(.enabled))
            disabling = .success(try Balcony.connection(.disabled))
        }
    }

    var world: World
    var activation: ConnectActivation
    /// Every state that was reached, in order, without repetitions.
    private(set) var states: [ConnectActivation.State] = []
    private(set) var effects: [ConnectActivation.Effect] = []
    /// What has been asked and not answered; only filled while the world is silent.
    private(set) var pending: [ConnectActivation.Effect] = []
    /// Whether the world keeps its answers to itself.
    var isSilent = false
    private(set) var destination: ConnectActivation.Destination?
    /// What was gathered, in order.
    private(set) var needs: [ConnectActivation.Need] = []
    private(set) var openTicket: ConnectActivation.Ticket?
    private(set) var deadline: ConnectActivation.Deadline?
    private var wasAway = false
    private var wishes: UInt8 = 0

    init(
        _ status: Connection.Status = .neverEnabled, email: String = "ada@example.com",
        change: (inout ConnectActivation.Configuration) -> Void = { _ in }
    ) throws {
        world = try World(status)
        activation = ConnectActivation(try Self.configuration(email: email, change: change))
    }

    static func configuration(
        email: String = "ada@example.com", change: (inout ConnectActivation.Configuration) -> Void = { _ in }
    ) throws -> ConnectActivation.Configuration {
        var configuration = ConnectActivation.Configuration(
            try ConnectionID(Balcony.id), callback: try CallbackURL("gardenapp://connect_callback"),
            suggestedEmail: email)
        change(&configuration)
        return configuration
    }

    var outcomes: [ConnectActivation.Outcome] {
        effects.compactMap { if case .deliver(let outcome) = $0 { outcome } else { nil } }
    }

    var refusals: [RedirectRefusal] {
        effects.compactMap { if case .refused(let refusal) = $0 { refusal } else { nil } }
    }

    var reports: [AnalyticsEvent] {
        effects.compactMap { if case .report(let event) = $0 { event } else { nil } }
    }

    var storedTokens: [String] {
        effects.compactMap { if case .storeToken(let token) = $0 { token.secret.reveal() } else { nil } }
    }

    /// The questions whose tokens were refused.
    var dropped: [ConnectActivation.Ticket] {
        effects.compactMap { if case .dropToken(let ticket) = $0 { ticket } else { nil } }
    }

    mutating func play(_ events: ConnectActivation.Event...) {
        for event in events { take { $0.handle(event) } }
    }

    mutating func play(_ answers: ConnectActivation.Answer...) {
        for answer in answers { take { $0.handle(answer) } }
    }

    /// The user wants it on: each time with a state of its own.
    mutating func connect(at time: Double = 1000) {
        wishes += 1
        let wish = wishes
        play(.connect(AttemptState(random: RandomSource { Array(repeating: wish, count: $0) }), at: time))
    }

    /// The redirect that belongs to where the user was sent last.
    func redirect(_ items: String) throws -> String {
        let url = try #require(destination?.url)
        let state = try #require(url.split(separator: "state%3D").last?.prefix { $0 != "&" })
        return "gardenapp://connect_callback?state=\(state)&\(items)"
    }

    mutating func comeBack(_ items: String = "next_step=complete&user_token=t1", at time: Double = 1001) throws {
        open(try redirect(items), at: time)
    }

    mutating func open(_ url: String, at time: Double) {
        take { $0.open(url, at: time) }
    }

    private mutating func take(_ handle: (inout ConnectActivation) -> [ConnectActivation.Effect]) {
        let new = handle(&activation)
        if states.last != activation.state { states.append(activation.state) }
        effects += new
        for effect in new { answer(effect) }
    }

    private mutating func answer(_ effect: ConnectActivation.Effect) {
        switch effect {
        case .open(let ticket, let place): (openTicket, destination, wasAway) = (ticket, place, true)
        case .start(let started, _): deadline = started
        default: break
        }
        guard !isSilent else {
            pending.append(effect)
            return
        }
        switch effect {
        case .fetch(let ticket): play(.fetched(ticket, wasAway ? world.connectionAfter : world.connection))
        case .gather(let ticket, let need):
            needs.append(need)
            play(.gathered(ticket, .success(world.context)))
        case .lookUpUser(let ticket): play(.userLookedUp(ticket, world.user))
        case .lookUpAccount(let ticket, _): play(.accountLookedUp(ticket, world.account))
        case .enable(let ticket): play(.enabled(ticket, world.enabling))
        case .disable(let ticket): play(.disabled(ticket, world.disabling))
        case .dropToken:
            world.context.hasUserToken = false
            if let found = world.connectionAfterDropping { (world.connection, world.connectionAfter) = (found, found) }
        default: break
        }
    }
}

extension ConnectActivation.Effect {
    /// The ticket, if the connection is to be fetched.
    var fetchTicket: ConnectActivation.Ticket? {
        if case .fetch(let ticket) = self { ticket } else { nil }
    }

    /// The ticket, if something is to be gathered, and just this where a need is given.
    func gatherTicket(of need: ConnectActivation.Need? = nil) -> ConnectActivation.Ticket? {
        if case .gather(let ticket, let asked) = self, need == nil || asked == need { ticket } else { nil }
    }
}
