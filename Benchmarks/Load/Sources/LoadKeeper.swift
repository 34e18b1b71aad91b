import Foundation
import Handshake

/// A process that keeps accounts and uses none.
enum LoadKeeper {
    static func run(_ place: LoadApp.Place) async throws {
        let handshake = try await place.handshake()
        var options = Keeper.Options()
        options.limit = Keeper.RateLimit(perSecond: 5_000, concurrent: 64)
        options.scanInterval = 3_600
        let keeper = Keeper(handshake, options: options)
        let telling = Task {
            while (try? await Task.sleep(for: .seconds(1))) != nil {
                let report = keeper.report
                say(
                    "\(report.kept) in its queue, \(report.refreshed) refreshed, \(report.current) refreshed by another one, "
                        + "\(report.ended) ended, \(report.failed) failed")
            }
        }
        await keeper.run()
        telling.cancel()
    }
}
