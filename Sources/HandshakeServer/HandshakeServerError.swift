#if Server
import AsyncSupport
public import Handshake
public import IFTTTConnect

/// The errors of this module's set-up and direct use. Errors while handling a request become that request's
/// response.
public enum HandshakeServerError: Error, Sendable, Hashable {
    /// The app's configuration is invalid. No route was created.
    case configuration(member: String, problem: String)
    /// The vault with the users' sessions cannot be read or written.
    case vault(VaultError)
    /// IFTTTConnect failed.
    case connect(ConnectError)
}

extension HandshakeServerError: CustomStringConvertible {
    /// What happened and what to do.
    public var description: String {
        switch self {
        case .configuration(let member, let problem):
            "In the configuration of the server, “\(member)” is invalid: \(problem.clause)."
        case .vault(let error): "\(error)"
        case .connect(let error): "\(error)"
        }
    }
}
#endif
