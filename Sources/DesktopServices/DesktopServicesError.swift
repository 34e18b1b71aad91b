#if Desktop
public import DBus

/// What can go wrong between a program and the services of a desktop.
///
/// Functions of this module throw this type, or `CancellationError` when the calling task was cancelled.
public enum DesktopServicesError: Error, Sendable, Hashable {
    /// The connection to the bus, or an error of the service that has no case of its own.
    case bus(DBusError)

    /// Nobody shows notifications on this machine.
    case noNotificationService

    /// Nobody keeps secrets on this machine.
    case noSecretService

    /// The service gave an answer that cannot be understood or is not safe to use.
    case malformed(answer: String, problem: String)
}

extension DesktopServicesError: CustomStringConvertible {
    /// What happened, whose fault it is and what to do.
    public var description: String {
        switch self {
        case .bus(let error): error.description
        case .noNotificationService:
            "no notification service runs in this session; show the message in the terminal instead"
        case .noSecretService:
            "no Secret Service runs in this session; start gnome-keyring or KWallet, or keep secrets in files"
        case .malformed(let answer, let problem): "the answer of \(answer) cannot be used: \(problem)"
        }
    }
}

extension DesktopServicesError {
    /// Runs `body` and gives its failure a place here; `absent` stands for a service that is not there and cannot be
    /// started.
    static func placing<Result>(
        absent: DesktopServicesError, _ body: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await body()
        } catch DBusError.remote(let error) where error.saysThatNobodyIsThere {
            throw absent
        } catch let error as DBusError {
            throw DesktopServicesError.bus(error)
        }
    }
}

extension RemoteError {
    /// Whether the bus says that nobody owns the name, or that it could not start who would. The errors of starting are a
    /// family of names (D-Bus Specification, “Message Bus Starting Services”).
    fileprivate var saysThatNobodyIsThere: Bool {
        [.serviceUnknown, .nameHasNoOwner].contains(name) || name.text.hasPrefix("org.freedesktop.DBus.Error.Spawn.")
    }
}
#endif
