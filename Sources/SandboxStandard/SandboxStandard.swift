#if Sandbox
public import SandboxCore

extension SandboxService.Name {
    /// A server that keeps to the standards. They are RFC 6749, 6750, 7009, 7636, 7662, 8414, 9207, and OpenID Connect
    /// Core.
    public static let standard = SandboxService.Name(rawValue: "standard")
}

extension Sandbox {
    /// The server that keeps to the standards; its issuer is its origin.
    public var standard: SandboxService {
        standIn(StandardStandIn.self).service
    }
}
#endif
