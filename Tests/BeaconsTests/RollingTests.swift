import Beacons
import Testing

@Suite("Rolling identifiers")
struct RollingTests {
    private let seed: RollingSeed
    /// 2026-01-01, 00:00 UTC.
    private let newYear = 1_767_225_600.0
    private let first = RollingWindow(number: 1_963_584)

    init() throws {
        seed = try RollingSeed(revealed: Array(0...31))
    }

    @Test("BE-20: the day key of the dossier is derived from its seed")
    func dayKey() throws {
        let day = try RollingWindow(at: try at(newYear)).day
        #expect(day.number == 20_454)
        #expect(
            hex(seed.dayKey(for: day).reveal()) == "5f666545439d19fef66deb906e499b54d179ecb0c0a1a7c1ac7a818958fed882")
    }

    @Test(
        "BE-20: the tokens of the dossier are derived for their windows",
        arguments: [
            (1_963_584, "b3fe98449dfab4702e0868eb355c32c9"), (1_963_585, "32c170d9b408a6170d31dbd5acd2c2c7"),
            (1_963_679, "60507f952df3860b35fd2727b0822484"),
        ] as [(UInt32, String)])
    func tokens(_ number: UInt32, _ digits: String) throws {
        let window = RollingWindow(number: number)
        #expect("\(seed.token(in: window))" == digits)
        let shared = try DayKey(day: window.day, revealed: seed.dayKey(for: window.day).reveal())
        #expect(shared.token(in: window)?.bytes == bytes(digits))
    }

    @Test("BE-20: the first token makes the iBeacon of the dossier")
    func iBeacon() throws {
        var broadcast = RollingBroadcast(seed)
        var generator = SeededGenerator(state: 1)
        guard case .rotate(let term) = try broadcast.step(at: try at(newYear + 100), using: &generator) else {
            Issue.record("nothing is put up")
            return
        }
        #expect(term.window == first)
        let beacon = try #require(term.iBeacon(uuid: .secretHandshake))
        #expect(beacon.major == 46_078 && beacon.minor == 38_980)
        #expect(
            try AdvertisingData([beacon.structure]).bytes
                == bytes("1a ff 4c 00 02 15 3e e7 61 a0 f7 37 11 e3 a3 ac 08 00 20 0c 9a 66 b3 fe 98 44 c5"))
    }

    @Test("BE-20: the 16-byte form is sent as a community's service data and read again by who knows the service")
    func serviceData() throws {
        let service = ServiceUUID(rawValue: 0xFDF0)
        let token = seed.token(in: first)
        let data = try AdvertisingData([.flags(), token.structure(for: service)])
        #expect(hex(data.bytes) == "020106" + "1316f0fd" + "b3fe98449dfab4702e0868eb355c32c9")
        let frame = FrameParser(rollingService: service).frame(in: data)
        #expect(frame == .rolling(token))
        #expect(frame.identity == .rolling(token))
        #expect(FrameParser().frame(in: data) == .unknown)
        let short = try AdvertisingData([.serviceData(service, Array(token.bytes.dropLast()))])
        #expect(FrameParser(rollingService: service).frame(in: short) == .malformed(.rolling))
    }

    @Test("BE-20: a token whose minor would be 0 has no short form, and nothing is sent in it")
    func minorZero() {
        #expect(RollingToken(high: 0x1234_0000_5678_9abc, low: 1).short == nil)
        #expect(RollingToken(high: 0x0000_0001_0000_0000, low: 0).short == ShortRollingToken(major: 0, minor: 1))
        #expect(ShortRollingToken(major: 7, minor: 0) == nil)
    }

    @Test("BE-20: the identifier changes with the address at a border, up to a minute early or late, and never else")
    func rotation() throws {
        var offsets: Set<Double> = []
        for state in 0..<200 as Range<UInt64> {
            var broadcast = RollingBroadcast(seed)
            var generator = SeededGenerator(state: state)
            guard case .rotate(let term) = try broadcast.step(at: try at(newYear), using: &generator) else {
                Issue.record("nothing is put up")
                return
            }
            #expect(term.window == first)
            let offset = term.end.secondsSince1970 - newYear - 900
            #expect(abs(offset) <= 60)
            offsets.insert(offset)
            let justBefore = term.end.advanced(by: .microseconds(-1))
            #expect(try broadcast.step(at: justBefore, using: &generator) == .keep(term))
            guard case .rotate(let next) = try broadcast.step(at: term.end, using: &generator) else {
                Issue.record("the identifier did not change at its end")
                return
            }
            #expect(next.window.number == first.number + 1)
            #expect(next.token == seed.token(in: next.window))
            #expect(abs(next.end.secondsSince1970 - newYear - 1_800) <= 60)
        }
        #expect(offsets.count > 190)
        #expect(offsets.contains { $0 < -30 } && offsets.contains { $0 > 30 })
    }

    @Test("BE-20: a start right before a window's end never has an end in the past")
    func beginning() throws {
        for state in 0..<100 as Range<UInt64> {
            for before in [59.0, 30, 1, 0.001] {
                var broadcast = RollingBroadcast(seed)
                var generator = SeededGenerator(state: state)
                let now = try at(newYear + 900 - before)
                guard case .rotate(let term) = try broadcast.step(at: now, using: &generator) else {
                    Issue.record("nothing is put up")
                    return
                }
                #expect(term.end > now)
                #expect([first.number, first.number + 1].contains(term.window.number))
            }
        }
    }

    @Test("BE-20: after sleep and after a clock that was set back the present window is sent")
    func leaps() throws {
        var broadcast = RollingBroadcast(seed)
        var generator = SeededGenerator(state: 5)
        _ = try broadcast.step(at: try at(newYear), using: &generator)
        for time in [newYear + 8 * 3_600 + 450, newYear + 450, newYear + 5 * 86_400] {
            guard case .rotate(let term) = try broadcast.step(at: try at(time), using: &generator) else {
                Issue.record("an old identifier is kept at \(time)")
                return
            }
            #expect(term.window == (try RollingWindow(at: try at(time))))
        }
        #expect(throws: BeaconsError.time(try at(-1))) { try broadcast.step(at: try at(-1), using: &generator) }
    }

    @Test(
        "BE-20: a friend is recognised in the window and three minutes around it, by both forms, and never without the key"
    )
    func resolving() throws {
        var resolver = RollingResolver<String>()
        resolver.add(seed.dayKey(for: first.day), of: "Ada")
        let now = try at(newYear + 10 * 900 + 1)
        #expect(throws: BeaconsError.self) { try resolver.resolve(seed.token(in: first), at: now) }
        try resolver.prepare(for: now)
        for number in first.number + 8...first.number + 12 {
            let window = RollingWindow(number: number)
            // A second into a window, the one before is accepted and the next is not.
            let isNear = [first.number + 9, first.number + 10].contains(number)
            let expected: RollingResolver<String>.Resolution = isNear ? .member("Ada", window) : .unknown
            let token = seed.token(in: window)
            #expect(try resolver.resolve(token, at: now) == expected)
            #expect(try resolver.resolve(try #require(token.short), at: now) == expected)
        }
        let stranger = try RollingSeed(revealed: Array(1...32))
        #expect(try resolver.resolve(stranger.token(in: try RollingWindow(at: now)), at: now) == .unknown)
        let later = now.advanced(by: .seconds(900))
        #expect(throws: BeaconsError.notPrepared(RollingWindow(number: first.number + 12))) {
            try resolver.resolve(seed.token(in: first), at: later)
        }
    }

    @Test(
        "BE-20: an identifier is accepted up to three minutes before and after its window, and a later copy is not",
        arguments: [(-181, false), (-180, true), (0, true), (1_080, true), (1_081, false), (1_440, false)])
    func replayed(second: Int, isAccepted: Bool) throws {
        var resolver = RollingResolver<String>()
        let window = RollingWindow(number: first.number + 10)
        resolver.add(seed.dayKey(for: window.day), of: "Ada")
        let now = window.start.advanced(by: .seconds(second))
        try resolver.prepare(for: now)
        let expected: RollingResolver<String>.Resolution = isAccepted ? .member("Ada", window) : .unknown
        #expect(try resolver.resolve(seed.token(in: window), at: now) == expected)
    }

    @Test("BE-20: at midnight the neighbour of the other day is recognised by that day's key only")
    func midnight() throws {
        let now = try at(newYear + 1)
        let before = RollingWindow(number: first.number - 1)
        #expect(before.day.number == 20_453)
        var resolver = RollingResolver<String>()
        resolver.add(seed.dayKey(for: first.day), of: "Ada")
        try resolver.prepare(for: now)
        #expect(try resolver.resolve(seed.token(in: before), at: now) == .unknown)
        resolver.add(seed.dayKey(for: before.day), of: "Ada")
        try resolver.prepare(for: now)
        #expect(try resolver.resolve(seed.token(in: before), at: now) == .member("Ada", before))
        #expect(seed.dayKey(for: first.day).token(in: before) == nil)
    }

    @Test("BE-20: an identifier of several members is said to be ambiguous")
    func ambiguous() throws {
        var resolver = RollingResolver<String>()
        let key = seed.dayKey(for: first.day)
        for member in ["Ada", "Ben", "Cy"] { resolver.add(key, of: member) }
        let now = try at(newYear + 901)
        try resolver.prepare(for: now)
        let token = seed.token(in: first)
        #expect(try resolver.resolve(token, at: now) == .ambiguous(["Ada", "Ben", "Cy"]))
        #expect(try resolver.resolve(try #require(token.short), at: now) == .ambiguous(["Ada", "Ben", "Cy"]))
        resolver.forget("Ben")
        resolver.forget("Cy")
        try resolver.prepare(for: now)
        #expect(try resolver.resolve(token, at: now) == .member("Ada", first))
    }

    @Test("BE-20: a key that takes another's place takes its identifiers away, and old keys are dropped")
    func replacing() throws {
        var resolver = RollingResolver<String>()
        let now = try at(newYear + 901)
        resolver.add(seed.dayKey(for: first.day), of: "Ada")
        try resolver.prepare(for: now)
        let other = try RollingSeed(revealed: Array(1...32))
        resolver.add(other.dayKey(for: first.day), of: "Ada")
        try resolver.prepare(for: now)
        #expect(try resolver.resolve(seed.token(in: first), at: now) == .unknown)
        #expect(try resolver.resolve(other.token(in: first), at: now) == .member("Ada", first))
        #expect(resolver.keyCount == 1)
        try resolver.prepare(for: now.advanced(by: .seconds(86_400)))
        #expect(resolver.keyCount == 1)
        try resolver.prepare(for: now.advanced(by: .seconds(2 * 86_400)))
        #expect(resolver.keyCount == 0)
    }

    @Test("BE-20: four bytes count after two windows, sixteen immediately")
    func evidence() {
        var evidence = RollingEvidence<String>(capacity: 2)
        let next = RollingWindow(number: first.number + 1)
        #expect(evidence.confirms("Ada", in: first, by: .sixteenBytes) == true)
        #expect(evidence.confirms("Ada", in: first, by: .fourBytes) == false)
        #expect(evidence.confirms("Ada", in: first, by: .fourBytes) == false)
        for _ in 0..<2 { #expect(evidence.confirms("Ada", in: next, by: .fourBytes) == true) }
        #expect(evidence.confirms("Ada", in: first, by: .fourBytes) == true)
        #expect(evidence.confirms("Ben", in: first, by: .fourBytes) == false)
        #expect(evidence.confirms("Ben", in: RollingWindow(number: first.number + 5), by: .fourBytes) == false)
        #expect(evidence.confirms("Cy", in: RollingWindow(number: first.number + 5), by: .fourBytes) == false)
        #expect(evidence.confirms("Ben", in: RollingWindow(number: first.number + 6), by: .fourBytes) == true)
    }

    @Test("BE-20: a seed and a key of another length are refused, and neither shows itself")
    func secrets() throws {
        for count in [0, 16, 31, 33] {
            let bytes = [UInt8](repeating: 7, count: count)
            #expect(throws: BeaconsError.keyLength(found: count, expected: 32)) { try RollingSeed(revealed: bytes) }
            #expect(throws: BeaconsError.keyLength(found: count, expected: 32)) {
                try DayKey(day: first.day, revealed: bytes)
            }
        }
        #expect(RollingSeed.random().reveal() != RollingSeed.random().reveal())
        #expect(seed.reveal() == Array(0...31))
        let key = seed.dayKey(for: first.day)
        for text in ["\(seed)", String(reflecting: seed), "\(key)", String(reflecting: key)] {
            #expect(text.hasPrefix("(secret"))
        }
        #expect(Mirror(reflecting: seed).children.isEmpty)
        var dumped = ""
        dump((seed, key), to: &dumped)
        #expect(!dumped.contains("SymmetricKey"))
    }

    @Test("BE-22: a mode is chosen, and a constant number takes the user's consent by name")
    func modes() throws {
        let number = try UserNumber(759)
        let modes: [AdvertisingMode] = [
            .scanOnly, .rolling(seed),
            .static(number, .secretHandshake, consent: .userAgreesToBeFollowedByStrangers),
        ]
        var generator = SeededGenerator(state: 1)
        let frames = try modes.map { mode -> IBeacon? in
            switch mode {
            case .scanOnly: nil
            case .rolling(let seed):
                try {
                    var broadcast = RollingBroadcast(seed)
                    guard case .rotate(let term) = try broadcast.step(at: try at(newYear), using: &generator)
                    else {
                        return nil
                    }
                    return term.iBeacon(uuid: .secretHandshake)
                }()
            case .static(let number, let scheme, consent: _):
                try {
                    let (major, minor) = try number.identifiers(scheme)
                    return IBeacon(uuid: .secretHandshake, major: major, minor: minor)
                }()
            }
        }
        #expect(frames[0] == nil)
        #expect(frames[1]?.major == 46_078)
        #expect(frames[2] == worked)
        #expect(!String(describing: modes).contains("000102"))
    }
}
