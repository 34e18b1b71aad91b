#if CommandLine
import Beacons
import Handshake
import Nearby
import OAuth
import RecurseCenter

/// The people who can be recognised, and the service for looking up the others.
struct NearbyCircle: Sendable {
    /// The user's own number; nil when unknown.
    let own: UserNumber?
    let recognition: Recognition
    let lookup: PeopleNearby.Lookup
    /// A person's photo as an image file.
    let photo: @Sendable (UserNumber) async -> [UInt8]?

    /// - Parameters:
    ///   - me: the user's own number from the command line.
    ///   - center: the service; nil without an account.
    ///   - vault: stores what is learned about people.
    ///   - signInEnded: called when the service rejects the account.
    static func form(
        me: UserNumber?, options: NearbyOptions, center: RecurseCenter?, vault: any Vault,
        signInEnded: @escaping @Sendable (HandshakeError) -> Void
    ) async throws -> NearbyCircle {
        var own = me
        if own == nil, let center {
            own = try await options.ownNumber(center, in: vault)
            if own == nil {
                Output.note(
                    "Your own number is not known yet and the network is down, so your own beacon would count as another person. "
                        + "Give your number with --me NUMBER.")
            }
        }
        if center == nil {
            Output.note(
                "People appear as numbers. To see names, sign in: handshake login recurse-center"
                    + (options.account == "recurse-center" ? "" : " --account \(quoted(options.account, limit: 80))"))
        }
        let acquaintances = center.map {
            Acquaintances($0, in: vault, account: options.account, signInEnded: signInEnded)
        }
        return NearbyCircle(
            own: own, recognition: try await recognition(own: own, in: vault),
            lookup: { await acquaintances?.introduce($0) ?? .unreachable },
            photo: { await acquaintances?.photo(of: $0)?.bytes })
    }

    private static func recognition(own: UserNumber?, in vault: any Vault) async throws -> Recognition {
        let keys = RollingKeys(in: vault, community: NearbyCommand.community)
        return try await NearbyFailure.reported {
            var (friends, damaged) = try await keys.friends()
            for error in damaged { Output.note(quoted("\(error)")) }
            // Recognises the user's own beacon, as received by another adapter.
            if let own, try await keys.existingSeed() != nil {
                friends += try await keys.ownKeys(days: RollingKeys.maximumDays, from: Now.timestamp).map { (own, $0) }
            }
            return Recognition(friends: friends)
        }
    }
}
#endif
