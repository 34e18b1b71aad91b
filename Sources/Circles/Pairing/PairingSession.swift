import Crypto

/// One side of a pairing of two people, without a server (circles dossier 5). A value without a clock or transport.
///
/// One device shows a code, the other scans it, and both users compare six digits. The digits are fixed before either side
/// knows the other's nonce, so a device in between succeeds once in a million attempts, and searching does not help it.
///
/// ```swift
/// var session = PairingSession(offeringAt: now)  // show session.code
/// let reveal = try session.receive(join, at: now)  // send it; show session.digits
/// let sealed = try session.confirm(with: card, at: now)  // send it
/// ```
public struct PairingSession: Sendable {
    /// The states, in their order.
    public enum State: Sendable, Hashable {
        /// The code is shown.
        case offered
        /// The code was scanned, and the reply was sent.
        case joined
        /// Both sides know the digits.
        case revealed
        /// The user has seen that the digits are the same.
        case confirmed
        /// The other side's card has arrived, and the user has not compared the digits yet.
        case exchanged
        /// Both cards were exchanged.
        case done
        case failed(CircleError)
    }

    /// How long a state lasts, in seconds.
    public static let timeout: UInt64 = 120

    public private(set) var state: State
    private let isOfferer: Bool
    private let key: Curve25519.KeyAgreement.PrivateKey
    private let nonce: [UInt8]
    private let offer: PairingMessage
    private var join: PairingMessage?
    private var secrets: PairingSecrets?
    private var deadline: UInt64
    /// The other side's card as received; it counts only after the user has compared the digits.
    private var received: PairingCard?

    /// Starts a pairing on the device that shows the code.
    ///
    /// - Parameter now: seconds since 1970.
    public init(offeringAt now: UInt64) {
        self.init(
            offeringAt: now, key: Curve25519.KeyAgreement.PrivateKey(),
            nonce: Self.random(PairingMessage.nonceLength), session: Self.random(PairingMessage.sessionLength))
    }

    init(offeringAt now: UInt64, key: Curve25519.KeyAgreement.PrivateKey, nonce: [UInt8], session: [UInt8]) {
        let commitment = Self.commitment(session, Array(key.publicKey.rawRepresentation), nonce)
        self.init(
            isOfferer: true, key: key, nonce: nonce, offer: .offer(session: session, commitment: commitment), at: now)
        state = .offered
    }

    /// Starts a pairing on the device that has scanned a code.
    ///
    /// - Parameters:
    ///   - code: the scanned message.
    ///   - now: seconds since 1970.
    /// - Returns: the session, and the message to send.
    /// - Throws: ``CircleError/malformed(_:)``.
    public static func join(_ code: PairingCode, at now: UInt64) throws(CircleError) -> (PairingSession, [UInt8]) {
        try join(code, at: now, key: Curve25519.KeyAgreement.PrivateKey(), nonce: random(PairingMessage.nonceLength))
    }

    static func join(
        _ code: PairingCode, at now: UInt64, key: Curve25519.KeyAgreement.PrivateKey, nonce: [UInt8]
    ) throws(CircleError) -> (PairingSession, [UInt8]) {
        let offer = try PairingMessage(code.offer)
        guard case .offer = offer else { throw .malformed(.pairingCode) }
        var session = PairingSession(isOfferer: false, key: key, nonce: nonce, offer: offer, at: now)
        let join = PairingMessage.join(
            session: offer.session, key: Array(key.publicKey.rawRepresentation), nonce: nonce)
        session.join = join
        return (session, join.bytes)
    }

    private init(
        isOfferer: Bool, key: Curve25519.KeyAgreement.PrivateKey, nonce: [UInt8], offer: PairingMessage, at now: UInt64
    ) {
        self.isOfferer = isOfferer
        self.key = key
        self.nonce = nonce
        self.offer = offer
        state = .joined
        deadline = Self.deadline(now)
    }

    /// What the code contains.
    public var code: PairingCode { PairingCode(offer: offer.bytes) }

    /// The six digits to compare; nil before both sides know them.
    public var digits: String? {
        switch state {
        case .revealed, .confirmed, .exchanged, .done: secrets?.digits
        case .offered, .joined, .failed: nil
        }
    }

    /// What the pair's records belong to; nil before both sides know it.
    public var scope: CircleScope? { secrets?.scope }

    /// The other side's card. Nil until both were exchanged and the user has compared the digits.
    public var card: PairingCard? { state == .done ? received : nil }

    /// Takes a message of the other side.
    ///
    /// - Returns: the message to send back, if there is one.
    /// - Throws: why pairing failed. ``state`` is ``State/failed(_:)`` then. A message of another session changes nothing.
    public mutating func receive(_ bytes: [UInt8], at now: UInt64) throws(CircleError) -> [UInt8]? {
        try requireTime(now)
        let message = try PairingMessage(bytes)
        guard message.session == offer.session else { throw .malformed(.pairingMessage) }
        do throws(CircleError) {
            return try take(message, at: now)
        } catch {
            state = .failed(error)
            throw error
        }
    }

    /// The user has seen the same digits on both screens.
    ///
    /// - Parameters:
    ///   - card: the user's own, in ``scope``.
    ///   - now: seconds since 1970.
    /// - Returns: the message to send.
    public mutating func confirm(with card: PairingCard, at now: UInt64) throws -> [UInt8] {
        try requireTime(now)
        guard let secrets, state == .revealed || state == .exchanged else {
            throw CircleError.pairing(.unexpected)
        }
        guard card.member.scope == secrets.scope, card.keys.terms.scope == secrets.scope else {
            throw CircleError.otherScope
        }
        let sealed = try secrets.seal(card.bytes, fromOfferer: isOfferer)
        state = state == .exchanged ? .done : .confirmed
        deadline = Self.deadline(now)
        let session = offer.session
        let message: PairingMessage =
            isOfferer ? .offererCard(session: session, sealed: sealed) : .joinerCard(session: session, sealed: sealed)
        return message.bytes
    }

    /// Ends the pairing: the user has cancelled, or seen other digits.
    ///
    /// - Returns: the message to send.
    public mutating func cancel(_ reason: CircleError.PairingFailure = .cancelled) -> [UInt8] {
        state = .failed(.pairing(reason))
        received = nil
        return PairingMessage.cancel(session: offer.session).bytes
    }

    private mutating func take(_ message: PairingMessage, at now: UInt64) throws(CircleError) -> [UInt8]? {
        switch (message, state) {
        case (.join, .offered):
            join = message
            let reveal = PairingMessage.reveal(
                session: offer.session, key: Array(key.publicKey.rawRepresentation), nonce: nonce)
            try agree(on: message, reveal, at: now)
            return reveal.bytes
        case (.reveal(let session, let key, let nonce), .joined):
            guard case .offer(_, let commitment) = offer, Self.commitment(session, key, nonce) == commitment else {
                throw .pairing(.commitment)
            }
            guard let join else { throw .pairing(.unexpected) }
            try agree(on: join, message, at: now)
        case (.join, _) where isOfferer, (.reveal, _) where !isOfferer: throw .pairing(.repeated)
        case (.offererCard(_, let sealed), .revealed) where !isOfferer,
            (.offererCard(_, let sealed), .confirmed) where !isOfferer,
            (.joinerCard(_, let sealed), .revealed) where isOfferer,
            (.joinerCard(_, let sealed), .confirmed) where isOfferer:
            guard let secrets else { throw .pairing(.unexpected) }
            let card = try secrets.open(sealed, fromOfferer: !isOfferer)
            received = try PairingCard(card, in: secrets.scope, at: now)
            state = state == .confirmed ? .done : .exchanged
            deadline = Self.deadline(now)
        case (.cancel, .done): break
        case (.cancel, _): throw .pairing(.cancelled)
        default: throw .pairing(.unexpected)
        }
        return nil
    }

    private mutating func agree(
        on join: PairingMessage, _ reveal: PairingMessage, at now: UInt64
    ) throws(CircleError) {
        let other: [UInt8]
        switch isOfferer ? join : reveal {
        case .join(_, let key, _), .reveal(_, let key, _): other = key
        default: throw .pairing(.unexpected)
        }
        secrets = try PairingSecrets(key, other, [offer, join, reveal])
        state = .revealed
        deadline = Self.deadline(now)
    }

    /// A state that lasts too long fails; a clock that was set back does not prolong it beyond twice its time.
    private mutating func requireTime(_ now: UInt64) throws(CircleError) {
        if case .failed(let error) = state { throw error }
        guard now <= deadline, deadline - now <= 2 * Self.timeout else {
            state = .failed(.pairing(.expired))
            throw .pairing(.expired)
        }
    }

    private static func deadline(_ now: UInt64) -> UInt64 {
        let (sum, overflows) = now.addingReportingOverflow(timeout)
        return overflows ? .max : sum
    }

    private static func commitment(_ session: [UInt8], _ key: [UInt8], _ nonce: [UInt8]) -> [UInt8] {
        Array(SHA256.hash(data: ("SH2 pair commit\0" as StaticString).label + session + key + nonce))
    }

    private static func random(_ count: Int) -> [UInt8] {
        SymmetricKey(size: SymmetricKeySize(bitCount: 8 * count)).withUnsafeBytes { Array($0) }
    }
}

extension PairingSession: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "(pairing, \(state))" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["state": state]) }
}

/// After three failures in a row, pairing rests for ten minutes.
///
/// A device in between has one chance in a million each time.
public struct PairingLimit: Sendable, Hashable, Codable {
    private var failures = 0
    private var until: UInt64 = 0

    static let maximumFailures = 3
    static let rest: UInt64 = 600

    public init() {}

    /// - Throws: ``CircleError/PairingFailure/paused(_:)`` while pairing rests.
    public mutating func begin(at now: UInt64) throws(CircleError) {
        guard failures >= Self.maximumFailures else { return }
        // A clock that was set back does not prolong the rest.
        guard now >= until || until - now > Self.rest else {
            throw .pairing(.paused(Int64(clamping: until - now)))
        }
        failures = 0
    }

    /// Notes how an attempt ended.
    public mutating func note(success: Bool, at now: UInt64) {
        failures = success ? 0 : failures + 1
        if failures >= Self.maximumFailures { until = now &+ Self.rest }
    }
}
