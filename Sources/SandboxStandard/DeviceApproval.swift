#if Sandbox
public import SandboxCore

extension Sandbox {
    /// Approves the standard server's device code as the user, as on its page. No HTTP, fault or request log is
    /// involved.
    ///
    /// - Parameters:
    ///   - userCode: the code that the device shows.
    ///   - userName: the email address of the user; nil for the service's first one.
    /// - Throws: ``SandboxError`` for an unknown user, and for a code that is unknown, expired or decided.
    public func approveDevice(_ userCode: String, as userName: String? = nil) throws(SandboxError) {
        let devices = standIn(StandardStandIn.self).devices
        let users = devices.server.dialect.users
        guard let user = users.first(where: { userName == nil || $0.name == userName }) else {
            throw .unknownUser(name: userName ?? "", known: users.map(\.name))
        }
        try decide(userCode, .approved(user, at: devices.server.clock.now))
    }

    /// Refuses the standard server's device code. Otherwise like ``approveDevice(_:as:)``.
    public func refuseDevice(_ userCode: String) throws(SandboxError) {
        try decide(userCode, .denied)
    }

    /// Changes the nonces that the standard server demands of proofs (RFC 9449).
    public func rotateNonces() {
        standIn(StandardStandIn.self).proofs.rotateNonces()
    }

    private func decide(_ userCode: String, _ decision: DeviceGrants.Decision) throws(SandboxError) {
        guard standIn(StandardStandIn.self).devices.decide(userCode, decision) else {
            throw .pageInsteadOfRedirect(status: 200, text: "This code is unknown, has expired or was used.")
        }
    }
}
#endif
