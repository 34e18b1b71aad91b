import ArgumentParser
import Beacons
import Foundation
import Handshake
import Nearby
import OAuth
import Radio

struct NearbyWatch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Tell who is near, live, until interrupted; keep a log and announce each person once an hour.",
        discussion: """
            On a terminal it is a list that redraws itself; elsewhere a line for each event, with --json one object a line. \
            Whoever is met is kept for 30 days, encrypted, in the vault: see `log` and `forget`.
            """)

    @Option(
        help: "Your own number, which is ignored; without it the Recurse Center is asked.",
        transform: PersonArgument.parse)
    var me: UserNumber?

    @Option(help: ArgumentHelp("Stop after so many seconds.", valueName: "seconds"))
    var duration: Double?

    @Option(help: "Where you are told: desktop, terminal or none.")
    var alerts = AlertPlace.desktop

    @Option(help: ArgumentHelp("Also write everything that is heard to a file, for `replay`.", valueName: "file"))
    var record: String?

    @OptionGroup var sending: NearbySending
    @OptionGroup var adapter: NearbyAdapter
    @OptionGroup var options: NearbyOptions

    func validate() throws {
        try TimeLimit.validate(duration)
    }

    func run() async throws {
        let settings = try Settings.load()
        let vault = try await options.common.openVault(settings)
        let reporter = NearbyReporter(json: options.common.json)
        let circle = try await NearbyCircle.form(
            me: me, options: options, sends: sending.sends, settings: settings, vault: vault
        ) { reporter.note(signInEnded: $0) }
        defer { reporter.end() }
        try await NearbyFailure.reported {
            var radio: any Radio = try adapter.radio()
            if let record { radio = Recorder(radio, to: Settings.absolute(record)) }
            let broadcasts = try await sending.broadcasts(of: circle.own, in: vault)
            let place = alerts.open(reporter)
            try await TimeLimit.run(duration) { [radio] in
                try await Self.watch(radio, broadcasts, circle, log: vault, reporter, place)
            }
            try reporter.requireRadio()
        }
    }

    private static func watch(
        _ radio: any Radio, _ broadcasts: Broadcasts?, _ circle: NearbyCircle, log vault: any Vault,
        _ reporter: NearbyReporter, _ alerts: any Alerts
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            if let broadcasts {
                group.addTask {
                    try await radio.advertise(broadcasts) { reporter.note(sending: $0) }
                }
            }
            group.addTask {
                let start = ContinuousClock.now
                try await circle.watch(
                    radio, log: EncounterLog(in: vault, community: NearbyCommand.community), alerts: alerts, reporter
                ) { _ in ContinuousClock.now - start }
            }
            // The watch ends the advertisement, and a radio that cannot send ends the watch.
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}

/// The people one can recognise, and whom to ask about the rest.
struct NearbyCircle: Sendable {
    let own: UserNumber?
    let recognition: Recognition
    let whoIs: PeopleNearby.WhoIs

    /// What is ranged: the fleet's beacons, and Eddystone UIDs, which carry long rolling identifiers.
    static var ranging: Ranging.Settings {
        var settings = Ranging.Settings([.proximity(uuid: .secretHandshake), .eddystone(namespace: nil)])
        settings.filter = .quick
        return settings
    }

    /// Follows a radio until it ends or the task is cancelled.
    ///
    /// - Parameters:
    ///   - radio: what is heard.
    ///   - log: where encounters are kept.
    ///   - alerts: where the user is told.
    ///   - reporter: is told everything.
    ///   - pace: how time passes.
    ///   - time: the clock of the packets.
    ///   - elapsed: the time since some fixed moment, given the tick's.
    func watch(
        _ radio: any Radio, log: EncounterLog, alerts: any Alerts, _ reporter: NearbyReporter,
        pace: PeopleNearby.Pace = .live, time: ScanTime = .system,
        elapsed: @escaping @Sendable (Timestamp) -> Duration
    ) async throws {
        let packets = radio.scan(for: .beacons).advertisements { reporter.note($0) }
        let updates = RangingUpdates(of: packets, settings: Self.ranging, time: time)
        let sightings = SightingLists(of: updates, recognition: recognition, elapsed: elapsed)
        let people = PeopleNearby(log: log, ignoring: own, alerts: alerts, pace: pace, clock: time.clock, whoIs: whoIs)
        try await people.run(on: sightings) { reporter.note($0) }
    }

    static func form(
        me: UserNumber?, options: NearbyOptions, sends: Bool, settings: Settings, vault: any Vault,
        signInEnded: @escaping @Sendable (HandshakeError) -> Void
    ) async throws -> NearbyCircle {
        let center = try await options.center(in: vault)
        var own = me
        if own == nil, let center {
            do {
                own = try await NearbyOptions.ownNumber(center)
            } catch let error as HandshakeError where ExitStatus(error) == .network && !sends {
                Output.note(
                    "Your own number is not known without a network: your own beacon would count as somebody's.")
            }
        }
        if center == nil {
            Output.note(
                "Nobody is asked who people are: sign in with: handshake login \(quoted(options.account, limit: 80))")
        }
        let acquaintances = try center.map {
            try Acquaintances($0, home: settings.home, account: options.account, signInEnded: signInEnded)
        }
        return NearbyCircle(
            own: own, recognition: try await recognition(own: own, in: vault),
            whoIs: { await acquaintances?.introduce($0) ?? .unreachable })
    }

    private static func recognition(own: UserNumber?, in vault: any Vault) async throws -> Recognition {
        let keys = RollingKeys(in: vault, community: NearbyCommand.community)
        return try await NearbyFailure.reported {
            var (friends, damaged) = try await keys.friends()
            for error in damaged { Output.note(quoted("\(error)")) }
            // One's own beacon, heard by another adapter, is known as one's own.
            if let own, try await keys.existingSeed() != nil {
                let mine = try await keys.share(own, days: RollingKeys.mostDays, from: Now.timestamp)
                friends += try mine.dayKeys().map { (own, $0) }
            }
            return Recognition(friends: friends)
        }
    }
}

/// Which radio is used.
struct NearbyAdapter: ParsableArguments {
    @Option(help: ArgumentHelp("The Bluetooth adapter: its name, as in hci0, or its address.", valueName: "adapter"))
    var adapter: String?

    @Flag(help: "Switch the adapter on when it is off.")
    var switchOn = false

    func radio() throws -> any Radio {
        #if os(Linux)
        return try BlueZRadio(
            environment: ProcessInfo.processInfo.environment,
            options: .init(adapter: adapter, switchesOn: switchOn))
        #else
        return AppleRadio()
        #endif
    }
}

/// What is sent about oneself. Nothing, unless the user says so.
struct NearbySending: ParsableArguments {
    enum Mode: String, ExpressibleByArgument, CaseIterable {
        case rolling, `static`
    }

    /// The frame that carries a rolling identifier.
    enum Form: String, ExpressibleByArgument, CaseIterable {
        /// 16 bytes in an Eddystone UID.
        case long
        /// 4 bytes in an iBeacon.
        case short
    }

    @Option(
        help: "Send an identifier: rolling (for friends, see `share`) or static (your number, as SecretHandshake did).")
    var advertise: Mode?

    @Option(
        help:
            "How a rolling identifier is sent: long (recognised at once) or short (an iBeacon; recognised after two quarters of an hour)."
    )
    var form = Form.long

    @Flag(help: "You know that anybody can follow a static number from place to place, and agree.")
    var iAgreeToBeFollowed = false

    func validate() throws {
        if advertise == .static && !iAgreeToBeFollowed {
            throw ValidationError(
                "a static number lets strangers follow you from place to place; add --i-agree-to-be-followed, or use --advertise rolling"
            )
        }
    }

    var sends: Bool { advertise != nil }

    /// What to send; nil for nothing.
    func broadcasts(of own: UserNumber?, in vault: any Vault) async throws -> Broadcasts? {
        switch advertise {
        case nil: return nil
        case .rolling:
            let seed = try await RollingKeys(in: vault, community: NearbyCommand.community).seed()
            return try Broadcasts(.rolling(seed), as: form == .long ? .eddystoneUID() : .iBeacon(.secretHandshake))
        case .static:
            guard let own else {
                throw CommandError.usage("a static number needs --me, or an account at the Recurse Center")
            }
            guard own.value <= Recognition.mostPlainNumber else {
                throw CommandError.usage(
                    "nobody takes a static number above \(Recognition.mostPlainNumber) for a person; send a rolling identifier"
                )
            }
            let scheme: UserNumber.Scheme =
                own.value <= UserNumber.Scheme.secretHandshake.most ? .secretHandshake : .wide
            let mode = AdvertisingMode.static(own, scheme, consent: .userAgreesToBeFollowedByStrangers)
            return try Broadcasts(mode, as: .iBeacon(.secretHandshake))
        }
    }
}
