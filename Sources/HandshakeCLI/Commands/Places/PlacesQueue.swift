#if CommandLine
import ArgumentParser
import Foundation
import Geofences
import Handshake
import IFTTTConnect
import OAuth

struct PlacesSync: BoundedCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Fetch the user's areas and upload pending crossings, now and every hour.",
        discussion: """
            Without --once it goes on when IFTTT cannot be reached, and when IFTTT rejects the user token it waits for another one.
            """)

    @Flag(help: "Fetch and upload once, and end.")
    var once = false

    @Option(help: .timeout)
    var timeout = 60

    @OptionGroup var pace: PlacesIntervalOptions
    @OptionGroup var connectionOptions: PlacesConnectionOptions
    @OptionGroup var options: PlacesAccountOptions

    var isEndless: Bool { !once }

    func run() async throws {
        try await options.reported {
            let synchronizer = try await options.synchronizer(interval: pace.interval)
            let printing = Task { await options.show(synchronizer.events, as: .results, goesOn: !once) }
            let result = await Result {
                guard once else { return try await synchronizer.run(activating: connectionOptions.connections) }
                try await synchronizer.activate(connectionOptions.connections)
            }
            await synchronizer.finishEvents()
            await printing.value
            try result.get()
            if let failure = try await options.failure(of: synchronizer) { throw failure }
        }
    }
}

extension Result where Failure == any Error {
    /// What a body returned or threw.
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}

struct PlacesQueue: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue", abstract: "Show the pending crossings, and why they are pending.")

    @Flag(
        name: .customLong("discard-damaged"),
        help: "Remove the records of pending crossings that cannot be read.")
    var discardsDamaged = false

    @OptionGroup var options: PlacesAccountOptions

    func run() async throws {
        try await options.reported {
            let synchronizer = try await options.synchronizer()
            if discardsDamaged {
                let count = try await synchronizer.removeDamagedRecords()
                Output.note("Removed \(PlacesPrinter.counted(count, "damaged record")).")
            }
            let crossings = try await synchronizer.waiting()
            let reason = try await synchronizer.waitingReason
            for crossing in crossings {
                if options.host.common.json {
                    Output.result(PlacesAccountOptions.json(crossing, state: "pending", reason: reason.code).text)
                } else {
                    let why = reason.code.replacing("_", with: " ")
                    Output.result("\(PlacesAccountOptions.text(crossing)): pending (\(why))")
                }
            }
            if !options.host.common.json { Output.note(Self.summary(crossings.count, reason)) }
            guard let damage = try await synchronizer.damagedRecords.first else { return }
            throw CommandError(
                status: .vault, code: damage.code,
                message: "\(damage) It had at most 50 crossings. "
                    + "Remove it with: handshake places queue --discard-damaged")
        }
    }

    private static func summary(_ count: Int, _ reason: PlacesSynchronizer.WaitingReason) -> String {
        guard count > 0 else { return "No crossings are pending." }
        let pending = PlacesPrinter.pending(count)
        let upload = "Upload now with: handshake places sync --once"
        switch reason {
        case .signInRequired:
            return "\(pending) Sign-in is required; connect with: handshake ifttt connect CONNECTION"
        case .failed(let code, let time):
            let moment = PlacesPrinter.time(Date(timeIntervalSince1970: time))
            return "\(pending) The last upload failed at \(moment) (\(code.replacing("_", with: " "))). \(upload)"
        case .notUploadedYet: return "\(pending) \(upload)"
        }
    }
}

extension PlacesSynchronizer.WaitingReason {
    /// The reason in `--json`.
    fileprivate var code: String {
        switch self {
        case .notUploadedYet: "not_uploaded_yet"
        case .signInRequired: "sign_in_required"
        case .failed(let code, _): code
        }
    }
}
#endif
