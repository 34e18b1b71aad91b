/// The origin of a file (dossier 4.1, `FileCategory`).
public enum FileCategory: Sendable, Hashable {
    /// A sample file, available to everyone: `Community`.
    case community
    /// The user's upload: `Uploaded`.
    case uploaded
    /// Shared with the user: `SharedToMe`.
    case sharedToMe
    /// Saved from an app: `FromApps`.
    case fromApps
    /// From an altruist: `AllWithAltruist`, in documentation also `Altruist`.
    case altruist
    /// An unknown category; empty when the service sends none.
    case other(String)

    /// Parses the service's word, case-insensitively.
    public init(_ word: String) {
        self =
            switch word.lowercased() {
            case "community": .community
            case "uploaded": .uploaded
            case "sharedtome": .sharedToMe
            case "fromapps": .fromApps
            case "allwithaltruist", "altruist": .altruist
            default: .other(word)
            }
    }

    /// The service's word.
    public var word: String {
        switch self {
        case .community: "Community"
        case .uploaded: "Uploaded"
        case .sharedToMe: "SharedToMe"
        case .fromApps: "FromApps"
        case .altruist: "AllWithAltruist"
        case .other(let word): word
        }
    }
}

/// The sex of the person whose data the file holds (dossier 4.1, `Sex`).
public enum Sex: Sendable, Hashable {
    case female, male
    /// An unknown word.
    case other(String)

    /// Parses the service's word, case-insensitively.
    public init(_ word: String) {
        self =
            switch word.lowercased() {
            case "female": .female
            case "male": .male
            default: .other(word)
            }
    }

    /// The service's word.
    public var word: String {
        switch self {
        case .female: "Female"
        case .male: "Male"
        case .other(let word): word
        }
    }
}
