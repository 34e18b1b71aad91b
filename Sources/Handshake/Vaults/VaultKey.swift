/// The name of a record in a vault. The record is bound to all of it.
///
/// Two keys are the same when they are so byte for byte. (Swift's own comparison of strings takes spellings that
/// Unicode calls equivalent for one.)
public struct VaultKey: Sendable, Codable {
    /// What a record is for.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// A signed-in user. The components are service, issuer, client, resource and account name.
        case account
        /// A sign-in in progress: the component is a digest of its state.
        case signIn = "sign_in"
        /// A sign-out whose browser is to come back from the server. The component is a digest of its state.
        case signOut = "sign_out"
        /// A logout token that was used. The component is a digest of it.
        case logoutToken = "logout_token"
        /// A client's registration with a service, stored for a command's later runs. The component is a name.
        case registration
        /// What a server has registered for an app.
        ///
        /// The components are the issuer, the redirect and the API, or `issuer` without one; for a client with a key also
        /// `private_key_jwt`. For an unfinished sign-in of the command they are the issuer, the API or `issuer`, `unfinished`
        /// and the account's name.
        case appRegistration = "app_registration"
        /// A person whom the user met nearby. The components are a community and the person's number in it.
        case encounters
        /// The seed of the beacon for friends; the component is a community. With `held` as the second, the last day of the
        /// keys that were given; with `identity`, the key that signs what the user gives to friends; with `period`, what
        /// changes when everyone is forgotten.
        case beaconSeed = "beacon_seed"
        /// The keys by which a friend's rolling beacon is recognised. The components are a community and the friend's
        /// number.
        case beaconFriend = "beacon_friend"
        /// The user's own number among people nearby. The components are a community and an account's name.
        case ownNumber = "own_number"
        /// A person's profile, as a service told it. The components are a community, an account's name and the person's
        /// number.
        case profile
        /// A person's photo. The components are those of the profile.
        case photo
        /// What a server or a member stores of a circle.
        ///
        /// The components of a server's are the circle's scope and a part, or a member's number or wave; those of a member's a
        /// community, the circle's scope and a part.
        case circle
        /// What a server stores of a user who is turning a connection on or off. The components are the connection and
        /// a digest of the user.
        case activation
        /// Which webhooks a server has taken. The component is the number of one of a fixed number of records.
        case delivery
        /// What a server counts of a user who agreed to it. The component is a digest of the user. The record is the
        /// consent.
        case analytics
        /// What a server makes a user's anti-forgery tokens of. The component is a digest of the user.
        case antiForgery = "anti_forgery"
        /// Crossings of areas that wait for their upload. The components are an account and a number.
        case crossings
        /// Which areas are watched for an account, and where its user was. The components are an account and a part.
        case places
        /// Jobs of a service that have not ended. The components are those of the account.
        case jobs
        /// Imports of a service whose files have not been seen. The components are those of the account.
        case imports
    }

    public let kind: Kind
    public let components: [String]

    /// Names a record.
    public init(_ kind: Kind, _ components: [String]) {
        self.kind = kind
        self.components = components
    }

    /// The one unambiguous byte string for this key: each part with its length before it.
    package var canonical: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(components.reduce(4 + kind.rawValue.utf8.count) { $0 + 4 + $1.utf8.count })
        func append(_ part: String) {
            let count = part.utf8.count
            for shift in stride(from: 24, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: count >> shift))
            }
            bytes.append(contentsOf: part.utf8)
        }
        append(kind.rawValue)
        for component in components { append(component) }
        return bytes
    }
}

extension VaultKey: Hashable {
    public static func == (left: VaultKey, right: VaultKey) -> Bool {
        left.canonical == right.canonical
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(canonical)
    }
}
