public import Circles
public import Handshake

/// How the messages of a pairing travel from one device to the other.
///
/// It is not trusted: the digits that both users compare show whether another device is in between.
public protocol PairingTransport: Sendable {
    /// Where the other device connects to; nil where it does not connect.
    ///
    /// The code names it.
    var address: PairingCode.Address? { get }

    /// Sends a message.
    func send(_ message: [UInt8]) async throws

    /// The next message.
    ///
    /// - Parameter seconds: how long it is waited for at most.
    /// - Throws: ``PairingProblem/timedOut`` where nothing comes.
    func receive(within seconds: Int) async throws -> [UInt8]

    /// Ends with the device at the other end, and waits for another one.
    ///
    /// - Parameter seconds: how long it is waited for at most.
    /// - Returns: false where there can be no other one.
    /// - Throws: ``PairingProblem/timedOut`` where none comes.
    func waitForAnother(within seconds: Int) async throws -> Bool
}

/// A pairing of two people beside each other, from its code to the card.
///
/// One device shows ``code``, the other one joins with it, and each user types the six digits of the other screen (circles
/// dossier 5). Nothing is stored: who has the card gives it to ``RollingKeys/addPaired(_:at:)``.
public struct PairingExchange: Sendable {
    private let session: PairingSession
    /// What the device that has the code sends first.
    private let first: [UInt8]?
    private let transport: any PairingTransport
    private let time: TimeSource

    /// Begins a pairing on the device that shows the code.
    ///
    /// - Parameters:
    ///   - transport: how the messages travel.
    ///   - time: the clock.
    public init(offeringOver transport: any PairingTransport, time: TimeSource = .system) {
        session = PairingSession(offeringAt: Self.seconds(time))
        first = nil
        self.transport = transport
        self.time = time
    }

    /// Begins a pairing on the device that has the code.
    ///
    /// - Parameters:
    ///   - code: what the other device shows.
    ///   - transport: how the messages travel; it is connected to the code's address, where that is how.
    ///   - time: the clock.
    /// - Throws: `CircleError.malformed`.
    public init(
        joining code: PairingCode, over transport: any PairingTransport, time: TimeSource = .system
    ) throws(CircleError) {
        let (session, first) = try PairingSession.join(code, at: Self.seconds(time))
        self.session = session
        self.first = first
        self.transport = transport
        self.time = time
    }

    /// The code for the other device, with where it connects to.
    public var code: PairingCode { transport.address.map { session.code.at($0) } ?? session.code }

    /// Exchanges messages until this device has the other one's card.
    ///
    /// Both users have compared the digits then. A device that connects without the code, or is silent, ends nothing while
    /// the code is shown: another one is waited for. What comes later and is not of this pairing ends it. Call it once.
    ///
    /// - Parameters:
    ///   - isSame: asks the user for the six digits of the other screen, and says whether they are those that it is given.
    ///   - card: the user's own, for the pair: ``RollingKeys/pairingCard(in:number:name:at:)``.
    /// - Returns: the other person's card.
    /// - Throws: `CircleError`, ``PairingProblem``, `CancellationError`, and what the transport and the closures throw.
    public func finish(
        isSame: (String) async throws -> Bool, card: (CircleScope) async throws -> PairingCard
    ) async throws -> PairingCard {
        var session = self.session
        if let first { try await transport.send(first) }
        do {
            try await agree(&session)
        } catch PairingProblem.timedOut where session.state == .offered {
            // It was not scanned in time.
            throw CircleError.pairing(.expired)
        }
        guard let digits = session.digits, let scope = session.scope else { throw CircleError.pairing(.unexpected) }
        let areSame = try await isSame(digits)
        // A question that was taken from the screen is no answer.
        try Task.checkCancellation()
        guard areSame else {
            try? await transport.send(session.cancel(.differentDigits))
            throw CircleError.pairing(.differentDigits)
        }
        let own = try await card(scope)
        try await transport.send(try session.confirm(with: own, at: now))
        while session.card == nil {
            let message = try await transport.receive(within: Int(PairingSession.timeout))
            _ = try session.receive(message, at: now)
        }
        guard let received = session.card else { throw CircleError.pairing(.unexpected) }
        return received
    }

    /// Exchanges messages until both sides know the digits.
    private func agree(_ session: inout PairingSession) async throws {
        let end = now + PairingSession.timeout
        while session.digits == nil {
            do {
                let message = try await transport.receive(within: rest(until: end))
                if let reply = try session.receive(message, at: now) { try await transport.send(reply) }
            } catch  where session.state == .offered && !(error is CancellationError) {
                // Who connects and does not know the code, as a program that looks for open ports, ends nothing.
                let left = rest(until: end)
                guard left > 0, try await transport.waitForAnother(within: left) else { throw error }
            }
        }
    }

    /// How many seconds there are until `end`; a clock that was set back does not add to them.
    private func rest(until end: UInt64) -> Int {
        let present = now
        return present < end ? Int(min(end - present, PairingSession.timeout)) : 0
    }

    private var now: UInt64 { Self.seconds(time) }

    private static func seconds(_ time: TimeSource) -> UInt64 { UInt64(max(0, time.now())) }
}
