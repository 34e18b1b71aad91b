#if CommandLine
import Beacons
import Handshake
import Nearby
import OAuth
import RecurseCenter

/// The people who can be recognised, and the service for looking up the others.
struct KnownPeople: Sendable {
    /// The user's own number; nil when unknown.
    let own: UserNumber?
    let recognition: Recognition
    /// The circles that the user is in.
    let circles: [JoinedCircle]
    /// What the user is recognised by.
    let scopes: OwnScopes
    /// Whether the user has paused in a circle.
    let isPaused: Bool
    let lookup: PeopleNearby.Lookup
    /// A person's photo as an image file.
    let photo: @Sendable (UserNumber) async -> [UInt8]?

    /// - Parameters:
    ///   - me: the user's own number from the command line.
    ///   - center: the service; nil without an account.
    ///   - vault: stores what is learned about people.
    ///   - signInEnded: called when the service rejects the account.
    static func gather(
        me: UserNumber?, options: NearbyOptions, center: RecurseCenter?, vault: any Vault,
        signInEnded: @escaping @Sendable (HandshakeError) -> Void
    ) async throws -> KnownPeople {
        let circles = try await NearbyFailure.reported {
            try await JoinedCircle.all(in: NearbyVault.environment(vault))
        }
        var members: [UserNumber: Person] = [:]
        var isPaused = false
        var own = me
        for circle in circles {
            let summary = try await NearbyFailure.reported { try await circle.summary() }
            own = own ?? summary.number
            isPaused = isPaused || summary.isPaused
            for member in try await NearbyFailure.reported({ try await circle.members() }) {
                members[member.person] = Person(name: member.name, batch: member.batch.isEmpty ? nil : member.batch)
            }
        }
        if own == nil, let center {
            own = try await options.ownNumber(center, in: vault)
            if own == nil {
                Output.note(
                    "Your own number is not known yet and the network is down, so your own beacon would count as another person. "
                        + "Give your number with --me NUMBER.")
            }
        }
        if center == nil, circles.isEmpty {
            Output.note(
                "People appear as numbers. To see names, sign in: handshake login recurse-center"
                    + (options.account == "recurse-center" ? "" : " --account \(quoted(options.account, limit: 80))"))
        }
        let scopes = try await NearbyVault.scopes(vault)
        let (recognition, names) = try await recognition(own: own, scopes, circles, in: vault)
        members.merge(names) { member, _ in member }
        return KnownPeople(
            own: own, recognition: recognition, circles: circles, scopes: scopes, isPaused: isPaused,
            directory: members,
            Acquaintances(center, in: vault, account: options.account, signInEnded: signInEnded))
    }

    private init(
        own: UserNumber?, recognition: Recognition, circles: [JoinedCircle], scopes: OwnScopes, isPaused: Bool,
        directory: [UserNumber: Person], _ acquaintances: Acquaintances
    ) {
        self.own = own
        self.recognition = recognition
        self.circles = circles
        self.scopes = scopes
        self.isPaused = isPaused
        // Members are known without the service, which must not learn who is near.
        lookup = { person in
            if let known = directory[person] { return .known(known) }
            return acquaintances.hasService ? await acquaintances.introduce(person) : .unreachable
        }
        photo = { person in
            for circle in circles {
                if let photo = try? await circle.photo(of: person) { return photo }
            }
            return await acquaintances.photo(of: person)?.bytes
        }
    }

    /// Who is recognised by keys, and the names that paired people gave.
    private static func recognition(
        own: UserNumber?, _ scopes: OwnScopes, _ circles: [JoinedCircle], in vault: any Vault
    ) async throws -> (Recognition, [UserNumber: Person]) {
        let keys = RollingKeys(in: vault, community: NearbyCommand.community)
        return try await NearbyFailure.reported {
            var (friends, damaged) = try await keys.friends()
            for error in damaged { Output.note(quoted(error.impersonal)) }
            // Recognises the user's own beacons, as received by another adapter: those of all scopes.
            if let own { friends += scopes.dayKeys(around: Now.timestamp).map { (own, $0) } }
            var recognition = Recognition(friends: friends)
            for circle in circles {
                for (trust, keys) in try await circle.dayKeys() { recognition.add(keys, trust: trust) }
            }
            return (recognition, try await keys.pairedNames().mapValues { Person(name: $0) })
        }
    }
}
#endif
