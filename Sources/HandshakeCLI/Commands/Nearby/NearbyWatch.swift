#if CommandLine
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
        abstract: "Show who is near until interrupted, log encounters, and announce each person once an hour.",
        discussion: """
            On a terminal it is a list that redraws itself; elsewhere one line for each event, with --json one object a line. \
            Encounters are stored for 30 days, encrypted, in the vault: see `log`, `show` and `forget`.
            """)

    @Option(help: .ownNumber, transform: PersonArgument.parse)
    var me: UserNumber?

    @Option(help: ArgumentHelp("Stop after this many seconds.", valueName: "seconds"))
    var duration: Double?

    @Option(help: "Where alerts appear: desktop, terminal or none.")
    var alerts = AlertPlace.desktop

    @Option(help: ArgumentHelp("Record everything that is heard in a new file, for `replay`.", valueName: "file"))
    var record: String?

    @OptionGroup var sending: NearbySending
    @OptionGroup var adapter: NearbyAdapter
    @OptionGroup var options: NearbyOptions

    func validate() throws {
        try TimeLimit.validate(duration)
    }

    func run() async throws {
        let vault = try await NearbyVault.open(options.common)
        let reporter = NearbyReporter(json: options.common.json)
        defer { reporter.end() }
        try await NearbyFailure.reported {
            var radio: any Radio = try adapter.radio()
            if let record { radio = Recorder(radio, to: Settings.absolute(record)) }
            let session = NearbySession(me: me, options: options, sink: reporter) { [alerts] notices, photo in
                alerts.open(terminal: TerminalAlerts(reporter: reporter), notices: notices, photo: photo)
            }
            try await TimeLimit.run(duration) { [radio, sending] in
                try await session.run(over: radio, in: vault, sending: { sending })
            }
            try reporter.requireRadio()
        }
    }
}

extension ArgumentHelp {
    /// The help of `--me` where people are reported.
    static let ownNumber = ArgumentHelp(
        "Your own number, which is not reported. Unless stated, it is that of your circle, or the Recurse Center is asked."
    )
}

/// The options of the radio.
struct NearbyAdapter: ParsableArguments {
    @Option(help: ArgumentHelp("The Bluetooth adapter: its name, as in hci0, or its address.", valueName: "adapter"))
    var adapter: String?

    @Flag(help: "Switch the adapter on when it is off.")
    var switchOn = false

    func radio() throws -> any Radio {
        #if Desktop && os(Linux)
        return try BlueZRadio(
            environment: ProcessInfo.processInfo.environment,
            options: .init(adapter: adapter, switchesOn: switchOn))
        #else
        return AppleRadio()
        #endif
    }
}

/// What is advertised about the user: nothing without --advertise.
struct NearbySending: ParsableArguments {
    enum Mode: String, ExpressibleByArgument, CaseIterable {
        case rolling, `static`
    }

    /// The frame that carries a rolling identifier.
    enum Form: String, ExpressibleByArgument, CaseIterable {
        /// 16 bytes as a service UUID, which every platform sends and receives.
        case service
        /// 16 bytes in an Eddystone UID.
        case long
        /// 4 bytes in an iBeacon.
        case short
    }

    @Option(
        help:
            "Send an identifier: rolling (one for each circle, and one for friends: see `circle` and `pair`) or static (your number, as SecretHandshake did)."
    )
    var advertise: Mode?

    @Option(
        help:
            "How a rolling identifier is sent: service (a service UUID, which phones send too), or as earlier versions did: long (Eddystone) or short (an iBeacon; recognised after two quarters of an hour, unverified)."
    )
    var form = Form.service

    @Flag(help: "You agree that strangers can follow your static number from place to place.")
    var iAgreeToBeFollowed = false

    func validate() throws {
        if advertise == .static && !iAgreeToBeFollowed {
            throw ValidationError(
                "A static number lets strangers follow you from place to place. Add --i-agree-to-be-followed, or use --advertise rolling."
            )
        }
    }

    var sends: Bool { advertise != nil }

    /// Why a rolling identifier is not sent.
    static let noCurrentKeys =
        "No friend or circle has current keys of yours, so nothing is sent. Join a circle with: handshake nearby circle join URL. Or pair with a friend: handshake nearby pair"

    /// What to advertise; nil for nothing.
    func broadcasts(of own: UserNumber?, _ scopes: OwnScopes) throws -> Broadcasts? {
        switch advertise {
        case nil: return nil
        case .rolling:
            return scopes.sent.isEmpty ? nil : Broadcasts(rolling: scopes.sent, as: form.broadcastForm)
        case .static:
            guard let own else {
                throw CommandError.usage(
                    "--advertise static needs your number. Give it with --me NUMBER, or sign in with: handshake login recurse-center"
                )
            }
            guard own.value <= Recognition.maximumPlainNumber else {
                throw CommandError.usage(
                    "Static numbers above \(Recognition.maximumPlainNumber) are not recognised. Use --advertise rolling."
                )
            }
            let scheme: UserNumber.Scheme =
                own.value <= UserNumber.Scheme.secretHandshake.maximum ? .secretHandshake : .wide
            let mode = AdvertisingMode.static(own, scheme, consent: .userAgreesToBeFollowedByStrangers)
            return try Broadcasts(mode, as: .iBeacon(.secretHandshake))
        }
    }
}

extension NearbySending.Form {
    fileprivate var broadcastForm: BroadcastForm {
        switch self {
        case .service: .serviceUUID
        case .long: .eddystoneUID()
        case .short: .iBeacon(.secretHandshake)
        }
    }
}
#endif
