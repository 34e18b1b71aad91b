import Beacons
import Handshake

@testable import Nearby

/// Two members who have met, and what each has to wave with.
struct CircleMeeting {
    let ada: CircleDevice
    let adas: JoinedCircle
    let zoe: CircleDevice
    let zoes: JoinedCircle

    static let adasNumber = try! UserNumber(759)
    static let zoesNumber = try! UserNumber(65_535)

    init(_ world: CircleWorld, seconds: ClosedRange<Double> = -120...0) async throws {
        (ada, zoe) = (CircleDevice(world), CircleDevice(world))
        adas = try await ada.join()
        zoes = try await zoe.join(as: "zoe@example.test")
        try await adas.synchronize()
        let (first, last) = (world.now + seconds.lowerBound, world.now + seconds.upperBound)
        let encounter = Encounter(firstSeen: first, lastSeen: last, duration: last - first, trust: .circle)
        _ = try await log(of: ada).note(encounter, with: Self.zoesNumber, wasLogged: false)
        _ = try await log(of: zoe).note(encounter, with: Self.adasNumber, wasLogged: false)
    }

    /// Runs a test of two who have met, in a circle of its own.
    static func with(_ body: (CircleMeeting, CircleWorld) async throws -> Void) async throws {
        try await CircleWorld.with { world in try await body(CircleMeeting(world), world) }
    }

    /// The two meet again, now.
    func meetAgain() async throws {
        let encounter = Encounter(
            firstSeen: ada.world.now - 120, lastSeen: ada.world.now, duration: 120, trust: .circle)
        for (device, person) in [(ada, Self.zoesNumber), (zoe, Self.adasNumber)] {
            try await log(of: device).forgetEveryone()
            _ = try await log(of: device).note(encounter, with: person, wasLogged: false)
        }
    }

    func log(of device: CircleDevice) -> EncounterLog {
        EncounterLog(in: device.vault, community: "recurse-center")
    }

    @discardableResult
    func adaWaves(_ text: String = "Coffee?") async throws -> Bool {
        try await adas.wave(at: Self.zoesNumber, text: text, log: log(of: ada))
    }

    @discardableResult
    func zoeWaves(_ text: String = "Tea!") async throws -> Bool {
        try await zoes.wave(at: Self.adasNumber, text: text, log: log(of: zoe))
    }
}
