import Foundation
import IFTTTConnect
import OAuth

extension Benchmark {
    static let activation = Benchmark(
        name: "activation", summary: "events that the state machine of IFTTT Connect takes in, by one thread",
        run: { _ in try await Activation.run() })
}

/// Whole runs, from the first look to off again, and runs of events that change nothing. The time is the thread's own on
/// the processor.
private enum Activation {
    private static let reach = Reach.atLeast(1_000_000)
    private static let json = """
        {"type":"connection","id":"aB3dE5fG","name":"Water the balcony","description":"Starts the drip line.",
        "url":"https://ifttt.com/connections/aB3dE5fG","user_status":"STATUS","services":[{"service_id":"lumen_garden",
        "service_name":"Lumen Garden","service_short_name":"Lumen","is_primary":true,
        "monochrome_icon_url":"https://a.example/i.png","brand_color":"#2b8a3e","url":"https://ifttt.com/lumen_garden"}]}
        """

    static func run() async throws -> [Figure] {
        [
            try await figure("whole runs of a new user, on and off again", reach, wholeRun),
            try await figure("redirects of another attempt, rejected", nil, refusals),
            try await figure("second taps, ignored", reach, ignored),
        ]
    }

    private static func figure(
        _ what: String, _ reach: Reach?, _ events: (ConnectActivation, AttemptState, _ redirect: String) throws -> Int
    ) async throws -> Figure {
        let configuration = ConnectActivation.Configuration(
            try ConnectionID("aB3dE5fG"), callback: try CallbackURL("gardenapp://connect_callback"),
            suggestedEmail: "ada@example.com")
        let off = try connection("never_enabled")
        let machine = try ConnectActivation(configuration, prefetched: off)
        let state = AttemptState()
        // What comes back is the same in each run; finding the state in an address is IFTTT's work and not the machine's.
        let redirect = try redirect(of: machine, state)
        let rates = try await samples(25, warmUp: 3) {
            let start = processorSeconds()
            var count = 0
            while count < 200_000 { count += try events(machine, state, redirect) }
            return Double(count) / (processorSeconds() - start)
        }
        return Figure(what, "a second", reach, samples: rates)
    }

    private static func connection(_ status: String) throws -> Connection {
        try Connection(parsing: Array(json.replacing("STATUS", with: status).utf8))
    }

    private static let on = Result { try connection("enabled") }
    private static let off = Result { try connection("disabled") }

    /// One run: how many events it had. The user confirms an address, comes back, and turns it off again.
    private static func wholeRun(
        _ start: ConnectActivation, _ state: AttemptState, _ redirect: String
    ) throws -> Int {
        var machine = start
        let (on, off) = (try on.get(), try off.get())
        var count = 0
        func take(_ event: ConnectActivation.Event) throws { try perform(machine.handle(event)) }
        func take(_ answer: ConnectActivation.Answer) throws { try perform(machine.handle(answer)) }
        func perform(_ effects: [ConnectActivation.Effect]) throws {
            count += 1
            for effect in effects {
                switch effect {
                case .gather(let ticket, _): try take(.gathered(ticket, .success(.init())))
                case .lookUpAccount(let ticket, _): try take(.accountLookedUp(ticket, .doesNotExist))
                case .fetch(let ticket): try take(.fetched(ticket, .success(on)))
                case .disable(let ticket): try take(.disabled(ticket, .success(off)))
                case .start(let deadline, _): try take(.deadlinePassed(deadline))
                case .open: try perform(machine.open(redirect, at: 1))
                default: break
                }
            }
        }
        try take(.appeared)
        try take(.connect(state, at: 0))
        try take(.confirmEmail("ada@example.com"))
        try take(.disconnect)
        try take(.confirmDisconnection)
        guard machine.state == .initial else { throw Failure("a run ended as \(machine.state)") }
        return count
    }

    /// What IFTTT answers a new user with who was sent there.
    private static func redirect(of start: ConnectActivation, _ state: AttemptState) throws -> String {
        var (machine, destination) = (start, ConnectActivation.Destination?.none)
        func take(_ event: ConnectActivation.Event) { perform(machine.handle(event)) }
        func take(_ answer: ConnectActivation.Answer) { perform(machine.handle(answer)) }
        func perform(_ effects: [ConnectActivation.Effect]) {
            for effect in effects {
                switch effect {
                case .gather(let ticket, _): take(.gathered(ticket, .success(.init())))
                case .lookUpAccount(let ticket, _): take(.accountLookedUp(ticket, .doesNotExist))
                case .open(_, let opened): destination = opened
                default: break
                }
            }
        }
        for event in [ConnectActivation.Event.appeared, .connect(state, at: 0), .confirmEmail("ada@example.com")] {
            take(event)
        }
        guard let destination else { throw Failure("no user was sent to IFTTT") }
        guard let mark = destination.url.range(of: "state%3D") else { throw Failure("no state was sent") }
        return "gardenapp://connect_callback?state=\(destination.url[mark.upperBound...].prefix { $0 != "&" })"
            + "&next_step=complete&user_token=utk_sandbox_9f2c"
    }

    private static func refusals(_ start: ConnectActivation, _ state: AttemptState, _: String) throws -> Int {
        var machine = start
        for event in [ConnectActivation.Event.appeared, .connect(state, at: 0)] { _ = machine.handle(event) }
        let url = "gardenapp://connect_callback?state=another-users&next_step=complete&user_token=theirs"
        for _ in 0..<1_000 {
            guard machine.open(url, at: 1) == [.refused(.otherAttempt)] else {
                throw Failure("a redirect of another attempt was accepted")
            }
        }
        return 1_000
    }

    private static func ignored(_ start: ConnectActivation, _ state: AttemptState, _: String) throws -> Int {
        var machine = start
        for event in [ConnectActivation.Event.appeared, .connect(state, at: 0)] { _ = machine.handle(event) }
        for _ in 0..<500 {
            guard machine.handle(.connect(state, at: 1)).isEmpty, machine.handle(.disconnect).isEmpty else {
                throw Failure("a second tap was taken")
            }
        }
        return 1_000
    }
}
