#if CommandLine
import Beacons
import Circles
import Foundation
import Handshake
import Nearby
import OAuth
import Radio
import Synchronization

/// What the vault holds of circles, for the companion's page.
struct CircleReading: Sendable {
    /// A circle that the user is in, and what its members see of the user.
    typealias Joined = (summary: JoinedCircle.Summary, visibility: JoinedCircle.Visibility)

    var joined: [Joined] = []
    /// The names of people from whom the user hides, or whom the user ignores, where the log has them.
    var names: [UserNumber: String] = [:]
    /// The people who have waved and await an answer.
    var waiting: [UserNumber] = []
    /// When alerts are shown again, in seconds since 1970.
    var quietUntil: Double?
}

/// What the companion's page shows, and which streams learn when it changes.
///
/// A class with a lock, because the radio, the watch, circles and the page's actions report concurrently.
final class CompanionState: NearbySink {
    /// Something that does not work, as a line of the page.
    fileprivate struct Trouble {
        let code: String
        let message: String
        /// Seconds since 1970.
        let at = Now.seconds
    }

    fileprivate struct Contents {
        var people: [NearbyPerson] = []
        var radio = ["listen": "starting", "send": "silent"]
        var troubles: [Trouble] = []
        var answers: [MutualWave] = []
        var waiting: [UserNumber] = []
        var quietUntil: Double?
        var circles: [CircleReading.Joined] = []
        var names: [UserNumber: String] = [:]
        /// How many readings of the vault have begun, and which of them is shown.
        var readings = (begun: 0, shown: 0)
        var own: UserNumber?
        var sends = false
        var sendsNumber = false
        /// The circle that is being joined: its code and page, and the attempt's number.
        var joining: (attempt: Int, code: String, page: String)?
        /// How many attempts to join have begun.
        var attempts = 0
        /// The task of each attempt that runs, also of one whose code is no longer shown.
        var joins: [Int: Task<Void, Never>] = [:]
        /// The text for a screen reader, and how many there have been, so that an equal text is spoken again.
        var announcement = (text: "", count: 0)
        var sent = ""
        var readers: [Int: AsyncStream<String>.Continuation] = [:]
        var readerCount = 0
        var isOver = false
    }

    private let contents = Mutex(Contents())
    let availability = RadioAvailability()

    /// How many troubles and answers are shown.
    fileprivate static let remembered = 5
    /// How many people are shown; the list of a crowd is cut.
    private static let maximumPeople = 500

    /// - Parameter sendsNumber: whether what is sent is the user's number, which never changes, and not an identifier that does.
    init(sendsNumber: Bool = false) {
        contents.withLock { $0.sendsNumber = sendsNumber }
    }

    // MARK: The watch's events

    func note(_ update: NearbyUpdate) {
        change { contents in
            switch update {
            case .people(let people): contents.people = Array(people.prefix(Self.maximumPeople))
            case .logFailed(let error): contents.add(Trouble(code: error.code, message: quoted(error.message)))
            case .full, .oneTransmitter, .repeatedSignal, .arrived, .introduced, .unknown, .left:
                if let (code, message) = update.trouble { contents.add(Trouble(code: code, message: message)) }
            }
        }
    }

    func note(_ event: RadioWatchEvent) {
        switch event {
        case .listening(let status):
            availability.note(status)
            change { $0.radio["listen"] = Self.word(status) }
        case .sending(let status):
            availability.note(status)
            change { contents in
                contents.radio["send"] = Self.word(status)
                if case .sending = status { contents.troubles.removeAll { $0.code == Self.silence } }
            }
        case .sendingFailed(let error):
            change { contents in
                contents.radio["send"] = "failed"
                // There is something to send, and the radio does not send it.
                contents.troubles.removeAll { $0.code == Self.silence }
                contents.add(Trouble(code: error.code, message: quoted(error.message)))
            }
        case .damage: break
        }
    }

    func noteSilence(_ reason: NearbySilence?) {
        change { contents in
            contents.radio["send"] = Self.word(.silent)
            contents.troubles.removeAll { $0.code == Self.silence }
            guard let reason else { return }
            contents.add(Trouble(code: Self.silence, message: Self.sentence(reason)))
        }
    }

    /// The code of the trouble that says why nothing is sent.
    fileprivate static let silence = "not_sent"
    /// The code of the trouble that the user's own number is not known.
    static let unknownNumber = "own_number_unknown"

    private static func sentence(_ reason: NearbySilence) -> String {
        switch reason {
        case .keysEnded(let sentence): sentence
        case .paused: "Others cannot notice you: you have paused. To go on, press Resume under Circles."
        case .noCurrentKeys:
            "Others cannot notice you: no friend or circle has your current keys. Join a circle under Circles, or pair with a friend in a terminal: handshake nearby pair"
        }
    }

    func note(trouble code: String, _ message: String) {
        change { $0.add(Trouble(code: code, message: quoted(message))) }
    }

    func note(turns sentence: String) {
        change { $0.add(Trouble(code: "taking_turns", message: sentence)) }
    }

    func note(signInEnded error: HandshakeError) {
        change {
            $0.add(
                Trouble(
                    code: error.code, message: "People appear as numbers from now on: \(quoted(error.description))"))
        }
    }

    func note(circleFailed error: NearbyError) { note(trouble: error.code, error.message) }

    func show(_ wave: MutualWave) {
        change { contents in
            contents.answers = Array(([wave] + contents.answers).prefix(Self.remembered))
            contents.waiting.removeAll { $0 == wave.person }
            contents.announce(NearbyWave.line(wave))
        }
    }

    private static func word(_ status: RadioStatus) -> String {
        switch status {
        case .listening: "listening"
        case .sending, .takingTurns: "sending"
        case .silent: "silent"
        case .unavailable(let error): quoted(error.fault)
        }
    }

    // MARK: What the page's actions change

    var sends: Bool {
        get { contents.withLock(\.sends) }
        set { change { $0.sends = newValue } }
    }

    /// Begins to read the vault for what the page shows of circles.
    ///
    /// - Returns: the reading's number, for ``show(_:of:)``.
    func beginReading() -> Int {
        contents.withLock { contents in
            contents.readings.begun += 1
            return contents.readings.begun
        }
    }

    /// Shows what was read, unless a reading that began later, or ``forget(_:)``, came first.
    func show(_ circles: CircleReading, of reading: Int) {
        change { contents in
            guard reading > contents.readings.shown else { return }
            contents.readings.shown = reading
            contents.circles = circles.joined
            contents.names = circles.names
            contents.waiting = circles.waiting
            contents.quietUntil = circles.quietUntil
        }
    }

    func set(own number: UserNumber?) {
        change { contents in
            contents.own = number
            if number != nil { contents.troubles.removeAll { $0.code == Self.unknownNumber } }
        }
    }

    /// Shows the code and page of an attempt to join a circle, in place of an earlier attempt's.
    ///
    /// - Parameter finish: waits until the user has decided, and joins; given the attempt's number, for ``endJoining(_:)``.
    /// - Returns: the attempt's number.
    @discardableResult
    func beginJoining(
        code: String, page: String, finishing finish: @escaping @Sendable (_ attempt: Int) async -> Void
    ) -> Int {
        var attempt = 0
        change { contents in
            contents.attempts += 1
            let number = contents.attempts
            attempt = number
            contents.joining = (number, code, page)
            contents.joins[number] = Task { await finish(number) }
        }
        return attempt
    }

    /// Shows an attempt's code and page no longer; those of a later attempt stay.
    func endJoining(_ attempt: Int) {
        change { contents in
            contents.joins[attempt] = nil
            if contents.joining?.attempt == attempt { contents.joining = nil }
        }
    }

    /// Cancels all attempts to join and waits for their end: otherwise one could join after everyone was forgotten.
    func cancelJoining() async {
        let joins = contents.withLock { Array($0.joins.values) }
        for join in joins { join.cancel() }
        for join in joins { await join.value }
    }

    /// Removes a person, or everyone, before the watch's next report, which can take a while.
    func forget(_ person: UserNumber?) {
        change { contents in
            // An earlier reading still has the person.
            contents.readings.shown = contents.readings.begun
            if person == nil { contents.circles = [] }
            contents.names = contents.names.filter { person != nil && $0.key != person }
            contents.people.removeAll { person == nil || $0.person == person }
            contents.answers.removeAll { person == nil || $0.person == person }
            contents.waiting.removeAll { person == nil || $0 == person }
            contents.announcement.text = ""
        }
    }

    /// Lets a screen reader speak a text.
    func announce(_ text: String) { change { $0.announce(text) } }

    // MARK: The page's readers

    /// The present state and each change. A slow reader skips to the newest.
    func snapshots() -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(1))
        let number: Int? = contents.withLock { contents in
            continuation.yield(contents.json)
            guard !contents.isOver else { return nil }
            contents.readerCount += 1
            contents.readers[contents.readerCount] = continuation
            return contents.readerCount
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.contents.withLock { $0.readers.removeValue(forKey: number) }
        }
        return stream
    }

    /// Ends all readers.
    func end() {
        let readers = contents.withLock { contents in
            contents.isOver = true
            return Array(contents.readers.values)
        }
        for reader in readers { reader.finish() }
    }

    private func change(_ body: (inout Contents) -> Void) {
        contents.withLock { contents in
            body(&contents)
            let text = contents.json
            guard text != contents.sent else { return }
            contents.sent = text
            // Within the lock, so that the newest text is the last one that a reader gets.
            for reader in contents.readers.values { reader.yield(text) }
        }
    }
}

extension CompanionState: Alerts {
    func show(_ alert: Alert) async {
        announce(quoted([alert.title, alert.body].filter { !$0.isEmpty }.joined(separator: ", ")))
    }
    func show(_ crowd: CrowdAlert) async { announce("\(crowd.title). \(crowd.body)") }
}

extension CompanionState.Contents {
    /// Lists a trouble first, in place of an earlier one with its code, and removes the oldest of too many.
    fileprivate mutating func add(_ trouble: CompanionState.Trouble) {
        troubles.removeAll { $0.code == trouble.code }
        troubles.insert(trouble, at: 0)
        // These describe a state, not an event: they stay until the state ends.
        let lasting = [CompanionState.silence, CompanionState.unknownNumber]
        while troubles.count > CompanionState.remembered,
            let oldest = troubles.lastIndex(where: { !lasting.contains($0.code) })
        { troubles.remove(at: oldest) }
    }

    fileprivate mutating func announce(_ text: String) { announcement = (text, announcement.count + 1) }

    /// The state as the page reads it. It has no ages, so it changes only when something happens.
    fileprivate var json: String {
        JSONText.object([
            ("own", own.map { .integer(Int64($0.value)) } ?? .null),
            ("listen", .string(radio["listen"] ?? "")), ("send", .string(radio["send"] ?? "")), ("sends", .bool(sends)),
            ("mode", .string((sendsNumber ? NearbySending.Mode.static : .rolling).rawValue)),
            ("people", .array(people.map(Self.json))),
            (
                "troubles",
                .array(
                    troubles.map {
                        .object([("code", .string($0.code)), ("message", .string($0.message)), ("at", .seconds($0.at))])
                    })
            ),
            ("answers", .array(answers.map(Self.json))),
            ("waiting", .array(waiting.map { .integer(Int64($0.value)) })),
            ("quiet", .seconds(quietUntil)),
            (
                "circles",
                .array(
                    circles.map { summary, visibility in
                        CircleText.json(
                            summary,
                            CircleText.members(of: visibility) + [
                                ("hidden_names", self.names(visibility.hidden)),
                                ("ignored_names", self.names(visibility.ignored)),
                                ("silence", .optional(CircleText.silence(of: summary, isOnPage: true))),
                            ])
                    })
            ),
            (
                "joining",
                joining.map { .object([("code", .string($0.code)), ("page", .string($0.page))]) } ?? .null
            ),
            (
                "said",
                .object([("text", .string(announcement.text)), ("count", .integer(Int64(announcement.count)))])
            ),
        ]).text
    }

    /// The known names of people, by number.
    private func names(_ people: [UserNumber]) -> JSONText {
        .object(people.compactMap { person in names[person].map { (person.description, .string($0)) } })
    }

    private static func json(_ person: NearbyPerson) -> JSONText {
        .object([
            ("person", .integer(Int64(person.person.value))), ("name", .optional(person.known?.name)),
            ("batch", .optional(person.known?.batch)), ("page", .optional(person.known?.page)),
            ("proximity", .string(person.proximity.word)), ("rough", .bool(person.isRough)),
            // Half metres: more is noise, and would change with each packet.
            ("metres", person.distance.map { .decimal(($0 * 2).rounded() / 2) } ?? .null),
            ("trust", .string(person.trust.word)), ("shows_face", .bool(person.trust.showsFace)),
            ("circle", .optional(person.circle.map { Hexadecimal.encode($0.bytes) })),
            ("suspect", .bool(person.isSuspect)),
            ("relayed", .bool(person.isRelayed)), ("since", .seconds(person.encounter.firstSeen)),
        ])
    }

    private static func json(_ wave: MutualWave) -> JSONText {
        .object([
            ("person", .integer(Int64(wave.person.value))), ("name", .string(wave.name)), ("text", .string(wave.text)),
            ("time", .seconds(wave.time)),
        ])
    }
}
#endif
