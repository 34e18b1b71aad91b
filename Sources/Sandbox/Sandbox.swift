#if Sandbox
@_exported public import SandboxCore
@_exported public import SandboxIFTTT
@_exported public import SandboxRecurseCenter
@_exported public import SandboxSequencing
@_exported public import SandboxServices
@_exported public import SandboxStandard

extension Sandbox {
    /// All stand-ins, in the order of their ports. To remove a service, remove it here, above and in the manifest.
    private static let standIns: [any FixedStandIn.Type] = [
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

    /// Starts the same, with stand-ins of other services beside it.
    ///
    /// - Parameter imitated: the services, each once. Their ports come after the others, in this order.
    /// - Throws: ``SandboxError/cannotListen(host:port:reason:)``; then nothing is left listening.
    public static func start(
        _ configuration: Configuration = .init(), imitating imitated: [ImitatedService]
    ) async throws -> Sandbox {
        try await start(configuration, services: standIns, beside: imitated.map(\.plan))
    }

    /// Whether every sandbox has a stand-in of this name.
    package static func hasStandIn(named name: String) -> Bool {
        serviceNames.contains { $0.rawValue == name }
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
        try self.init(parsing: text, imitating: [])
    }

    /// Parses a rule for a sandbox with stand-ins of other services.
    ///
    /// - Parameters:
    ///   - text: as in ``init(parsing:)``.
    ///   - imitated: the other services, whose names the rule may use too.
    /// - Throws: ``FaultRuleError``, which says what was expected.
    public init(parsing text: String, imitating imitated: [ImitatedService]) throws(FaultRuleError) {
        try self.init(parsing: text, services: Sandbox.serviceNames + imitated.map(\.name))
    }
}
#endif
