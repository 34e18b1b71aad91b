#if Server
public import Handshake
public import IFTTTConnect

/// What can go wrong when an app sets this module up, or uses it directly. What goes wrong in a request is that
/// request's answer.
public enum HandshakeServerError: Error, Sendable, Hashable {
    /// What the app gave cannot be right. No route was made.
    case configuration(member: String, problem: String)
    /// The vault with the users' sessions cannot be read or written.
    case vault(VaultError)
    /// The kit below said no.
    case connect(ConnectError)
}

extension HandshakeServerError: CustomStringConvertible {
    /// What happened, whose fault it is and what to do.
    public var description: String {
        switch self {
        case .configuration(let member, let problem): "the app's configuration is wrong: \(member): \(problem)"
        case .vault(let error): "\(error)"
        case .connect(let error): "\(error)"
        }
    }
}
#endif
