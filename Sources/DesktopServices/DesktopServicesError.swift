#if Desktop
package import DBus

/// The errors of this module.
///
/// Functions of this module throw this type, or `CancellationError` when the calling task was cancelled.
package enum DesktopServicesError: Error, Sendable, Hashable {
    /// The connection to the bus, or an error of the service that has no case of its own.
    case bus(DBusError)

    /// No notification service runs in this session.
    case noNotificationService

    /// No Secret Service runs in this session.
    case noSecretService

    /// The Secret Service stopped, or was replaced, while it asked the user.
    case secretServiceStopped

    /// The service sent an answer that is malformed or unsafe to use.
    case malformed(answer: String, problem: String)
}

extension DesktopServicesError: CustomStringConvertible {
    /// What happened and what to do, as a clause: each caller puts it into a sentence of its own.
    package var description: String {
        switch self {
        case .bus(let error): error.description
        case .noNotificationService:
            "no notification service runs in this session. Show the message in the terminal instead"
        case .noSecretService:
            "no Secret Service runs in this session. Start gnome-keyring or KWallet, or store secrets in files"
        case .secretServiceStopped: "the keyring stopped while it asked you. Try again"
        case .malformed(let answer, let problem): "the answer of \(answer) cannot be used: \(problem)"
        }
    }
}

extension DesktopServicesError {
    /// Runs `body` and maps its errors to this type; `absent` stands for a service that does not run and cannot be started.
    static func placing<Result>(
        absent: DesktopServicesError, _ body: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await body()
        } catch DBusError.remote(let error) where error.isServiceMissing {
            throw absent
        } catch let error as DBusError {
            throw DesktopServicesError.bus(error)
        }
    }
}

extension RemoteError {
    /// Whether the name has no owner on the bus, or its service could not be started. The errors of starting are a
    /// family of names (D-Bus Specification, “Message Bus Starting Services”).
    fileprivate var isServiceMissing: Bool {
        [.serviceUnknown, .nameHasNoOwner].contains(name) || name.text.hasPrefix("org.freedesktop.DBus.Error.Spawn.")
    }
}
#endif
