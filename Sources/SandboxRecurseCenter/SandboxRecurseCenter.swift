#if Sandbox
public import SandboxCore

extension SandboxService.Name {
    /// The Recurse Center (Recurse Center dossier, sections 2, 4 and 6).
    public static let recurseCenter = SandboxService.Name(rawValue: "recurse-center")
}

extension SandboxService {
    /// A token of the first user that never expires. Only the Recurse Center has one (its dossier, section 2.2).
    ///
    /// Those of the other users end in their subjects instead.
    public var personalAccessToken: String? {
        name == .recurseCenter ? users.first.map(Fixtures.personalAccessToken) : nil
    }
}

extension Sandbox {
    /// The Recurse Center.
    public var recurseCenter: SandboxService {
        standIn(RecurseCenterStandIn.self).service
    }

    /// Chooses how the Recurse Center says "unauthorized". At first it is ``UnauthorizedAnswer/status401``.
    public func answerUnauthorized(with style: UnauthorizedAnswer) {
        standIn(RecurseCenterStandIn.self).access.answerUnauthorized(with: style)
    }

    /// Revokes the Recurse Center's personal access tokens.
    public func revokePersonalAccessTokens() {
        standIn(RecurseCenterStandIn.self).access.revokePersonalAccessTokens()
    }
}
#endif
