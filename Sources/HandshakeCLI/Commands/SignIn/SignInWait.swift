#if CommandLine
import Handshake
import OAuth
import Synchronization

/// Whether a sign-in waits for the service or the user, which decides what a timeout means.
///
/// A class, because the deadline asks from another task.
final class SignInWait: Sendable {
    private let isForUser = Atomic(false)
    private let registeredAccount = Mutex<String?>(nil)

    /// Notes an account whose client the server has registered before, and may have forgotten since.
    func note(registered account: String) {
        registeredAccount.withLock { $0 = account }
    }

    func begin() { isForUser.store(true, ordering: .relaxed) }
    func end() { isForUser.store(false, ordering: .relaxed) }

    /// The error when time ran out.
    ///
    /// - Parameters:
    ///   - what: what happened while the service was awaited, as a sentence.
    ///   - command: the command that allows more time.
    func error(_ what: String, command: String) -> any Error {
        if isForUser.load(ordering: .relaxed) {
            let error = HandshakeError.signInAbandoned(.timedOut)
            guard let account = registeredAccount.withLock({ $0 }) else { return error }
            // A server that has forgotten a client says so on its own page alone (`any-server.md` 5).
            return CommandError(
                status: .abandoned, code: error.code,
                message: "\(error) If the service's page said that it does not know the app, register the app again: "
                    + "handshake logout \(KnownAccount.shellWord(account)), and then the same command.")
        }
        return CommandError(
            status: .network, code: "timed_out",
            message: "\(what) Check the network, or allow more time: \(quoted(command, limit: 4096))")
    }
}

/// A browser that marks the wait for the user while its page is open.
struct WaitingBrowser<Shown: Browser>: Browser {
    let browser: Shown
    let wait: SignInWait

    func show(_ page: SignInPage) async throws -> String? {
        wait.begin()
        defer { wait.end() }
        if let redirect = try await browser.show(page) { return redirect }
        // The redirect arrives at the listener, whose sign-in then cancels this.
        try await Task.sleep(for: .seconds(86_400))
        return nil
    }
}
#endif
