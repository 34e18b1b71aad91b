/// Why bytes of a circle are refused. Nothing of what is refused is kept.
public enum CircleError: Error, Sendable, Hashable {
    /// Length, magic, zero bytes, flags or counts are not those of the form.
    case malformed(Form)
    /// It is of another circle or pair.
    case otherScope
    /// It is about another member.
    case otherNumber
    /// It was issued in the future, or too long ago.
    case issued
    /// A key is of a day that is past, or further ahead than is allowed.
    case day
    /// The member has another identity by now, or an earlier one.
    case otherGeneration
    /// Newer keys are known.
    case oldSequence
    /// It belongs to an earlier epoch of the circle.
    case oldEpoch
    /// An identity or agreement key that proves nothing (small order).
    case weakKey
    /// The signature does not fit: it was changed, or another identity signed it.
    case signature
    /// Two days have the same key.
    case equalKeys
    /// A sealed box does not open.
    case sealed
    /// Pairing failed.
    case pairing(PairingFailure)

    /// The forms of chapters 3 to 6 of the dossier.
    public enum Form: String, Sendable, Hashable, CaseIterable {
        case member, keys, page, photos, pairingMessage, pairingCode, card, wave, text
    }

    /// Why pairing failed.
    public enum PairingFailure: Sendable, Hashable {
        /// The commitment does not fit: another device may be in between.
        case commitment
        /// The user says that the digits differ.
        case differentDigits
        /// A state lasted longer than two minutes.
        case expired
        /// The other device cancelled.
        case cancelled
        /// A second message of one kind.
        case repeated
        /// A message that this state does not expect.
        case unexpected
        /// The clocks differ by so many seconds.
        case clocks(Int64)
        /// Three attempts failed: pairing rests for so many seconds.
        case paused(Int64)
    }
}

extension CircleError: CustomStringConvertible {
    /// What happened, why, and what to do.
    public var description: String {
        switch self {
        case .malformed(.pairingCode), .malformed(.pairingMessage): "This is not a pairing code of Handshake."
        case .malformed(.text): "A name takes 1 to 80 bytes, a batch at most 40, both without control characters."
        case .malformed: "The record is damaged or of another version."
        case .otherScope: "The record is of another circle."
        case .otherNumber: "The record is about another member, so it was ignored."
        case .issued: "The record was issued at another time. Check the clock of both devices."
        case .day: "The keys are of days that are past, or too far ahead."
        case .otherGeneration: "The keys belong to another identity of this member."
        case .oldSequence: "Newer keys of this member are known."
        case .oldEpoch: "The keys are older than the circle's last change. Synchronise the circle."
        case .weakKey: "The member's identity key is weak, so signatures by it prove nothing. The record was ignored."
        case .signature: "The record was changed, or is not signed by this member."
        case .equalKeys: "Two days have the same key, so the record was ignored."
        case .sealed: "The message cannot be opened: it was changed, or is meant for others."
        case .pairing(let failure): failure.text
        }
    }
}

extension CircleError.PairingFailure {
    fileprivate var text: String {
        switch self {
        case .commitment, .differentDigits: "The codes differ. Another device may be in between. Start again."
        case .expired: "This code has expired. Show a new one."
        case .cancelled: "The other device cancelled."
        case .repeated, .unexpected: "The other device sent something unexpected. Start again."
        case .clocks(let seconds):
            "The clocks differ by \(Self.time(seconds)). Set the time, then pair again."
        case .paused(let seconds): "Pairing failed three times. Try again in \(Self.time(seconds))."
        }
    }

    private static func time(_ seconds: Int64) -> String {
        let seconds = seconds.magnitude
        if seconds < 120 { return "\(seconds) seconds" }
        return "\(seconds / 60) minutes"
    }
}
