#if CommandLine
import Radio
import Synchronization

/// Whether a radio ever worked during a command. A command that had no working radio must not report success.
///
/// A class, because the radio reports from other tasks.
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

    /// - Parameter isShown: whether the user has already seen each failure.
    /// - Throws: why the radio was not available, if it never was.
    func requireOnce(isShown: Bool) throws(CommandError) {
        let (worked, failure) = state.withLock { $0 }
        guard !worked, let failure else { return }
        throw CommandError(
            status: NearbyFailure.status(failure), code: failure.code, message: failure.message, isShown: isShown)
    }
}
#endif
