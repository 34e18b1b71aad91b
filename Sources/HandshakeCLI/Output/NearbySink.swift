#if CommandLine
import Handshake
import Nearby
import Radio

/// What shows the events of a watch: the terminal's lines, or the companion's page.
protocol NearbySink: Sendable {
    func note(_ update: NearbyUpdate)
    func note(_ event: RadioWatchEvent)
    /// Identifiers of the user take turns: a sentence about it, told once.
    func note(turns sentence: String)
    /// The watch that begins sends nothing about the user.
    ///
    /// - Parameter reason: why, although the user wants it; nil where the user does not.
    func noteSilence(_ reason: NearbySilence?)
    /// Something of what the vault has cannot be used: a code, and a sentence with the cure.
    func note(trouble code: String, _ message: String)
    /// The service rejects the account.
    func note(signInEnded error: HandshakeError)
    /// A circle's tables could not be fetched.
    func note(circleFailed error: NearbyError)
    /// A wave was answered.
    func show(_ wave: MutualWave)
}

extension NearbySink {
    /// An event of the radio, while something is sent for the user's scopes.
    func note(_ event: RadioWatchEvent, sending scopes: OwnScopes) {
        if case .sending(let status) = event, case .takingTurns(_, let instances) = status {
            note(turns: scopes.turns(atATime: instances))
        } else {
            note(event)
        }
    }

    // Who watches in a terminal has both as lines there.
    func noteSilence(_ reason: NearbySilence?) {}
    func note(trouble code: String, _ message: String) {}
}

extension NearbyUpdate {
    /// The code and the sentence of an event that says what does not work; nil for other events. The log's have their own.
    var trouble: (code: String, message: String)? {
        switch self {
        case .full(let kind, let places, _):
            ("too_many", "The list is full (\(places) \(kind.people)). Others are not added.")
        case .oneTransmitter:
            (
                "one_transmitter",
                "One device sends the identifiers of several people. They are listed, but not announced."
            )
        case .repeatedSignal: ("repeated_signal", "Another device repeats your signal.")
        case .arrived, .introduced, .unknown, .left, .people, .logFailed: nil
        }
    }
}

extension Trust {
    /// People of this kind, after their number.
    fileprivate var people: String {
        switch self {
        case .unverified: "unverified people"
        case .circle: "members"
        case .file: "friends by keys from a file"
        case .paired: "friends"
        }
    }
}

/// Why a watch sends nothing, although the user wants it.
enum NearbySilence: Sendable {
    /// Published keys have ended: a sentence with the cure.
    case keysEnded(String)
    case paused
    case noCurrentKeys
}

extension OwnScopes {
    /// That identifiers take turns, in one sentence.
    func turns(atATime instances: Int) -> String {
        let circles = circles == 1 ? "circle" : "\(circles) circles"
        let number = instances == 1 ? "one identifier" : "\(instances) identifiers"
        return
            "This adapter sends \(number) at a time, so your \(circles)\(hasFriends ? " and your friends" : "") take turns of 15 minutes."
    }
}
#endif
