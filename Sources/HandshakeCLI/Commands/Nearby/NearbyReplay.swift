#if CommandLine
import ArgumentParser
import Beacons
import Foundation
import Handshake
import Nearby
import OAuth
import Radio

struct NearbyReplay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Watch a recording instead of the radio.",
        discussion: """
            A recording is JSON lines: {"t": seconds, "addr": "D0:00:00:00:02:F7", "rssi": -61, "ad": "hexadecimal"}, as \
            `watch --record` writes them. Nothing is stored without --keep.
            """)

    @Argument(help: "The recording, or - for standard input.")
    var file: String

    @Option(help: .ownNumber, transform: PersonArgument.parse)
    var me: UserNumber?

    @Option(help: ArgumentHelp("The speed, as a multiple of the recording's.", valueName: "factor"))
    var speed: Double?

    @Flag(help: "Replay without pauses.")
    var noDelay = false

    @Flag(help: "Store the encounters, profiles and photos.")
    var keep = false

    @Flag(help: "Stop at the first invalid line instead of skipping it.")
    var strict = false

    @OptionGroup var options: NearbyOptions

    func validate() throws {
        if noDelay && speed != nil { throw ValidationError("--speed and --no-delay cannot be given together.") }
        if let speed, !(0.001...1_000_000).contains(speed) {
            throw ValidationError("--speed takes a factor from 0.001 to 1000000.")
        }
    }

    private func notRecording(_ error: BeaconsError) -> CommandError {
        var reason = "\(error)"
        if case .recording(let line, let problem) = error { reason = "line \(line): \(problem)" }
        return CommandError(
            status: .usage, code: "damaged_recording",
            message:
                "\(GivenFile.name(file)) is not a recording (\(reason)). Make one with: handshake nearby watch --record FILE"
        )
    }

    func run() async throws {
        let settings = try Settings.load()
        guard file == "-" || FileManager.default.isReadableFile(atPath: Settings.absolute(file)) else {
            throw CommandError.unreadable(file)
        }
        let stored = try await NearbyVault.open(options.common, settings)
        let center = try await options.center(in: stored)
        let vault: any Vault = keep ? try await NearbyVault.period(stored) : ReplayVault(over: stored)
        // A recording can be of any year: its times must not delete anything from the log. Without --keep, it does not matter who
        // was announced before.
        let log = EncounterLog(
            in: keep ? vault : MemoryVault(), community: NearbyCommand.community, rules: EncounterRules(retention: nil))
        try await NearbyFailure.reported {
            let pace = try noDelay ? .immediate : speed.map { try RecordingReplay.Pace.times($0) } ?? .recorded
            let replay = RecordingReplay(
                file == "-" ? .standardInput : .file(Settings.absolute(file)), pace: pace,
                damage: strict ? .fatal : .skipped)
            let time = replay.time
            let reporter = NearbyReporter(json: options.common.json) { time.now().secondsSince1970 }
            defer { reporter.end() }
            let people = try await LookedUpPeople.gather(
                me: me, options: options, center: center, vault: vault,
                signInEnded: { reporter.note(signInEnded: $0) })
            let nearby = PeopleNearby(
                log: log, ignoring: people.known.own, alerts: TerminalAlerts(reporter: reporter), pace: .recorded,
                clock: time.clock, lookup: people.lookup)
            do {
                try await nearby.run(
                    over: replay, recognizing: people.known.recognition, time: time, radioEvent: { reporter.note($0) },
                    report: { reporter.note($0) })
            } catch RadioError.notARecording(let error) {
                throw notRecording(error)
            }
        }
    }
}
#endif
