import Radio
import Synchronization

/// Whether a radio ever worked while a command ran: one that waited for it in vain has done nothing, and must not say that it is done.
///
/// A class, because the radio tells it from other tasks.
final class RadioAvailability: Sendable {
    private let state = Mutex<(worked: Bool, failure: RadioError?)>((false, nil))

    func note(_ event: ScanEvent) {
        if case .status(let status) = event { note(status) }
    }

    func note(_ status: RadioStatus) {
        state.withLock { state in
            if case .unavailable(let error) = status { state.failure = error } else { state.worked = true }
        }
    }

    /// - Throws: why the radio was not available, when it was not at any time.
    func requireOnce() throws(RadioError) {
        let (worked, failure) = state.withLock { $0 }
        if !worked, let failure { throw failure }
    }
}
