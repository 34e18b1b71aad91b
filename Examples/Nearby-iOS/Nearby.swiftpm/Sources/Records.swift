import Beacons
import Foundation
import Handshake
import Nearby

/// A person whose keys the user has.
struct Friend: Sendable, Hashable {
    let person: UserNumber
    let name: String?
    /// Whether the two have paired. Otherwise the keys came in a file, which does not show who made it.
    let isPaired: Bool
    /// When the last key ends.
    let end: Date
}

/// An encounter with a person.
struct Meeting: Sendable, Hashable {
    let person: UserNumber
    let name: String?
    let encounter: Encounter
}

/// What is stored of friends and encounters. It is read when a screen opens.
extension Companion {
    /// The most encounters that are shown.
    private static let maximumMeetings = 200

    /// The user's friends, by number.
    func friends() async -> [Friend] {
        do {
            return try await readFriends()
        } catch {
            message = "\(error)"
            return []
        }
    }

    private func readFriends() async throws -> [Friend] {
        let vault = try await open()
        let keys = RollingKeys(in: vault, community: Self.community)
        let log = EncounterLog(in: vault, community: Self.community)
        let names = try await keys.pairedNames()
        let (usable, damaged) = try await keys.friends()
        if let error = damaged.first { message = "\(error)" }
        var lastDays: [UserNumber: UInt32] = [:]
        for (person, key) in usable { lastDays[person] = max(lastDays[person] ?? 0, key.day.number) }
        var friends: [Friend] = []
        for (person, day) in lastDays {
            let met = try? await log.history(of: person)
            friends.append(
                Friend(
                    person: person, name: names[person] ?? met?.known?.name, isPaired: names[person] != nil,
                    end: Date(timeIntervalSince1970: (Double(day) + 1) * 86_400)))
        }
        return friends.sorted { $0.person < $1.person }
    }

    /// The latest encounters, the last one first.
    func meetings() async -> [Meeting] {
        do {
            let log = EncounterLog(in: try await open(), community: Self.community)
            let (people, damaged) = try await log.contents(at: Self.now)
            if let error = damaged.first { message = "\(error)" }
            let meetings = people.flatMap { history in
                history.encounters.map { Meeting(person: history.person, name: history.known?.name, encounter: $0) }
            }
            return Array(
                meetings.sorted { $0.encounter.lastSeen > $1.encounter.lastSeen }.prefix(Self.maximumMeetings))
        } catch {
            message = "\(error)"
            return []
        }
    }
}
