import Beacons
import Handshake
import Nearby
import Radio
import Synchronization
import Testing

@Suite("Watching over a radio")
struct RadioWatchTests {
    private struct Broken: Error {}

    /// A recording that fails to send.
    private struct MuteRadio: Radio {
        let replay: RecordingReplay
        let error: any Error

        func scan(for interest: ScanInterest) -> Scan { replay.scan(for: interest) }

        func advertise<Source: AsyncSequence & Sendable>(
            _ broadcasts: Source, status: @escaping @Sendable (RadioStatus) -> Void
        ) async throws where Source.Element == Broadcast {
            throw error
        }
    }

    private struct Silence: Alerts {
        func show(_ alert: Alert) async {}
        func show(_ crowd: CrowdAlert) async {}
    }

    @Test(
        "BE-17: advertising that fails ends neither the scan nor the log, and is told",
        arguments: [
            (RadioError.noFreeInstance, RadioError.noFreeInstance),
            (Broken(), RadioError.refused(operation: "sending", reason: "Broken()")),
        ] as [(any Error, RadioError)])
    func advertisingFails(error: any Error, told: RadioError) async throws {
        let data = try AdvertisingData([
            IBeacon(uuid: .secretHandshake, major: 1, minor: 759, power: -59).structure
        ])
        let digits = data.bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let lines = (0..<20).map { #"{"t":\#(1_000_000 + $0),"rssi":-61,"ad":"\#(digits)"}"# }
        let replay = RecordingReplay(.lines(Array(lines.joined(separator: "\n").utf8)), pace: .immediate)
        let log = EncounterLog(in: MemoryVault(), community: "c", rules: EncounterRules(retention: nil))
        let people = PeopleNearby(
            log: log, ignoring: nil, alerts: Silence(), pace: .recorded, clock: replay.time.clock
        ) { _ in .unreachable }
        let failures = Mutex<[RadioError]>([])
        try await people.run(
            over: MuteRadio(replay: replay, error: error), recognizing: Recognition(),
            sending: Broadcasts(constant: data), time: replay.time,
            radioEvent: { event in
                if case .sendingFailed(let error) = event { failures.withLock { $0.append(error) } }
            }, report: { _ in })
        #expect(failures.withLock(\.self) == [told])
        #expect(try await log.contents(at: 1_000_020).people.map(\.person) == [person(759)])
    }
}
