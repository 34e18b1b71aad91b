public import Sequencing

extension FileSelectorState {
    /// A part of a tab (dossier 4.3, with the rules of W31). Every file is in one, and none in a segment that does not
    /// match it.
    public enum Segment: String, Sendable, Hashable, CaseIterable {
        /// Own: the user's uploads.
        case uploaded
        /// Own: shared with the user.
        case shared
        /// Own: saved from apps.
        case fromApps = "from_apps"
        /// Own: from altruists.
        case altruist
        /// Own files of an unknown category.
        case other
        /// Samples: all of them.
        case all
        /// Samples: of men.
        case men
        /// Samples: of women.
        case women
        /// Samples whose sex is not stated or unknown.
        case unstated

        /// The tab it belongs to.
        public var tab: Tab {
            switch self {
            case .uploaded, .shared, .fromApps, .altruist, .other: .own
            case .all, .men, .women, .unstated: .sample
            }
        }

        /// The segments of a file; the first one opens when the file is preselected.
        public static func holding(_ file: GeneticFile) -> [Segment] {
            switch file.category {
            case .uploaded: [.uploaded]
            case .sharedToMe: [.shared]
            case .fromApps: [.fromApps]
            case .altruist: [.altruist]
            case .other: [.other]
            case .community:
                switch file.sex {
                case .male: [.all, .men]
                case .female: [.all, .women]
                case .other, nil: [.all, .unstated]
                }
            }
        }
    }
}
