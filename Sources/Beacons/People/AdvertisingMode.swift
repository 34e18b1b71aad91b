/// What the user advertises (dossier 8.4). There is no default: the user chooses.
public enum AdvertisingMode: Sendable {
    /// Nothing: only scans.
    case scanOnly
    /// A number that rotates every quarter of an hour. Only friends can resolve it.
    case rolling(RollingSeed)
    /// The user's own number, which never changes: compatible with SecretHandshake.
    case `static`(UserNumber, UserNumber.Scheme, consent: StaticIdentifierConsent)
}

/// The user's consent to be tracked by anyone with a receiver (dossier 8.1).
///
/// There is one value, with a name that stands out in the app's code.
public struct StaticIdentifierConsent: Sendable, Hashable {
    /// The user's consent to a constant number. The user was told that it can be tracked from place to place, and
    /// agreed.
    public static let userAgreesToBeFollowedByStrangers = StaticIdentifierConsent()

    private init() {}
}
