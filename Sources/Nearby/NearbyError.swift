public import Beacons
public import Handshake

/// The errors of this module.
public enum NearbyError: Error, Sendable, Hashable {
    /// The vault that stores the log failed.
    case vault(VaultError)
    /// A person's record cannot be decoded. The others are readable.
    case damaged(UserNumber, reason: String)
    /// The text given as a friend's beacon keys is invalid.
    case sharedKeys(String)
    /// A friend's keys are signed by another identity than the friend's earlier ones.
    case otherIdentity(UserNumber)
    /// The keys in a file are for the number of a circle's member.
    ///
    /// Also of one who left less than 30 days ago.
    case keysOfMember(UserNumber)
    /// A circle could not be used.
    case circle(CircleProblem)
    /// Everyone was forgotten while this ran. Nothing was stored.
    case everyoneForgotten
}

extension NearbyError: CustomStringConvertible {
    /// A stable word for programs.
    public var code: String {
        switch self {
        case .vault(let error): error.code
        case .damaged: "person_damaged"
        case .sharedKeys: "shared_keys_invalid"
        case .otherIdentity: "identity_changed"
        case .keysOfMember: "keys_of_member"
        case .circle(let problem): problem.code
        case .everyoneForgotten: "everyone_forgotten"
        }
    }

    /// What happened, why, and what to do. It names no command: an app on a phone shows it too.
    public var description: String {
        switch self {
        case .vault(let error): "\(error)"
        case .damaged(let person, let reason):
            "The record of person \(person) cannot be read: \(reason). Use the version that wrote it, or forget the person"
        case .sharedKeys(let reason): "These keys of a friend cannot be used: \(reason). Ask the friend for new ones"
        case .otherIdentity(let person):
            "The keys of person \(person) are signed by another identity than before. Ask the person. If it is right, remove the old ones first"
        case .keysOfMember(let person):
            "Number \(person) belongs to a member of your circle, or to one who has left, and a file does not show who made its keys. Pair with the person instead"
        case .circle(let problem): "\(problem)"
        case .everyoneForgotten:
            "Everyone was forgotten, or the account was signed out, while this ran. Nothing was stored. Start it again"
        }
    }
}

/// Runs `body`; a vault's error becomes this module's.
func mappingVaultErrors<Result>(_ body: () async throws -> Result) async throws -> Result {
    do {
        return try await body()
    } catch let error as VaultError {
        throw NearbyError.vault(error)
    }
}
