#if CommandLine
import ArgumentParser
import Foundation
import Geofences
import IFTTTConnect
import OAuth

struct PlacesSync: BoundedCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Fetch the user's areas and upload pending crossings, now and every hour.")

    @Flag(help: "Once, instead of until interrupted.")
    var once = false

    @Option(help: .timeout)
    var timeout = 60

    @OptionGroup var options: PlacesAccountOptions

    var isEndless: Bool { !once }

    func run() async throws {
        while true {
            try await options.synchronize(try await options.synchronizer())
            if once { return }
            try await Task.sleep(for: .seconds(3_600))
        }
    }
}

struct PlacesQueue: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue", abstract: "Show the pending crossings, and why they are pending.")

    @OptionGroup var options: PlacesAccountOptions

    func run() async throws {
        try await PlacesFailure.reported {
            let synchronizer = try await options.synchronizer()
            let crossings = try await synchronizer.waiting()
            let isSignedIn = try await synchronizer.isSignedIn
            let reason = isSignedIn ? "not_uploaded_yet" : "sign_in_required"
            for crossing in crossings {
                if options.host.common.json {
                    Output.result(PlacesAccountOptions.json(crossing, state: "waiting", reason: reason).text)
                } else {
                    let time = PlacesPrinter.time(Date(timeIntervalSince1970: crossing.occurredAt))
                    Output.result("\(time)  \(crossing.kind.rawValue) \(quoted(crossing.subscriptionID, limit: 100))")
                }
            }
            guard !options.host.common.json else { return }
            if crossings.isEmpty {
                Output.note("No crossings are pending.")
            } else if isSignedIn {
                Output.note(
                    "\(crossings.count) crossings are pending. Upload them now with: handshake places sync --once")
            } else {
                Output.note(
                    "\(crossings.count) crossings are pending until you sign in. Connect with: handshake ifttt connect CONNECTION"
                )
            }
        }
    }
}
#endif
