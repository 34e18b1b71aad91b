#if CommandLine
import Beacons
import Circles
import Handshake
import Nearby
import OAuth
import RecurseCenter

/// The people who can be recognised, and the service for looking up the others.
struct LookedUpPeople: Sendable {
    let known: KnownPeople
    let lookup: PeopleNearby.Lookup
    /// A person's photo as an image file: the circle's whose keys recognised the person, or else the service's.
    let photo: @Sendable (UserNumber, CircleScope?) async -> [UInt8]?

    private static let unknownNumber =
        "Your own number is not known yet and the network is down, so your own beacon would count as another person. Give your number with --me NUMBER."

    /// - Parameters:
    ///   - me: the user's own number from the command line.
    ///   - center: the service; nil without an account.
    ///   - vault: stores what is learned about people.
    ///   - trouble: called with the code and the sentence of what cannot be used, which is also a line in the terminal.
    ///   - signInEnded: called when the service rejects the account.
    static func gather(
        me: UserNumber?, options: NearbyOptions, center: RecurseCenter?, vault: any Vault,
        trouble: @escaping @Sendable (String, String) -> Void = { _, _ in },
        signInEnded: @escaping @Sendable (HandshakeError) -> Void
    ) async throws -> LookedUpPeople {
        let known = try await NearbyFailure.reported {
            try await KnownPeople(in: NearbyVault.environment(vault), own: me) {
                guard let center else { return nil }
                let own = try await options.ownNumber(center, in: vault)
                if own == nil {
                    Output.note(unknownNumber)
                    trouble(CompanionState.unknownNumber, unknownNumber)
                }
                return own
            }
        }
        if center == nil, known.circles.isEmpty {
            Output.note(
                "People appear as numbers. To see names, sign in: handshake login recurse-center"
                    + (options.account == "recurse-center" ? "" : " --account \(quoted(options.account, limit: 80))"))
        }
        for error in known.damaged { Output.note(quoted(error.impersonal)) }
        if let error = known.damaged.first {
            let more = known.damaged.count - 1
            let rest = more > 0 ? " The terminal says what else cannot be read (\(more))." : ""
            trouble(error.code, error.message + rest)
        }
        let acquaintances = Acquaintances(center, in: vault, account: options.account, signInEnded: signInEnded)
        return LookedUpPeople(known: known) { person, circle in
            // Members are known without the service, which must not learn who is near.
            if let member = known.introduce(person, in: circle) {
                return .known(await acquaintances.linked(member, person))
            }
            return circle == nil && acquaintances.hasService ? await acquaintances.introduce(person) : .unreachable
        } photo: { person, circle in
            if let photo = await known.photo(of: person, in: circle) { return photo }
            return circle == nil ? await acquaintances.photo(of: person)?.bytes : nil
        }
    }
}
#endif
