public import Beacons

/// What a user advertises over time: one element for each identifier.
///
/// A user who is in several circles has a seed for each. A radio that sends several advertisements sends one for each of these
/// scopes; otherwise, and when this sequence is iterated, they take turns (circles dossier 2).
///
/// Iterating waits for the next element. It throws `BeaconsError.time` when the machine's clock is before 1970, and
/// `CancellationError`.
public struct Broadcasts: AsyncSequence, Sendable {
    private enum Plan: Sendable {
        case nothing
        case constant(AdvertisingData)
        case rolling(Rolling)
    }

    /// The identifiers of one advertising instance.
    private struct Rolling: Sendable {
        let seeds: [RollingSeed]
        let form: BroadcastForm
        let time: ScanTime
        var generator: any RandomNumberGenerator & Sendable
        var instance = 0
        var instances = 1
    }

    private let plan: Plan

    private init(_ plan: Plan) {
        self.plan = plan
    }

    /// Constant data.
    public init(constant data: AdvertisingData) {
        plan = .constant(data)
    }

    /// The broadcasts of a mode (dossier 8.4). There are none in `scanOnly`, one in `static`, and one each quarter of
    /// an hour in `rolling`.
    ///
    /// - Parameters:
    ///   - mode: The user's choice.
    ///   - form: The frame. A constant number can only be an iBeacon.
    ///   - time: The current time, and the clock of delays.
    ///   - generator: Draws the moment of each rotation.
    /// - Throws: ``RadioError/input(member:problem:)`` for a constant number in another form;
    ///   `BeaconsError.userNumber` for one that its scheme cannot encode.
    public init(
        _ mode: AdvertisingMode, as form: BroadcastForm, time: ScanTime = .system,
        generator: some RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) throws {
        switch mode {
        case .scanOnly: self.init(.nothing)
        case .rolling(let seed): self.init(rolling: [seed], as: form, time: time, generator: generator)
        case .static(let number, let scheme, _):
            guard case .iBeacon(let uuid, let power) = form else {
                throw RadioError.input(member: "form", problem: "a constant number can only be sent as an iBeacon")
            }
            let (major, minor) = try number.identifiers(scheme)
            let beacon = IBeacon(uuid: uuid, major: major, minor: minor, power: power)
            self.init(.constant(try AdvertisingData([beacon.structure])))
        }
    }

    /// The rolling identifiers of several scopes, one each quarter of an hour.
    ///
    /// - Parameters:
    ///   - seeds: One for each scope. Without any, nothing is sent.
    ///   - form: The frame.
    ///   - time: The current time, and the clock of delays.
    ///   - generator: Draws the moment of each rotation, where the form derives none.
    public init(
        rolling seeds: [RollingSeed], as form: BroadcastForm = .serviceUUID, time: ScanTime = .system,
        generator: some RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        plan =
            seeds.isEmpty
            ? .nothing : .rolling(Rolling(seeds: seeds, form: form, time: time, generator: generator))
    }

    /// How many identifiers there are at a time.
    var scopes: Int {
        switch plan {
        case .nothing: 0
        case .constant: 1
        case .rolling(let rolling): rolling.seeds.count
        }
    }

    /// The same for so many advertisements at a time: with fewer than there are scopes, these take turns.
    func instances(_ count: Int) -> [Broadcasts] {
        guard case .rolling(var rolling) = plan else { return [self] }
        rolling.instances = Swift.min(Swift.max(count, 1), rolling.seeds.count)
        return (0..<rolling.instances).map { instance in
            rolling.instance = instance
            return Broadcasts(.rolling(rolling))
        }
    }

    public func makeAsyncIterator() -> some AsyncIteratorProtocol<Broadcast, any Error> & Sendable {
        switch plan {
        case .nothing: Iterator(state: .ended)
        case .constant(let data): Iterator(state: .constant(data))
        case .rolling(let rolling):
            Iterator(
                state: .rolling(
                    RollingBroadcast(
                        of: rolling.seeds, instance: rolling.instance, of: rolling.instances,
                        schedule: rolling.form.schedule),
                    rolling.form, rolling.time, rolling.generator))
        }
    }

    private struct Iterator: AsyncIteratorProtocol, Sendable {
        enum State: Sendable {
            case ended
            case constant(AdvertisingData)
            case rolling(RollingBroadcast, BroadcastForm, ScanTime, any RandomNumberGenerator & Sendable)
        }

        var state: State
        /// The end of the current identifier, or of the silence.
        private var end: Timestamp?
        private var isSilent = false

        /// How often the clock is checked: it can be set meanwhile, and a machine can sleep.
        private static let maximumSleep = Duration.seconds(60)

        init(state: State) {
            self.state = state
        }

        mutating func next() async throws -> Broadcast? {
            switch state {
            case .ended: return nil
            case .constant(let data):
                state = .ended
                return .data(data)
            case .rolling(var rolling, let form, let time, var generator):
                while true {
                    let now = time.now()
                    if let end, now < end {
                        try await time.clock.sleep(for: Swift.min(now.duration(to: end), Self.maximumSleep))
                    }
                    let step = try Self.step(&rolling, at: time.now(), using: &generator)
                    state = .rolling(rolling, form, time, generator)
                    switch step {
                    case .keep: break
                    case .rotate(let term):
                        (end, isSilent) = (term.end, false)
                        return try form.broadcast(of: term)
                    case .silence(let until):
                        end = until
                        guard !isSilent else { continue }
                        isSilent = true
                        return .silence
                    }
                }
            }
        }

        private static func step(
            _ rolling: inout RollingBroadcast, at time: Timestamp, using generator: inout some RandomNumberGenerator
        ) throws(BeaconsError) -> RollingBroadcast.Step {
            try rolling.step(at: time, using: &generator)
        }
    }
}

extension BroadcastForm {
    fileprivate var schedule: RollingBroadcast.Schedule { self == .serviceUUID ? .derived : .drawn }

    fileprivate func broadcast(of term: RollingBroadcast.Term) throws(BeaconsError) -> Broadcast {
        switch self {
        case .serviceUUID: .data(try AdvertisingData([.service(term.uuid)]))
        case .serviceData(let service): .data(try AdvertisingData([term.token.structure(for: service)]))
        case .eddystoneUID(let power):
            .data(try AdvertisingData(EddystoneUID(carrying: term.token).structures(power: power)))
        case .iBeacon(let uuid, let power):
            if let beacon = term.iBeacon(uuid: uuid, power: power) {
                .data(try AdvertisingData([beacon.structure]))
            } else {
                .silence
            }
        }
    }
}
