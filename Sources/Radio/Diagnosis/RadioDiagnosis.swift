/// The state of a radio, with a cure for each problem (dossier BE-17).
///
/// `handshake doctor` prints it.
public struct RadioDiagnosis: Sendable, Hashable {
    /// The topic of a finding.
    public enum Topic: String, Sendable, Hashable, CaseIterable {
        case bus, daemon, version, adapter, power, permission, advertising, scanning
        /// Passive scanning, which saves power.
        case monitor
        /// Whether the address changes together with a rolling identifier.
        case address
    }

    /// The result of a check.
    public enum Verdict: String, Sendable, Hashable {
        case good
        /// It works, but could work better.
        case limited
        /// Without it, the radio does not work or not fully.
        case missing
        /// It could not be determined.
        case unknown
    }

    /// The result of one check.
    public struct Finding: Sendable, Hashable {
        public let topic: Topic
        public let verdict: Verdict
        /// What was found, for people, without a full stop.
        public let text: String
        /// What to do about it; nil when nothing is needed.
        public let cure: String?

        package init(_ topic: Topic, _ verdict: Verdict, _ text: String, cure: String? = nil) {
            self.topic = topic
            self.verdict = verdict
            self.text = text
            self.cure = cure
        }

        /// A finding for an error.
        init(_ topic: Topic, _ error: RadioError) {
            self.init(topic, .missing, error.fault, cure: error.cure)
        }
    }

    /// In the order of dependency: what depends on a missing item was not checked.
    public let findings: [Finding]

    package init(_ findings: [Finding]) {
        self.findings = findings
    }
}
