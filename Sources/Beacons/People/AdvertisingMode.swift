/// What one tells the air about oneself (dossier 8.4). Nothing is chosen for the user.
public enum AdvertisingMode: Sendable {
    /// Nothing: one only listens.
    case scanOnly
    /// A number that changes every quarter of an hour and means something only to friends.
    case rolling(RollingSeed)
    /// One's own number, for ever the same: compatible with SecretHandshake.
    case `static`(UserNumber, UserNumber.Scheme, consent: StaticIdentifierConsent)
}

/// The user's word that everybody with a receiver may follow them (dossier 8.1).
///
/// There is one value, with a name that a reader of the app's code cannot overlook.
public struct StaticIdentifierConsent: Sendable, Hashable {
    /// The user was told that a constant number can be followed from place to place by anybody, and agreed.
    public static let userAgreesToBeFollowedByStrangers = StaticIdentifierConsent()

    private init() {}
}
