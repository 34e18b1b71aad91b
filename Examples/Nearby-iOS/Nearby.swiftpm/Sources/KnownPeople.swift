import Beacons
import Foundation
import Handshake
import Nearby
import Radio

/// Who can be recognised, and what is sent.
struct KnownPeople: Sendable {
    let circles: [JoinedCircle]
    let summaries: [JoinedCircle.Summary]
    let recognition: Recognition
    /// What a scan in the background expects, friends first.
    let expected: @Sendable () -> [RollingUUID]
    /// Nil while no device has keys that recognise the user.
    let broadcasts: Broadcasts?
    private let people: [UserNumber: Person]

    /// The user's own number; nil before the first circle.
    var own: UserNumber? { summaries.first?.number }

    init(in vault: any Vault, _ environment: CircleEnvironment) async throws {
        let rolling = RollingKeys(in: vault, community: Companion.community)
        let friends = try await rolling.friends().keys
        var keys = friends.map(\.1)
        var recognition = Recognition(friends: friends)
        var people = try await rolling.pairedNames().mapValues { Person(name: $0) }
        var summaries: [JoinedCircle.Summary] = []
        circles = try await JoinedCircle.all(in: environment)
        for circle in circles {
            summaries.append(try await circle.summary())
            for (trust, dayKeys) in try await circle.dayKeys() {
                recognition.add(dayKeys, trust: trust)
                keys += dayKeys.map(\.1)
            }
            for member in try await circle.members() {
                people[member.person] = Person(name: member.name, batch: member.batch.isEmpty ? nil : member.batch)
            }
        }
        (self.recognition, self.people, self.summaries) = (recognition, people, summaries)
        expected = { [keys] in Recognition.expected(of: keys, at: Timestamp.now()) }
        let scopes = try await OwnScopes(in: vault, community: Companion.community, at: .now())
        broadcasts = scopes.sent.isEmpty ? nil : Broadcasts(rolling: scopes.sent)
    }

    /// Asks no server: none learns who is near.
    @Sendable func introduce(_ person: UserNumber) async -> Introduction {
        people[person].map { .known($0) } ?? .unreachable
    }

    func photo(of person: UserNumber) async -> Data? {
        for circle in circles {
            if let photo = try? await circle.photo(of: person) { return Data(photo) }
        }
        return nil
    }
}
