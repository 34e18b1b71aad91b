#if CommandLine
import ArgumentParser
import Beacons
import Foundation
import Handshake
import Nearby
import OAuth

struct NearbyForget: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget", abstract: "Remove what this machine stores about a person, or about everyone.",
        discussion: """
            Removes the profile, the photo, the encounters and a friend's keys. --everyone also removes your circles, of which this \
            device is signed out, and what you are recognised by: join again, and give friends new keys. A running `watch` restarts. A \
            notification about the person that stands on the desktop is closed. Recordings that you made are files of your own.
            """)

    @Argument(help: ArgumentHelp("The person's number.", valueName: "number"), transform: PersonArgument.parse)
    var person: UserNumber?

    @Flag(help: "Remove everyone, your circles and your own identifiers.")
    var everyone = false

    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard (person == nil) == everyone else { throw ValidationError("Give one person's number or --everyone.") }
    }

    func run() async throws {
        let vault = try await NearbyVault.open(common)
        let stored = NearbyVault.stored(in: vault)
        let deletion = try await NearbyFailure.reported {
            if let person { return try await stored.forget(person) }
            return try await stored.forgetEveryone()
        }
        await stored.deliverFarewells(over: .platform, at: Now.seconds)
        // A damaged record cannot be assigned to a person and stays, so this is an error.
        if everyone, let error = deletion.damaged.first {
            throw CommandError(
                status: .vault, code: error.code,
                message: "\(deletion.sentence) But damaged records remain: \(quoted(error.message))")
        }
        if common.json {
            Output.result(
                JSONText.object([("forgotten", .integer(Int64(deletion.people.count)))] + deletion.members).text)
        } else {
            Output.note(deletion.sentence)
        }
    }
}

extension StoredPeople.Deletion {
    /// What was removed.
    var sentence: String {
        func count(_ kind: Kind, _ one: String, _ many: String) -> String? {
            records[kind].map { $0 == 1 ? "1 \(one)" : "\($0) \(many)" }
        }
        let parts = [
            count(.encounters, "encounter log", "encounter logs"), count(.profiles, "profile", "profiles"),
            count(.photos, "photo", "photos"), count(.friends, "friend's keys", "friends' keys"),
            count(.circles, "circle", "circles"),
            records[.own].map { _ in "your Bluetooth identity and number" },
        ].compactMap(\.self)
        guard !parts.isEmpty else { return "There was nothing to remove." }
        let people = people.isEmpty ? "" : people.count == 1 ? "1 person: " : "\(people.count) people: "
        let list =
            parts.count == 1 ? parts[0] : parts.dropLast().joined(separator: ", ") + " and " + parts[parts.count - 1]
        let unreadable =
            unreadableCircles == 0
            ? ""
            : " The members of a circle could not be read: all were removed, and its next synchronisation fetches them."
        return "Removed \(people)\(list).\(unreadable)"
    }

    /// The number of removed records of each kind.
    var members: [(String, JSONText)] {
        Kind.allCases.map { ($0.rawValue, .integer(Int64(records[$0] ?? 0))) }
    }
}
#endif
