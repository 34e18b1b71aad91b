import Beacons
import Testing

/// The vectors are those of the circles dossier, chapter 2: seed A 00 … 1f, seed B 80 … 9f.
@Suite("Rolling service UUIDs")
struct RollingServiceTests {
    private let a: RollingSeed
    private let b: RollingSeed
    private let first = RollingWindow(number: 1_963_584)

    init() throws {
        a = try RollingSeed(revealed: Array(0...31))
        b = try RollingSeed(revealed: Array(128...159))
    }

    struct Vector: Sendable {
        let isA: Bool
        let window: UInt32
        let uuid: String
        let delay: Int64
        let sent: String
    }

    static let vectors = [
        Vector(
            isA: true, window: 1_963_584, uuid: "b3fe9844-9dfa-4470-ae08-68eb355c32c9", delay: 32,
            sent: "c9325c35eb6808ae7044fa9d4498feb3"),
        Vector(
            isA: true, window: 1_963_585, uuid: "32c170d9-b408-4617-8d31-dbd5acd2c2c7", delay: 86,
            sent: "c7c2d2acd5db318d174608b4d970c132"),
        Vector(
            isA: true, window: 1_963_679, uuid: "60507f95-2df3-460b-b5fd-2727b0822484", delay: 113,
            sent: "842482b02727fdb50b46f32d957f5060"),
        Vector(
            isA: true, window: 1_963_680, uuid: "aacb751e-8b68-4256-b9c6-5f47f7a2b415", delay: 224,
            sent: "15b4a2f7475fc6b95642688b1e75cbaa"),
        Vector(
            isA: false, window: 1_963_584, uuid: "d3f194fb-fa7d-4d4f-993d-ed692ab90300", delay: 32,
            sent: "0003b92a69ed3d994f4d7dfafb94f1d3"),
        Vector(
            isA: false, window: 1_963_585, uuid: "251440fe-ba2f-4bbb-b134-ee690bd82f0a", delay: 278,
            sent: "0a2fd80b69ee34b1bb4b2fbafe401425"),
    ]

    @Test(
        "CI1, CI2: identifier, moment of the change and the 18 bytes on the air are those of the dossier",
        arguments: vectors)
    func vector(_ vector: Vector) throws {
        let seed = vector.isA ? a : b
        let window = RollingWindow(number: vector.window)
        let uuid = RollingUUID(seed.token(in: window))
        #expect(uuid.description == vector.uuid)
        #expect(RollingUUID(vector.uuid.uppercased()) == uuid)
        #expect(seed.change(to: window) == window.start.advanced(by: .seconds(vector.delay)))
        let data = try AdvertisingData([.service(uuid)])
        #expect(hex(data.bytes) == "1107" + vector.sent)
        #expect(FrameParser().frame(in: data) == .rollingService(uuid))
        #expect(FrameParser().frame(in: data).identity == .rollingService(uuid))
        // Type 06 is read as well, and flags before it do not matter.
        let incomplete = try AdvertisingData([
            .flags(0x1A), AdvertisingStructure(type: .incompleteServices128, value: Array(data.bytes.dropFirst(2))),
        ])
        #expect(FrameParser().rollingServices(in: incomplete) == [uuid])
    }

    @Test("CI1: the day keys of the dossier")
    func dayKeys() {
        let next = a.dayKey(for: RollingDay(number: 20_455)).reveal()
        #expect(hex(next) == "0c27f2d42be9498cb66fff339acbf2b17bbe7c8d64d78a9677977ad4ac2eac90")
        let other = b.dayKey(for: RollingDay(number: 20_454)).reveal()
        #expect(hex(other) == "685631e3bd2ece3e7dc7cc5f84ba441fbdf431a712545d4792282ce008739143")
    }

    @Test("CI3: every identifier reads as a random UUID of RFC 9562, and every other UUID is none")
    func versionAndVariant() {
        var generator = SeededGenerator(state: 3)
        var seen: Set<RollingUUID> = []
        for _ in 0..<10_000 {
            let token = RollingToken(high: generator.next(), low: generator.next())
            let uuid = RollingUUID(token)
            let text = Array(uuid.description)
            #expect(text[14] == "4" && "89ab".contains(text[19]))
            #expect(uuid.high ^ token.high & ~0xF000 == uuid.high & 0xF000)
            seen.insert(uuid)
        }
        #expect(seen.count == 10_000)
        #expect(RollingUUID("b3fe9844-9dfa-1470-ae08-68eb355c32c9") == nil)
        #expect(RollingUUID("b3fe9844-9dfa-4470-ce08-68eb355c32c9") == nil)
        #expect(RollingUUID("0000feaa-0000-1000-8000-00805f9b34fb") == nil)
    }

    @Test("CI7: the first identifier is accepted until 00:18:26 and stale a second later, and from 23:58:32 on")
    func acceptance() throws {
        var resolver = RollingResolver<String>()
        for day in [first.day.number - 1, first.day.number] {
            resolver.add(a.dayKey(for: RollingDay(number: day)), of: "Ada")
        }
        let uuid = RollingUUID(a.token(in: first))
        let midnight = first.start
        for (second, isAccepted) in [
            (-88, true), (-89, false), (0, true), (1_106, true), (1_107, false), (1_440, false),
        ] {
            let now = midnight.advanced(by: .seconds(second))
            try resolver.prepare(for: now)
            let expected: RollingResolver<String>.Resolution = isAccepted ? .member("Ada", first) : .stale
            #expect(try resolver.resolve(uuid, at: now) == expected, "\(second) s after midnight")
        }
    }

    @Test("CI8: a copy sent 25 minutes later is never accepted, whatever the window")
    func copies() throws {
        var resolver = RollingResolver<String>()
        for number in first.number..<first.number + 90 {
            let window = RollingWindow(number: number)
            resolver.add(a.dayKey(for: window.day), of: "Ada")
            let heard = a.change(to: window)
            for delay in [1_500, 3_600, 86_400] {
                let now = heard.advanced(by: .seconds(delay))
                try resolver.prepare(for: now)
                let resolution = try resolver.resolve(RollingUUID(a.token(in: window)), at: now)
                #expect(resolution == .stale || resolution == .unknown, "window \(number), \(delay) s later")
            }
        }
    }

    @Test("the end of a day's last term is not known without the next day's key, and then as late as it can be")
    func withoutTheNextKey() throws {
        let last = RollingWindow(number: 1_963_679)
        let uuid = RollingUUID(a.token(in: last))
        let midnight = last.start.advanced(by: .seconds(900))
        var resolver = RollingResolver<String>()
        resolver.add(a.dayKey(for: last.day), of: "Ada")
        // With the next key the term ends 224 s after midnight, and is accepted for two minutes more.
        let now = midnight.advanced(by: .seconds(224 + 121))
        try resolver.prepare(for: now)
        #expect(try resolver.resolve(uuid, at: now) == .member("Ada", last))
        resolver.add(a.dayKey(for: RollingDay(number: last.day.number + 1)), of: "Ada")
        try resolver.prepare(for: now)
        #expect(try resolver.resolve(uuid, at: now) == .stale)
    }

    @Test("CI9: a day's terms last 601 to 1199 seconds, and no two members change together")
    func terms() {
        func changes(_ seed: RollingSeed) -> [Int64] {
            (first.number...first.number + 96).map { seed.change(to: RollingWindow(number: $0)).wholeSeconds }
        }
        let (ofA, ofB) = (changes(a), changes(b))
        for changes in [ofA, ofB] {
            let lengths = zip(changes, changes.dropFirst()).map { $1 - $0 }
            #expect(lengths.allSatisfy { (601...1_199).contains($0) })
            #expect(Set(lengths).count > 50, "a phase that stays is a fingerprint")
        }
        #expect(zip(ofA, ofB).count { $0 == $1 } < 5)
    }

    @Test("CI9: what is sent changes at the derived moment, also after sleep and after the clock was set")
    func broadcast() throws {
        var generator = SeededGenerator(state: 1)
        var broadcast = RollingBroadcast(a, schedule: .derived)
        struct Sent: Equatable {
            let window: UInt32
            let isNew: Bool
            let end: Int64
        }
        let midnight = first.start
        func sent(_ second: Int) throws -> Sent {
            switch try broadcast.step(at: midnight.advanced(by: .seconds(second)), using: &generator) {
            case .keep(let term):
                Sent(window: term.window.number, isNew: false, end: term.end.wholeSeconds - midnight.wholeSeconds)
            case .rotate(let term):
                Sent(window: term.window.number, isNew: true, end: term.end.wholeSeconds - midnight.wholeSeconds)
            case .silence(let end):
                Sent(window: 0, isNew: true, end: end.wholeSeconds - midnight.wholeSeconds)
            }
        }
        // 31 s after midnight the term before has not ended.
        #expect(try sent(31) == Sent(window: first.number - 1, isNew: true, end: 32))
        #expect(try sent(32) == Sent(window: first.number, isNew: true, end: 986))
        #expect(try sent(985) == Sent(window: first.number, isNew: false, end: 986))
        #expect(try sent(986).window == first.number + 1)
        #expect(try sent(8 * 3_600 + 450).window == first.number + 32)
        #expect(try sent(450) == Sent(window: first.number, isNew: true, end: 986))
        #expect(throws: BeaconsError.self) {
            try broadcast.step(at: Timestamp(clampingMicroseconds: -1), using: &generator)
        }
        #expect(throws: Never.self) {
            try broadcast.step(at: Timestamp(clampingMicroseconds: 0), using: &generator)
        }
    }

    @Test(
        "CI53: scopes that take turns are each sent in their own terms only, all equally often, and none twice at a time",
        arguments: [1, 2, 3])
    func turns(instances: Int) throws {
        let seeds = [a, b, try RollingSeed(revealed: Array(0x40...0x5F))]
        var broadcasts = (0..<instances).map {
            RollingBroadcast(of: seeds, instance: $0, of: instances, schedule: .derived)
        }
        var generator = SeededGenerator(state: 1)
        var sent = (0..<instances).map { _ in RollingToken?.none }
        var counts = [0, 0, 0]
        // Counted, so that a fault is told once.
        var (outside, twice, wrong) = (0, 0, 0)
        let steps = 12 * 90
        for step in 0..<steps {
            let time = first.start.advanced(by: .seconds(step * 10))
            for instance in broadcasts.indices {
                switch try broadcasts[instance].step(at: time, using: &generator) {
                case .keep(let term): if term.token != sent[instance] || time >= term.end { wrong += 1 }
                case .rotate(let term): sent[instance] = term.token
                case .silence(let end):
                    // A scope with an instance of its own is never silent.
                    if time >= end || instances == 3 { wrong += 1 }
                    sent[instance] = nil
                }
            }
            let now = sent.compactMap(\.self)
            if Set(now).count < now.count { twice += 1 }
            let window = try RollingWindow(at: time)
            let before = RollingWindow(number: window.number - 1)
            let valid = seeds.map { $0.token(in: time < $0.change(to: window) ? before : window) }
            for index in seeds.indices where now.contains(valid[index]) { counts[index] += 1 }
            if !now.allSatisfy(valid.contains) { outside += 1 }
        }
        #expect(outside == 0 && twice == 0 && wrong == 0)
        // A turn is shorter where the next one begins before its end.
        for count in counts { #expect(count > steps * instances / 3 * 7 / 10) }
    }

    @Test("CI16: of 10,000 members' identifiers none is taken for another, and no foreign UUID matches")
    func manyMembers() throws {
        var resolver = RollingResolver<Int>()
        var generator = SeededGenerator(state: 7)
        var seeds: [RollingSeed] = []
        for member in 0..<10_000 {
            let bytes = (0..<4).flatMap { _ in
                withUnsafeBytes(of: generator.next()) { Array($0) }
            }
            let seed = try RollingSeed(revealed: bytes)
            if member.isMultiple(of: 1_000) { seeds.append(seed) }
            resolver.add(seed.dayKey(for: first.day), of: member)
        }
        let now = first.start.advanced(by: .seconds(450))
        try resolver.prepare(for: now)
        for (index, seed) in seeds.enumerated() {
            #expect(try resolver.resolve(RollingUUID(seed.token(in: first)), at: now) == .member(index * 1_000, first))
        }
        var known = 0
        for _ in 0..<1_000_000 {
            let foreign = RollingUUID(RollingToken(high: generator.next(), low: generator.next()))
            if try resolver.resolve(foreign, at: now) != .unknown { known += 1 }
        }
        #expect(known == 0)
    }

    @Test(
        "a packet with several service UUIDs counts for each of the first eight, and a list of another length is no list"
    )
    func severalServices() throws {
        let uuids = (0..<10).map { RollingUUID(a.token(in: RollingWindow(number: first.number + $0))) }
        let data = try AdvertisingData(services: uuids)
        #expect(FrameParser().rollingServices(in: data) == Array(uuids.prefix(8)))
        var ranging = Ranging(.init([.rollingService]))
        ranging.receive(Advertisement(time: first.start, address: nil, rssi: RSSI(-61), data: data))
        #expect(
            Set(ranging.tick(at: first.start).beacons.map(\.identity))
                == Set(uuids.prefix(8).map { .rollingService($0) }))
        for length in [0, 1, 15] {
            let short = try AdvertisingStructure(
                type: .completeServices128, value: [UInt8](repeating: 0x44, count: length))
            #expect(FrameParser().frame(in: try AdvertisingData([short])) == .unknown)
        }
        let long = try AdvertisingStructure(type: .completeServices128, value: Array(data.bytes[2..<18]) + [1, 2, 3])
        #expect(FrameParser().frame(in: try AdvertisingData([long])) == .rollingService(uuids[0]))
    }

    @Test("a beacon beside a service UUID is the beacon, and foreign services are no sender of identifiers")
    func besideABeacon() throws {
        let uuid = RollingUUID(a.token(in: first))
        let both = try AdvertisingData([.service(uuid), worked.structure], limit: .extended)
        #expect(FrameParser().frame(in: both) == .iBeacon(worked))
        let foreign = bytes("11 07 fb 34 9b 5f 80 00 00 80 00 10 00 00 aa fe 00 00")
        #expect(FrameParser().frame(in: try AdvertisingData(received: foreign)) == .unknown)
    }
}
