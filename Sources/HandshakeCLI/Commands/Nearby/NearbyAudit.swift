#if CommandLine
import ArgumentParser
import Beacons
import Foundation
import Handshake
import Nearby
import OAuth
import Radio

struct NearbyAudit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "Check what you send for anything that links one identifier to the next.",
        discussion: """
            Listens with another adapter than the one that sends, or reads a recording of `scan --record`. It needs three \
            identifiers of each circle that you send to, and of friends: an hour, or longer where several take turns. It says what \
            was heard of each. The status is 0 when all were heard and nothing links two identifiers, 1 when something does, 2 \
            when too little was heard of one, and 6 when Bluetooth was never available. A circle that is paused need not be heard.
            """)

    @Argument(help: "A recording, or - for standard input; otherwise the radio is used.")
    var file: String?

    @Option(help: ArgumentHelp("Stop listening after this many seconds (default: an hour).", valueName: "seconds"))
    var duration = 3_600.0

    @OptionGroup var adapter: NearbyAdapter
    @OptionGroup var common: CommonOptions

    func validate() throws {
        try TimeLimit.validate(duration)
    }

    func run() async throws {
        let vault = try await NearbyVault.open(common)
        try await NearbyFailure.reported {
            let scopes = try await NearbyVault.scopes(vault)
            guard !scopes.all.isEmpty else {
                throw CommandError.usage(
                    "You have no keys of a circle or a friend, so there is no identifier of yours to look for. Join a circle (handshake nearby circle join URL) or pair with a friend (handshake nearby pair), then send with: handshake nearby watch --advertise rolling"
                )
            }
            let audit = Audit(NearbyAuditReport.audit(of: scopes))
            if let file {
                if file != "-", !FileManager.default.isReadableFile(atPath: Settings.absolute(file)) {
                    throw CommandError.unreadable(file)
                }
                try await audit.read(
                    RecordingReplay(
                        file == "-" ? .standardInput : .file(Settings.absolute(file)), pace: .immediate,
                        damage: .skipped))
            } else {
                let radio = try adapter.radio()
                let availability = RadioAvailability()
                try await TimeLimit.run(duration) { try await audit.read(radio) { availability.note($0) } }
                // Nothing can be said about what a radio sends that was never listened for.
                try availability.requireOnce(isShown: true)
            }
            let report = NearbyAuditReport(await audit.audit, of: scopes)
            for line in common.json ? [report.json.text] : report.lines { Output.result(line) }
            if let failure = report.failure { throw failure }
        }
    }

    /// The audit of one run. An actor, because the radio is read in a task of its own, which a time limit ends.
    private actor Audit {
        private(set) var audit: LinkabilityAudit

        init(_ audit: LinkabilityAudit) {
            self.audit = audit
        }

        func read(_ radio: any Radio, noting note: @escaping @Sendable (ScanEvent) -> Void = { _ in }) async throws {
            let packets = radio.scan(for: .beacons).advertisements { event in
                note(event)
                switch event {
                case .status(.unavailable(let error)): Output.note(quoted(error.waitingNote, limit: 600))
                case .damage(let error): Output.note(quoted("\(error)", limit: 400))
                default: break
                }
            }
            for try await packet in packets { audit.receive(packet) }
        }
    }
}
#endif
