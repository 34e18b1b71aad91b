public import Handshake

/// What can go wrong with people nearby; each case says whose turn it is.
public enum NearbyError: Error, Sendable, Hashable {
    /// The vault that holds the log says no.
    case vault(VaultError)
    /// The record of a person is not one of this version. The others are readable.
    case damaged(PersonID, reason: String)
}

extension NearbyError: CustomStringConvertible {
    /// A stable word for programs.
    public var code: String {
        switch self {
        case .vault(let error): error.code
        case .damaged: "encounter_damaged"
        }
    }

    public var description: String {
        switch self {
        case .vault(let error): "\(error)"
        case .damaged(let person, let reason):
            "the encounters with person \(person) cannot be read: \(reason); forget the person, or use the version that wrote them"
        }
    }
}
