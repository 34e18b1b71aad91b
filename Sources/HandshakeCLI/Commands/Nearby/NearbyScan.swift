#if CommandLine
import ArgumentParser
import Beacons
import Foundation
import Handshake
import Nearby
import OAuth
import Radio

struct NearbyScan: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan", abstract: "Show all beacons that are heard, until interrupted.",
        discussion:
            "Nothing is stored, and no service is contacted. With --json, prints one object per line for each beacon and second."
    )

    @Option(help: ArgumentHelp("Stop after this many seconds.", valueName: "seconds"))
    var duration: Double?

    @Option(help: ArgumentHelp("Record everything that is heard in a new file, for `replay`.", valueName: "file"))
    var record: String?

    @Flag(help: "Print the result as JSON, one object a line, and errors as JSON too.")
    var json = false

    @Flag(help: "Print nothing but results and errors.")
    var quiet = false

    @OptionGroup var adapter: NearbyAdapter

    func validate() throws {
        try TimeLimit.validate(duration)
    }

    func run() async throws {
        try await NearbyFailure.reported {
            var radio: any Radio = try adapter.radio()
            if let record { radio = Recorder(radio, to: Settings.absolute(record)) }
            let isJSON = json
            let availability = RadioAvailability()
            let packets = radio.scan(for: .beacons).advertisements { event in
                availability.note(event)
                Self.note(event)
            }
            try await TimeLimit.run(duration) {
                for try await update in RangingUpdates(of: packets) {
                    for beacon in update.beacons { Output.result(Self.line(beacon, json: isJSON)) }
                }
            }
            try availability.requireOnce(isShown: true)
        }
    }

    private static func note(_ event: ScanEvent) {
        switch event {
        case .advertisement: break
        case .status(.unavailable(let error)): Output.note(quoted(error.waitingNote, limit: 600))
        case .status(.listening(let method)): Output.note("listening: \(method.rawValue)")
        case .status: break
        case .damage(let error): Output.note(quoted("\(error)", limit: 400))
        }
    }

    private static func line(_ beacon: RangedBeacon, json: Bool) -> String {
        let (kind, identity) = name(beacon.identity)
        if json {
            return JSONText.object([
                ("kind", .string(kind)), ("identity", .string(identity)),
                ("rssi", beacon.rssi.map { .decimal($0) } ?? .null), ("proximity", .string(beacon.proximity.word)),
                ("distance_metres", beacon.metres.map { .decimal($0) } ?? .null),
                ("packets", .integer(Int64(beacon.packets))),
            ]).text
        }
        let strength = beacon.rssi.map { String(format: "%4.0f dBm", $0) } ?? " unknown"
        return "\(strength)  \(LiveList.bar(beacon.metres))  \(kind) \(identity)"
    }

    private static func name(_ identity: BeaconIdentity) -> (kind: String, identity: String) {
        switch identity {
        case .proximity(let uuid, let major, let minor): ("iBeacon", "\(uuid) \(major) \(minor)")
        case .eddystone(let uid): ("Eddystone", RollingToken(uid).description)
        case .ephemeral(let number): ("Eddystone-EID", String(number, radix: 16))
        case .rolling(let token): ("rolling", token.description)
        case .rollingService(let uuid): ("service", uuid.description)
        }
    }
}

struct NearbyAdvertise: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "advertise", abstract: "Let others notice you, until interrupted, without listening.",
        discussion:
            "Say what is sent: --advertise rolling, or --advertise static. It also ends when your keys in a circle expire, because its members could no longer recognise you. `watch --advertise` listens and sends."
    )

    @Option(help: "Your own number; otherwise the Recurse Center is asked.", transform: PersonArgument.parse)
    var me: UserNumber?

    @Option(help: ArgumentHelp("Stop after this many seconds.", valueName: "seconds"))
    var duration: Double?

    @OptionGroup var sending: NearbySending
    @OptionGroup var adapter: NearbyAdapter
    @OptionGroup var options: NearbyOptions

    func validate() throws {
        guard sending.sends else {
            throw ValidationError("Say what to send: --advertise rolling or --advertise static.")
        }
        try TimeLimit.validate(duration)
    }

    func run() async throws {
        let vault = try await NearbyVault.open(options.common)
        let own = sending.advertise == .static ? try await options.ownNumber(me, in: vault) : me
        let reporter = NearbyReporter(json: options.common.json)
        try await NearbyFailure.reported {
            let period = try await NearbyVault.period(vault)
            let scopes = try await NearbyVault.scopes(period)
            guard let broadcasts = try sending.broadcasts(of: own, scopes) else {
                throw CommandError.usage(try await Self.silence(in: period) ?? NearbySending.noCurrentKeys)
            }
            let rolling = sending.advertise == .rolling ? scopes : nil
            if rolling != nil, let silence = try await Self.silence(in: period) {
                Output.note(NamedVault.given.completed(silence, isLine: true))
            }
            let radio = try adapter.radio()
            try await TimeLimit.run(duration) {
                let ending = try await period.run {
                    let hasEnded = try await Self.send(broadcasts, of: rolling, over: radio, in: period) {
                        reporter.note(.sending($0), sending: scopes)
                    }
                    if hasEnded {
                        let words = await Self.ending(in: period)
                        Output.note(NamedVault.given.completed(words, isLine: true))
                    }
                }
                switch ending {
                case .ended: break
                case .everyoneForgotten: Output.note("Everyone was forgotten, so sending ends.")
                case .changed: Output.note("Your keys or circles have changed, so sending ends. Start it again.")
                }
            }
            try reporter.requireRadio()
        }
    }
}

extension NearbyAdvertise {
    /// Sends until the radio ends, or until the keys that a circle has of the user expire: by later ones its members recognise no one.
    ///
    /// - Parameters:
    ///   - scopes: whose rolling identifiers are sent; nil for a static number.
    ///   - time: the clock by which keys end.
    /// - Returns: whether published keys have ended.
    static func send(
        _ broadcasts: Broadcasts, of scopes: OwnScopes?, over radio: any Radio, in vault: any Vault,
        time: TimeSource = .system, status: @escaping @Sendable (RadioStatus) -> Void
    ) async throws -> Bool {
        try await withThrowingTaskGroup(of: Bool?.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                try await radio.advertise(broadcasts, status: status)
                return false
            }
            if let scopes {
                group.addTask {
                    let hasEnded = try await scopes.waitForEnd(
                        in: vault, community: NearbyCommand.community, time: time)
                    return hasEnded ? true : nil
                }
            }
            for try await hasEnded in group {
                if let hasEnded { return hasEnded }
            }
            return false
        }
    }

    /// Says that nothing is sent for circles whose published keys have ended, and what to do; nil where there are none.
    static func silence(in vault: any Vault) async throws -> String? {
        var ended: [String] = []
        for circle in try await JoinedCircle.all(in: NearbyVault.environment(vault)) {
            if let sentence = CircleText.silence(of: try await circle.summary()) { ended.append(sentence) }
        }
        return ended.isEmpty ? nil : ended.joined(separator: ". ")
    }

    /// That sending ends with the published keys, and the cure.
    static func ending(in vault: any Vault) async -> String {
        let cure = try? await silence(in: vault)
        return "Your published keys have ended, so sending ends. " + (cure ?? "Start it again.")
    }
}

/// The time after which a command ends that otherwise runs until it is interrupted.
enum TimeLimit {
    /// A year: a `Duration` beyond its range would trap.
    private static let longest = 31_536_000.0

    static func validate(_ seconds: Double?) throws {
        guard let seconds else { return }
        guard seconds > 0, seconds <= longest else {
            throw ValidationError("--duration takes more than 0 and at most 31536000 seconds, a year.")
        }
    }

    /// Runs `body` for at most this time. Its end is no error.
    static func run(_ seconds: Double?, _ body: @escaping @Sendable () async throws -> Void) async throws {
        let work = Task { try await body() }
        let limit = seconds.map { seconds in
            Task {
                try await Task.sleep(for: .seconds(seconds))
                work.cancel()
            }
        }
        defer { limit?.cancel() }
        do {
            try await withTaskCancellationHandler {
                try await work.value
            } onCancel: {
                work.cancel()
            }
        } catch is CancellationError where seconds != nil && !Task.isCancelled {
            // The requested time has passed.
        }
    }
}
#endif
