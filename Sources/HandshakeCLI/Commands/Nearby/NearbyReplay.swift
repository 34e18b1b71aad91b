import ArgumentParser
import Beacons
import Foundation
import Handshake
import Nearby
import OAuth
import Radio
import Synchronization

struct NearbyReplay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Watch a recording as if it were on the air.",
        discussion: """
            A recording is JSON lines: {"t": seconds, "addr": "D0:00:00:00:02:F7", "rssi": -61, "ad": "hexadecimal"}, as \
            `watch --record` writes them. Nothing of it gets into the log unless --keep says so.
            """)

    @Argument(help: "The recording, or - for standard input.")
    var file: String

    @Option(
        help: "Your own number, which is ignored; without it the Recurse Center is asked.",
        transform: PersonArgument.parse)
    var me: UserNumber?

    @Option(help: ArgumentHelp("So many times as fast as it was recorded.", valueName: "factor"))
    var speed: Double?

    @Flag(help: "Without waiting at all.")
    var atOnce = false

    @Flag(help: "Write the encounters into the log.")
    var keep = false

    @Flag(help: "End at the first line that cannot be read, instead of leaving it out.")
    var strict = false

    @OptionGroup var options: NearbyOptions

    func validate() throws {
        if atOnce && speed != nil { throw ValidationError("--speed and --at-once exclude each other") }
        if let speed, !(0.001...1_000_000).contains(speed) {
            throw ValidationError("--speed is a factor from 0.001 to 1000000")
        }
    }

    func run() async throws {
        let settings = try Settings.load()
        let vault = try await options.common.openVault(settings)
        // A recording's clock, which may be anybody's, decides nothing about what was kept before: nothing is removed here.
        let log = EncounterLog(
            in: keep ? vault : MemoryVault(), community: NearbyCommand.community, rules: EncounterRules(retention: nil))
        try await NearbyFailure.reported {
            let pace = try atOnce ? .atOnce : speed.map { try Replay.Pace.times($0) } ?? .recorded
            let replay = Replay(
                file == "-" ? .standardInput : .file(Settings.absolute(file)), pace: pace,
                damage: strict ? .fatal : .skipped)
            let time = replay.time
            let reporter = NearbyReporter(json: options.common.json) { time.now().secondsSince1970 }
            defer { reporter.end() }
            let circle = try await NearbyCircle.form(
                me: me, options: options, sends: false, settings: settings, vault: vault
            ) { reporter.note(signInEnded: $0) }
            // A recording has no clock but its own.
            let start = Mutex<Timestamp?>(nil)
            try await circle.watch(
                replay, log: log, alerts: AlertPlace.terminal.open(reporter), reporter, pace: .recorded,
                time: time
            ) { time in
                start.withLock { start in
                    let first = start ?? time
                    start = first
                    return first.duration(to: time)
                }
            }
        }
    }
}
