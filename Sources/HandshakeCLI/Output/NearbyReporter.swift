#if CommandLine
import Beacons
import Foundation
import Handshake
import Nearby
import OAuth
import Radio
import Synchronization

/// Shows events of `nearby`: a live list on a terminal, lines elsewhere, JSON with `--json`.
///
/// A class with a lock, because the radio, the watch and the alerts report concurrently: lines must not mix, and a radio's
/// reports keep their order.
final class NearbyReporter: NearbySink {
    private let state: Mutex<NearbyReport>
    private let availability = RadioAvailability()
    /// Whether there is a live list, which shows a radio's failure only until the next one.
    private let isLive: Bool

    /// - Parameters:
    ///   - json: whether to print JSON.
    ///   - now: seconds since 1970, on the clock of what is reported.
    init(json: Bool, now: @escaping @Sendable () -> Double = { Now.seconds }) {
        isLive = !json && Terminal.canRedraw && isatty(STDOUT_FILENO) == 1
        state = Mutex(NearbyReport(isJSON: json, now: now, isLive: isLive))
    }

    /// Reports an event of the watch.
    func note(_ update: NearbyUpdate) { state.withLock { $0.note(update) } }

    /// Reports an event of the radio.
    func note(_ event: RadioWatchEvent) {
        switch event {
        case .listening(let status), .sending(let status): availability.note(status)
        case .sendingFailed, .damage: break
        }
        state.withLock { $0.note(event) }
    }

    /// Reports that identifiers take turns, once.
    func note(turns sentence: String) { state.withLock { $0.note(turns: sentence) } }

    /// Reports that the service rejects the account, once.
    func note(signInEnded error: HandshakeError) { state.withLock { $0.note(signInEnded: error) } }

    /// Shows an alert.
    func show(_ alert: Alert) { state.withLock { $0.show(alert) } }

    /// Reports that a circle's tables could not be fetched.
    func note(circleFailed error: NearbyError) { state.withLock { $0.note(circleFailed: error) } }

    /// Shows a wave that was answered.
    func show(_ wave: MutualWave) { state.withLock { $0.show(wave) } }

    /// Shows an alert about a crowd.
    func show(_ crowd: CrowdAlert) { state.withLock { $0.show(crowd) } }

    /// - Throws: why nothing could be received or sent, if that was never possible.
    func requireRadio() throws(CommandError) { try availability.requireOnce(isShown: !isLive) }

    /// Removes the live list; printed lines stay.
    func end() { state.withLock { $0.end() } }
}

/// What was shown so far.
private struct NearbyReport: ~Copyable, Sendable {
    let isJSON: Bool
    let now: @Sendable () -> Double
    let isLive: Bool
    private var list = LiveList()
    private var people: [NearbyPerson] = []
    private var proximities: [UserNumber: Proximity] = [:]
    private var listening = "starting"
    private var sending: String?
    private var hasToldOfSignIn = false
    private var toldOfTurns: String?

    init(isJSON: Bool, now: @escaping @Sendable () -> Double, isLive: Bool) {
        self.isJSON = isJSON
        self.now = now
        self.isLive = isLive
    }

    mutating func note(_ update: NearbyUpdate) {
        switch update {
        case .people(let people):
            self.people = people
            if isJSON { tellProximities() }
            if isLive { list.draw(people, status: status) }
        case .arrived(let person, let known):
            tell("arrived", person, known, "\(name(person, known)) came near.", inLiveList: false)
        case .introduced(let person, let known):
            tell("introduced", person, known, "Number \(person) is \(name(person, known)).", inLiveList: false)
        case .unknown(let person):
            tell(
                "unknown", person, nil, "The Recurse Center has no person with the number \(person).", inLiveList: false
            )
            proximities[person] = nil
        case .left(let person, let known, let encounter): left(person, known, encounter)
        case .full, .oneTransmitter, .repeatedSignal:
            if let (code, message) = update.trouble { trouble(code, message) }
        case .logFailed(let error): trouble(error.code, error.impersonal)
        }
    }

    mutating func note(_ event: RadioWatchEvent) {
        switch event {
        case .listening(let status): radio(status, isSending: false)
        case .sending(let status): radio(status, isSending: true)
        case .sendingFailed(let error):
            sending = "not sending"
            trouble(error.code, "Others cannot notice you: \(error.message). Scanning continues.")
        case .damage(let error): trouble("damaged_recording", "\(error)")
        }
    }

    mutating func note(signInEnded error: HandshakeError) {
        guard !hasToldOfSignIn else { return }
        hasToldOfSignIn = true
        trouble(error.code, "People appear as numbers from now on: \(error.description)")
    }

    mutating func note(turns sentence: String) {
        guard toldOfTurns != sentence else { return }
        toldOfTurns = sentence
        trouble("taking_turns", sentence)
    }

    mutating func note(circleFailed error: NearbyError) { trouble(error.code, error.message) }

    mutating func show(_ wave: MutualWave) {
        if isJSON {
            line([
                ("event", .string("wave")), ("person", .integer(Int64(wave.person.value))),
                ("name", .string(wave.name)), ("text", .string(wave.text)),
            ])
        } else {
            text((isLive ? "\u{07}" : "") + NearbyWave.line(wave))
        }
    }

    mutating func show(_ alert: Alert) {
        if isJSON {
            line([
                ("event", .string("alert")), ("person", .integer(Int64(alert.person.value))),
                ("name", .optional(alert.known?.name)), ("batch", .optional(alert.known?.batch)),
                ("page", .optional(alert.known?.page)),
                ("proximity", .string(alert.proximity.word)), ("rough", .bool(alert.isRough)),
                ("verified", .bool(alert.trust != .unverified)),
                ("trust", .string(alert.trust.word)), ("relayed", .bool(alert.isRelayed)),
                ("update", .bool(alert.isUpdate)),
            ])
        } else {
            let facts = [alert.body, alert.known?.page ?? ""].filter { !$0.isEmpty }
            let rest = facts.isEmpty ? "" : ": " + facts.map { quoted($0, limit: 200) }.joined(separator: ", ")
            text("\(isLive ? "\u{07}" : "")\(quoted(alert.title, limit: 200))\(rest)")
        }
    }

    mutating func show(_ crowd: CrowdAlert) {
        if isJSON {
            line([("event", .string("crowd")), ("people", .integer(Int64(crowd.count)))])
        } else {
            text("\(isLive ? "\u{07}" : "")\(crowd.title). \(crowd.body)")
        }
    }

    mutating func end() {
        list.interrupt()
    }

    private var status: String {
        sending.map { "\(listening), \($0)" } ?? listening
    }

    private mutating func radio(_ status: RadioStatus, isSending: Bool) {
        let (state, word, detail): (String, String, String?) =
            switch status {
            case .listening(let method): ("listening", "listening", method.rawValue)
            case .sending, .takingTurns: ("sending", "sending", nil)
            case .silent: ("silent", "silent", nil)
            case .unavailable(let error): ("unavailable", error.fault, error.description)
            }
        if isSending { sending = word } else { listening = word }
        if isJSON {
            line([
                ("event", .string("radio")), ("task", .string(isSending ? "send" : "listen")),
                ("state", .string(state)),
                ("detail", .optional(detail)),
            ])
        } else if isLive {
            list.draw(people, status: self.status)
        } else {
            if case .unavailable(let error) = status {
                Output.note(quoted(error.waitingNote, limit: 600))
            } else {
                Output.note(detail.map { "\(word): \($0)" } ?? word)
            }
        }
    }

    private mutating func tell(
        _ event: String, _ person: UserNumber, _ known: Person?, _ sentence: String, inLiveList: Bool
    ) {
        if isJSON {
            line([
                ("event", .string(event)), ("person", .integer(Int64(person.value))), ("name", .optional(known?.name)),
                ("batch", .optional(known?.batch)),
            ])
        } else if inLiveList || !isLive {
            text(sentence)
        }
    }

    private mutating func left(_ person: UserNumber, _ known: Person?, _ encounter: Encounter) {
        if isJSON {
            line([
                ("event", .string("left")), ("person", .integer(Int64(person.value))), ("name", .optional(known?.name)),
                ("batch", .optional(known?.batch)), ("first_seen", .seconds(encounter.firstSeen)),
                ("last_seen", .seconds(encounter.lastSeen)), ("duration_seconds", .seconds(encounter.duration)),
            ])
        } else if !isLive || (encounter.trust ?? .unverified) > .unverified {
            // Inventions that come and go must not move alerts off the screen; the list shows who is near.
            text("\(name(person, known)) left after \(Span.text(encounter.duration)).")
        }
        proximities[person] = nil
    }

    /// Reports a person whose proximity changed: a line per tick for everyone would add nothing.
    private mutating func tellProximities() {
        for person in people where proximities[person.person] != person.proximity {
            proximities[person.person] = person.proximity
            line([
                ("event", .string("near")), ("person", .integer(Int64(person.person.value))),
                ("proximity", .string(person.proximity.word)),
                ("distance_metres", person.distance.map { .decimal($0) } ?? .null), ("rough", .bool(person.isRough)),
                ("verified", .bool(person.trust != .unverified)), ("trust", .string(person.trust.word)),
                ("suspect", .bool(person.isSuspect)), ("relayed", .bool(person.isRelayed)),
            ])
        }
    }

    private mutating func trouble(_ code: String, _ message: String) {
        if isJSON {
            line([("event", .string("trouble")), ("code", .string(code)), ("message", .string(quoted(message)))])
        } else {
            if isLive { list.interrupt() }
            Output.note(quoted(message, limit: 400))
        }
    }

    private func name(_ person: UserNumber, _ known: Person?) -> String {
        guard let known else { return "Number \(person)" }
        return quoted(known.name, limit: 200) + (known.batch.map { " (\(quoted($0, limit: 40)))" } ?? "")
    }

    private func line(_ members: [(String, JSONText)]) {
        Output.result(JSONText.object([("at", .seconds(now()))] + members).text)
    }

    private mutating func text(_ sentence: String) {
        if isLive { list.interrupt() }
        Output.result(sentence)
        if isLive { list.draw(people, status: status) }
    }
}
#endif
