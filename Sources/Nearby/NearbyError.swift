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
}

extension NearbyError: CustomStringConvertible {
    /// A stable word for programs.
    public var code: String {
        switch self {
        case .vault(let error): error.code
        case .damaged: "person_damaged"
        case .sharedKeys: "shared_keys_invalid"
        }
    }

    public var description: String {
        switch self {
        case .vault(let error): "\(error)"
        case .damaged(let person, let reason):
            "the record of person \(person) cannot be read: \(reason). Delete it with handshake nearby forget \(person), or use the version that wrote it"
        case .sharedKeys(let reason): "these are not a friend's beacon keys: \(reason). Ask the friend for new ones"
        }
    }
}
