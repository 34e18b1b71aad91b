#if Sandbox
/// An error of the sandbox itself, as opposed to the answers of its services.
public enum SandboxError: Error, Sendable, Equatable, CustomStringConvertible {
    /// A service could not listen. The port is taken, out of range, or the address is not of this machine.
    case cannotListen(host: String, port: Int, reason: String)
    /// The URL given for approval is not of this sandbox. It does not start with the origin of one of its services.
    case notOurs(url: String)
    /// The service has no such user.
    case unknownUser(name: String, known: [String])
    /// The service answered with a page instead of a redirect.
    case pageInsteadOfRedirect(status: Int, text: String)

    /// What happened and what to do about it.
    public var description: String {
        switch self {
        case .cannotListen(let host, let port, let reason):
            "The sandbox cannot listen on \(host) port \(port): \(reason). Choose another port, or 0 for any free one."
        case .notOurs(let url):
            "No service of this sandbox serves \(url.prefix { $0 != "?" }). "
                + "Pass the authorization URL that the client opens."
        case .unknownUser(let name, let known):
            "The service has no user “\(name)”. Choose one of: \(known.joined(separator: ", "))."
        case .pageInsteadOfRedirect(let status, let text):
            "The service answered with a page (status \(status)) instead of a redirect: “\(text)” "
                + (status == 404
                    ? "Check the address of the authorization endpoint: the service's port, and the path."
                    : "Check the client ID and the redirect URI of the authorization request.")
        }
    }
}
#endif
