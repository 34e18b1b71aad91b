/// What a radio has and what it lacks, each with its cure: what `doctor` prints (dossier BE-17).
public struct RadioDiagnosis: Sendable, Hashable {
    /// What a finding is about.
    public enum Topic: String, Sendable, Hashable, CaseIterable {
        case bus, daemon, version, adapter, power, permission, advertising, scanning
        /// Scanning that saves power.
        case monitor
    }

    /// How it stands.
    public enum Verdict: String, Sendable, Hashable {
        case good
        /// It works, and something would make it better.
        case limited
        /// Without it the radio does not work, or not wholly.
        case missing
        /// It cannot be told.
        case unknown
    }

    /// One thing that was looked at.
    public struct Finding: Sendable, Hashable {
        public let topic: Topic
        public let verdict: Verdict
        /// What was found, for people, without a full stop.
        public let text: String
        /// What to do about it; nil where nothing needs doing.
        public let cure: String?

        public init(_ topic: Topic, _ verdict: Verdict, _ text: String, cure: String? = nil) {
            self.topic = topic
            self.verdict = verdict
            self.text = text
            self.cure = cure
        }

        /// What is missing because of an error.
        init(_ topic: Topic, _ error: RadioError) {
            self.init(topic, .missing, error.fault, cure: error.cure)
        }
    }

    /// In the order in which one thing needs the other: what follows a missing one was not looked at.
    public let findings: [Finding]

    public init(_ findings: [Finding]) {
        self.findings = findings
    }

    /// Whether there is nothing in the way of hearing beacons.
    public var canScan: Bool { isGood(.scanning) }

    /// Whether there is nothing in the way of sending one.
    public var canAdvertise: Bool { isGood(.advertising) }

    private func isGood(_ topic: Topic) -> Bool {
        let blockers: Set<Topic> = [.bus, .daemon, .adapter, .power, .permission, topic]
        return findings.contains { $0.topic == topic }
            && !findings.contains { blockers.contains($0.topic) && $0.verdict == .missing }
    }
}
