import Beacons
import Circles
import Handshake
import Nearby
import Synchronization
import TestFixtures
import Testing

@Suite("A pairing from its code to the card")
struct PairingExchangeTests {
    private let clock = PairingClock()
    private let newYear: Timestamp

    init() throws {
        newYear = try #require(Timestamp(secondsSince1970: PairingClock.start))
    }

    private func card(_ name: String) -> @Sendable (CircleScope) async throws -> PairingCard {
        let keys = RollingKeys(in: MemoryVault(), community: "c")
        let time = newYear
        return { try await keys.pairingCard(in: $0, number: nil, name: name, at: time) }
    }

    /// Two devices, the second of which has the first one's code.
    private func sides() throws -> (
        transports: (MemoryTransport, MemoryTransport), exchanges: (PairingExchange, PairingExchange)
    ) {
        let (one, other) = MemoryTransport.pair()
        let offering = PairingExchange(offeringOver: one, time: clock.time)
        return ((one, other), (offering, try PairingExchange(joining: offering.code, over: other, time: clock.time)))
    }

    /// A device that shows a code, and one that has it and does what the test tells.
    private func scripted() throws -> (transport: ScriptedTransport, exchange: PairingExchange, join: [UInt8]) {
        let transport = ScriptedTransport(clock)
        let exchange = PairingExchange(offeringOver: transport, time: clock.time)
        return (transport, exchange, try PairingSession.join(exchange.code, at: clock.seconds).1)
    }

    @Test("two people who compare the same digits have each other's card")
    func agreement() async throws {
        let (_, (one, other)) = try sides()
        let (ada, ben) = (card("Ada"), card("Ben"))
        let (ofAda, ofBen) = (DigitsSeen(), DigitsSeen())
        let joining = Task {
            try await other.finish(
                isSame: { digits in
                    ofBen.note(digits)
                    return true
                }, card: ben)
        }
        let fromBen = try await one.finish(
            isSame: { digits in
                ofAda.note(digits)
                return true
            }, card: ada)
        let fromAda = try await joining.value
        #expect(fromBen.name == "Ben" && fromBen.keys.count == 31 && fromAda.name == "Ada")
        #expect(ofAda.all == ofBen.all && ofAda.all.count == 1 && ofAda.all.first?.count == 6)
    }

    @Test("CI40: who refuses the digits tells the other device, and neither has a card")
    func refused() async throws {
        let ((one, _), (offering, joining)) = try sides()
        let (ada, ben) = (card("Ada"), card("Ben"))
        let other = Task { try await joining.finish(isSame: { _ in true }, card: ben) }
        await #expect(throws: CircleError.pairing(.differentDigits)) {
            try await offering.finish(isSame: { _ in false }, card: ada)
        }
        // What was not told yet is never told.
        one.close()
        await #expect(throws: CircleError.pairing(.cancelled)) { try await other.value }
    }

    @Test("CI41: devices that connect and are silent do not prolong the code's two minutes, and then it has expired")
    func silent() async throws {
        let (transport, exchange, _) = try scripted()
        transport.script(Array(repeating: .silence(50), count: 3))
        await #expect(throws: CircleError.pairing(.expired)) {
            try await exchange.finish(isSame: { _ in true }, card: card("Ada"))
        }
        #expect(transport.waits == [120, 70, 20] && transport.others == [70, 20])
        #expect(transport.sent == [])
    }

    @Test("a device that is silent after it has joined ends the pairing: there is no other one to wait for")
    func silentAfterwards() async throws {
        let (transport, exchange, join) = try scripted()
        transport.script([.message(join), .silence(120)])
        await #expect(throws: PairingProblem.timedOut) {
            try await exchange.finish(isSame: { _ in true }, card: card("Ada"))
        }
        #expect(transport.others == [] && transport.sent.count == 2)
    }

    @Test("CI37: what is sent without the code ends nothing while the code is shown, whatever it is")
    func hostile() async throws {
        let (transport, exchange, join) = try scripted()
        let (stranger, _, _) = try scripted()
        let foreign = PairingExchange(offeringOver: stranger, time: clock.time).code
        let (_, ofAnother) = try PairingSession.join(foreign, at: clock.seconds)
        var random = SplitMix64(seed: 37)
        var steps: [ScriptedTransport.Step] = [.message(ofAnother), .failure(.closed), .failure(.malformed)]
        for length in 0..<200 {
            var message: [UInt8] = []
            for _ in 0..<length { message.append(UInt8.random(in: 0...255, using: &random)) }
            steps.append(.message(message))
        }
        steps.append(.message(join))
        transport.script(steps)
        let seen = DigitsSeen()
        await #expect(throws: CircleError.pairing(.differentDigits)) {
            try await exchange.finish(
                isSame: { digits in
                    seen.note(digits)
                    return false
                }, card: card("Ada"))
        }
        #expect(seen.all.count == 1 && transport.others.count == 203)
        // The key, and that the digits differ.
        #expect(transport.sent.map { $0.first } == [3, 6])
    }

    @Test("what a device with the code sends, and is no message of the pairing, ends it without a card")
    func hostileAfterwards() async throws {
        for message in [[], [9], [UInt8](repeating: 0xFF, count: 2_048)] as [[UInt8]] {
            let (transport, exchange, join) = try scripted()
            transport.script([.message(join), .message(message)])
            await #expect(throws: CircleError.malformed(.pairingMessage), "\(message.count)") {
                try await exchange.finish(isSame: { _ in true }, card: card("Ada"))
            }
            let other = ScriptedTransport(clock)
            let joining = try PairingExchange(joining: exchange.code, over: other, time: clock.time)
            other.script([.message(message), .message(join)])
            await #expect(throws: CircleError.malformed(.pairingMessage), "\(message.count)") {
                try await joining.finish(isSame: { _ in true }, card: card("Ben"))
            }
            #expect(other.others == [] && other.sent.count == 1)
        }
    }

    @Test("CI37: a pairing that is cancelled waits for no other device", .heavy)
    func cancelled() async throws {
        let (transport, exchange, _) = try scripted()
        transport.script([.cancellation, .failure(.closed)])
        await #expect(throws: CancellationError.self) {
            try await exchange.finish(isSame: { _ in true }, card: card("Ada"))
        }
        #expect(transport.others == [])
        let listening = PairingExchange(offeringOver: try PairingConnection(isLocal: true), time: clock.time)
        let ada = card("Ada")
        let task = Task { try await listening.finish(isSame: { _ in true }, card: ada) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("CI40: who leaves while the digits are compared has cancelled, and has not refused them")
    func cancelledWhileComparing() async throws {
        let (transport, exchange, join) = try scripted()
        transport.script([.message(join)])
        let ada = card("Ada")
        let (isAsked, isGone) = (Gate(), Gate())
        let task = Task {
            try await exchange.finish(
                isSame: { _ in
                    isAsked.open()
                    await isGone.wait()
                    return false
                }, card: ada)
        }
        await isAsked.wait()
        task.cancel()
        isGone.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(transport.sent.map { $0.first } == [3])
    }

    @Test(
        "over the network who connects without the code is left, and the code leads to the device that shows it",
        .heavy)
    func network() async throws {
        let connection = try PairingConnection(isLocal: true)
        let offering = PairingExchange(offeringOver: connection, time: clock.time)
        let address = try #require(offering.code.address)
        #expect(address == connection.address)
        guard case .ipv4(let bytes, let port) = address else {
            Issue.record("\(address)")
            return
        }
        let (ada, ben) = (card("Ada"), card("Ben"))
        let showing = Task { try await offering.finish(isSame: { _ in true }, card: ada) }
        let stranger = try await PairingChannel.connect(to: bytes, port: port)
        try await stranger.send([2] + [UInt8](repeating: 0, count: 64))
        await #expect(throws: PairingProblem.closed) { try await stranger.receive(within: 30) }
        let connected = try await PairingConnection.connect(to: address)
        #expect(connected.address == nil)
        let code = try PairingCode(offering.code.text)
        let joining = try PairingExchange(joining: code, over: connected, time: clock.time)
        let fromAda = try await joining.finish(isSame: { _ in true }, card: ben)
        let fromBen = try await showing.value
        #expect(fromAda.name == "Ada" && fromBen.name == "Ben")
    }
}

/// The digits that a screen has shown.
private final class DigitsSeen: Sendable {
    private let digits = Mutex<[String]>([])

    var all: [String] { digits.withLock(\.self) }
    func note(_ shown: String) { digits.withLock { $0.append(shown) } }
}

/// A clock that only a silent device advances.
private final class PairingClock: Sendable {
    /// 2026-01-01T00:00:00Z.
    static let start = 1_767_225_600.0

    private let now = Mutex(PairingClock.start)

    var seconds: UInt64 { UInt64(now.withLock(\.self)) }
    var time: TimeSource { TimeSource(now: { self.now.withLock(\.self) }, clock: HurriedClock()) }
    func advance(by seconds: Double) { now.withLock { $0 += seconds } }
}

/// One of two devices whose messages reach each other.
private final class MemoryTransport: PairingTransport {
    let address: PairingCode.Address? = nil
    private let incoming: AsyncStream<[UInt8]>
    private let outgoing: AsyncStream<[UInt8]>.Continuation

    private init(_ incoming: AsyncStream<[UInt8]>, _ outgoing: AsyncStream<[UInt8]>.Continuation) {
        self.incoming = incoming
        self.outgoing = outgoing
    }

    static func pair() -> (MemoryTransport, MemoryTransport) {
        let (toOne, sendToOne) = AsyncStream.makeStream(of: [UInt8].self)
        let (toOther, sendToOther) = AsyncStream.makeStream(of: [UInt8].self)
        return (MemoryTransport(toOne, sendToOther), MemoryTransport(toOther, sendToOne))
    }

    func close() { outgoing.finish() }

    func send(_ message: [UInt8]) async throws { outgoing.yield(message) }

    func receive(within seconds: Int) async throws -> [UInt8] {
        for await message in incoming { return message }
        try Task.checkCancellation()
        throw PairingProblem.closed
    }

    func waitForAnother(within seconds: Int) async throws -> Bool { false }
}

/// What other devices send, one step for each wait.
private final class ScriptedTransport: PairingTransport {
    enum Step: Sendable {
        case message([UInt8])
        case failure(PairingProblem)
        case cancellation
        /// Nothing comes for so many seconds.
        case silence(Double)
    }

    private struct State {
        var steps: [Step] = []
        var sent: [[UInt8]] = []
        var waits: [Int] = []
        var others: [Int] = []
    }

    let address: PairingCode.Address? = nil
    private let clock: PairingClock
    private let state = Mutex(State())

    init(_ clock: PairingClock) {
        self.clock = clock
    }

    var sent: [[UInt8]] { state.withLock(\.sent) }
    /// How long each message was waited for, and each other device.
    var waits: [Int] { state.withLock(\.waits) }
    var others: [Int] { state.withLock(\.others) }

    func script(_ steps: [Step]) { state.withLock { $0.steps = steps } }

    func send(_ message: [UInt8]) async throws { state.withLock { $0.sent.append(message) } }

    func receive(within seconds: Int) async throws -> [UInt8] {
        let step = state.withLock { state -> Step in
            state.waits.append(seconds)
            return state.steps.isEmpty ? .failure(.unreachable("the script has ended")) : state.steps.removeFirst()
        }
        switch step {
        case .message(let message): return message
        case .failure(let problem): throw problem
        case .cancellation: throw CancellationError()
        case .silence(let seconds):
            clock.advance(by: seconds)
            throw PairingProblem.timedOut
        }
    }

    /// There is another one as long as the script has steps.
    func waitForAnother(within seconds: Int) async throws -> Bool {
        state.withLock { state in
            state.others.append(seconds)
            return !state.steps.isEmpty
        }
    }
}
