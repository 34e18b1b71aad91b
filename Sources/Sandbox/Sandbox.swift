#if Sandbox
@_exported public import SandboxCore
@_exported public import SandboxIFTTT
@_exported public import SandboxRecurseCenter
@_exported public import SandboxSequencing
@_exported public import SandboxStandard

extension Sandbox {
    /// All stand-ins, in the order of their ports. To remove a service, remove it here, above and in the manifest.
    private static let standIns: [any StandIn.Type] = [
        SequencingStandIn.self,
        RecurseCenterStandIn.self,
        StandardStandIn.self,
        IFTTTStandIn.self,
        ResourceStandIn.self,
        CertificateStandIn.self,
    ]

    /// Starts a sandbox of all services; returns when all of them listen.
    ///
    /// - Throws: ``SandboxError/cannotListen(host:port:reason:)``; then nothing is left listening.
    public static func start(_ configuration: Configuration = .init()) async throws -> Sandbox {
        try await start(configuration, services: standIns)
    }

    /// The names that fault rules may use.
    fileprivate static var serviceNames: [SandboxService.Name] {
        standIns.map { $0.name }
    }
}

extension FaultRule {
    /// Parses a rule.
    ///
    /// - Parameter text: one line in the grammar of ``FaultRule``; surrounding white space is ignored.
    /// - Throws: ``FaultRuleError``, which says what was expected.
    public init(parsing text: String) throws(FaultRuleError) {
        try self.init(parsing: text, services: Sandbox.serviceNames)
    }
}
#endif
