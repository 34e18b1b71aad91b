#if Sandbox
public import SandboxCore

extension SandboxService.Name {
    /// Sequencing.com with its OAuth quirks (Sequencing dossier, sections 1 and 9).
    public static let sequencing = SandboxService.Name(rawValue: "sequencing")
}

extension Sandbox {
    /// Sequencing.com.
    public var sequencing: SandboxService {
        standIn(SequencingStandIn.self).service
    }
}
#endif
