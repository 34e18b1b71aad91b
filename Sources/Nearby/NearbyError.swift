public import Beacons
public import Handshake

/// What can go wrong with people nearby; each case says whose turn it is.
public enum NearbyError: Error, Sendable, Hashable {
    /// The vault that holds the log says no.
    case vault(VaultError)
    /// The record of a person is not one of this version. The others are readable.
    case damaged(UserNumber, reason: String)
    /// What somebody gave as the keys of their beacons is not that.
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
            "what is kept of person \(person) cannot be read: \(reason); forget the person, or use the version that wrote it"
        case .sharedKeys(let reason): "these are no keys of a friend's beacons: \(reason); ask for them again"
        }
    }
}
