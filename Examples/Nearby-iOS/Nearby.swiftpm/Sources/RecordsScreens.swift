import Beacons
import Nearby
import SwiftUI

/// Whose keys the user has, each with a button that removes them.
struct FriendsScreen: View {
    let companion: Companion

    @State private var friends: [Friend] = []
    @State private var chosen: Friend?
    @State private var isRemoving = false

    var body: some View {
        List {
            if friends.isEmpty { Text("You have no friends' keys. Pair with a person who is here.") }
            ForEach(friends, id: \.person) { friend in
                VStack(alignment: .leading) {
                    Text(friend.title)
                    Text(friend.details).font(.footnote)
                    Button("Remove", role: .destructive) {
                        chosen = friend
                        isRemoving = true
                    }
                    .accessibilityLabel(Text("Remove \(friend.title)"))
                }
            }
        }
        .navigationTitle("Friends")
        .task { friends = await companion.friends() }
        .alert(
            "Remove \(chosen?.title ?? "")? You no longer recognise each other as friends, and your other friends need new keys.",
            isPresented: $isRemoving
        ) {
            Button("Remove", role: .destructive) { remove() }
            Button("Cancel", role: .cancel) {}
        }
    }

    private func remove() {
        guard let chosen else { return }
        Task {
            await companion.unfriend(chosen.person)
            friends = await companion.friends()
        }
    }
}

/// Whom the user has met in the last 30 days.
struct LogScreen: View {
    let companion: Companion

    @State private var meetings: [Meeting] = []

    var body: some View {
        List {
            if meetings.isEmpty { Text("You have met no one in the last 30 days.") }
            ForEach(meetings, id: \.self) { meeting in
                VStack(alignment: .leading) {
                    Text(meeting.title)
                    Text(meeting.details).font(.footnote)
                }
                .accessibilityElement(children: .combine)
            }
        }
        .navigationTitle("Whom you have met")
        .task { meetings = await companion.meetings() }
    }
}

extension Friend {
    var title: String { name ?? "Person \(person)" }

    var details: String {
        let origin = isPaired ? "paired" : "by keys from a file"
        return "\(origin), recognised until \(end.formatted(date: .abbreviated, time: .shortened))"
    }
}

extension Meeting {
    var title: String { name ?? "Person \(person)" }

    var details: String {
        let begin = Date(timeIntervalSince1970: encounter.firstSeen).formatted(date: .abbreviated, time: .shortened)
        let minutes = Int(min(encounter.duration, 86_400 * 30) / 60)
        let length = minutes < 1 ? "under a minute" : "\(minutes) min"
        return [begin, length, nearness, verification].compactMap(\.self).joined(separator: ", ")
    }

    private var nearness: String? {
        switch encounter.proximity {
        case .unknown: nil
        case .immediate: "right here"
        case .near: "a few metres away"
        case .far: "farther away"
        }
    }

    private var verification: String? {
        switch encounter.trust {
        case .unverified, nil: "not verified"
        case .circle: "verified by a circle"
        case .file: "by keys from a file"
        case .paired: "paired"
        }
    }
}
