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
            changes of the identifier: an hour, or longer where several circles take turns. The status is 0 when nothing links two identifiers, 1 when something does, \
            and 2 when too little was heard.
            """)

    @Argument(help: "A recording, or - for standard input; otherwise the radio is used.")
    var file: String?

    @Option(help: ArgumentHelp("Stop listening after so many seconds; otherwise after an hour.", valueName: "seconds"))
    var duration = 3_600.0

    @OptionGroup var adapter: NearbyAdapter
    @OptionGroup var common: CommonOptions

    func validate() throws {
        try TimeLimit.validate(duration)
    }

    func run() async throws {
        let vault = try await NearbyVault.open(common)
        try await NearbyFailure.reported {
            let seeds = try await NearbyVault.scopes(vault).seeds
            guard !seeds.isEmpty else {
                throw CommandError.usage(
                    "There is no identifier of yours to look for. Join a circle (handshake nearby circle join URL) or pair with a friend (handshake nearby pair), then send with: handshake nearby watch --advertise rolling"
                )
            }
            let audit = Audit(LinkabilityAudit(of: seeds))
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
                try await TimeLimit.run(duration) { try await audit.read(radio) }
            }
            try await print(audit)
        }
    }

    /// The audit of one run. An actor, because the radio is read in a task of its own, which a time limit ends.
    private actor Audit {
        private(set) var audit: LinkabilityAudit

        init(_ audit: LinkabilityAudit) {
            self.audit = audit
        }

        func read(_ radio: any Radio) async throws {
            let packets = radio.scan(for: .beacons).advertisements { event in
                switch event {
                case .status(.unavailable(let error)): Output.note(quoted(error.waitingNote, limit: 600))
                case .damage(let error): Output.note(quoted("\(error)", limit: 400))
                default: break
                }
            }
            for try await packet in packets { audit.receive(packet) }
        }
    }

    private func print(_ audit: Audit) async throws {
        let audit = await audit.audit
        let (verdict, findings) = audit.report()
        if common.json {
            let rows = findings.map { finding in
                JSONText.object([("rule", .string(finding.rule.rawValue)), ("text", .string(finding.text))])
            }
            Output.result(
                JSONText.object([
                    ("verdict", .string(verdict.rawValue)), ("identifiers", .integer(Int64(audit.termCount))),
                    ("findings", .array(rows)),
                ]).text)
        } else {
            for finding in findings { Output.result("\(finding.rule.rawValue)  \(finding.text)") }
            if verdict == .clean { Output.result("Nothing links the \(audit.termCount) identifiers that were heard.") }
        }
        switch verdict {
        case .clean: return
        case .linked:
            throw CommandError(
                status: .defect, code: "linked",
                message:
                    "A receiver can follow you from one identifier to the next, or from one circle to another. To see what keeps the address from changing, run: handshake doctor"
            )
        case .tooShort:
            throw CommandError(
                status: .abandoned, code: "too_short",
                message:
                    "\(audit.termCount) of your identifiers were heard, and an audit needs \(LinkabilityAudit.minimumTerms) of each circle. Listen longer, with another adapter than the one that sends."
            )
        }
    }
}
#endif
