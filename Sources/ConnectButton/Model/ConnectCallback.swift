#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A URL that the app was opened with.
///
/// Connections of one client share their callback, so each button is offered it, and it counts for the one whose attempt
/// it is.
struct ConnectCallback: Sendable {
    let url: URL
    /// Increases with each URL.
    let number: Int

    init(_ url: URL, number: Int) {
        self.url = url
        self.number = number
    }

    @MainActor func offer(to model: ConnectButtonModel) {
        model.open(url)
    }
}
