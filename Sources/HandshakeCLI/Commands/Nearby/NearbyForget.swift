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
            Removes the profile, the photo, the encounters and a friend's keys. A member whom you forget is not recognised in the circle \
            any more, until: handshake nearby circle unhide NUMBER. --everyone also removes your circles, of which this \
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
        if let failure = deletion.failure { throw failure }
        if common.json {
            var members = [("forgotten", JSONText.integer(Int64(deletion.people.count)))] + deletion.members
            members.append(("unreadable_circles", .integer(Int64(deletion.unreadableCircles))))
            members.append(("unreadable_records", .integer(Int64(deletion.damaged.count))))
            Output.result(JSONText.object(members).text)
        } else {
            Output.note(NamedVault.given.completed(deletion.sentence + deletion.undoing(person), isLine: true))
        }
    }
}

extension StoredPeople.Deletion {
    /// That something remains where everyone was to be forgotten: a damaged record cannot be assigned to a person and stays.
    var failure: CommandError? {
        guard !isAboutOnePerson, let error = damaged.first else { return nil }
        return CommandError(status: .vault, code: error.code, message: sentence)
    }

    /// Whether circles ignore the person from now on. Also one whose table could not be read has noted the number.
    var isIgnoring: Bool { isAboutOnePerson && records[.circles] != nil }

    /// What follows ``sentence`` in a terminal: how a member is recognised again.
    func undoing(_ person: UserNumber?) -> String {
        guard isIgnoring, let person else { return "" }
        return
            " This device ignores the person from now on. To undo it, run: handshake nearby circle unhide \(person.value)"
    }

    /// What was removed, and what of it could not be read.
    var sentence: String { [removed, unreadable].compactMap(\.self).joined(separator: " ") }

    private var removed: String? {
        func count(_ kind: Kind, _ one: String, _ many: String) -> String? {
            records[kind].map { $0 == 1 ? "1 \(one)" : "\($0) \(many)" }
        }
        let parts = [
            count(.encounters, "encounter log", "encounter logs"), count(.profiles, "profile", "profiles"),
            count(.photos, "photo", "photos"), count(.friends, "friend's keys", "friends' keys"),
            isAboutOnePerson ? nil : count(.circles, "circle", "circles"),
            isAboutOnePerson ? entries : nil,
            records[.own].map { _ in "your Bluetooth identity and number" },
        ].compactMap(\.self)
        guard !parts.isEmpty else { return unreadableCircles == 0 ? "There was nothing to remove." : nil }
        let people = people.isEmpty ? "" : people.count == 1 ? "1 person: " : "\(people.count) people: "
        let list =
            parts.count == 1 ? parts[0] : parts.dropLast().joined(separator: ", ") + " and " + parts[parts.count - 1]
        return "Removed \(people)\(list)."
    }

    /// The entries of one person in tables that could be read.
    private var entries: String? {
        let count = (records[.circles] ?? 0) - unreadableCircles
        return count > 0 ? "the entry in \(count == 1 ? "1 circle" : "\(count) circles")" : nil
    }

    private var unreadable: String? {
        var sentences: [String] = []
        if unreadableCircles > 0 {
            let what =
                unreadableCircles == 1
                ? "The table of a circle could not be read and was"
                : "The tables of \(unreadableCircles) circles could not be read and were"
            sentences.append("\(what) removed whole, with the identities by which you knew the members.")
            sentences.append(
                "The next synchronisation fetches the members again, with the identities that the server shows then.")
            sentences.append("Ask people in person, and pair with them.")
        }
        if !isAboutOnePerson, let error = damaged.first {
            sentences.append("But damaged records remain: \(quoted(error.message))")
        } else if let error = damaged.first {
            let fault =
                if case .vault(.damaged(let what, let reason)) = error { "\(what): \(reason)" } else { error.message }
            let (isOne, shown) = (damaged.count == 1, "“\(quoted(fault))”")
            sentences.append(
                isOne
                    ? "1 record of the vault cannot be read, so whether it is about this person is not known: \(shown)."
                    : "\(damaged.count) records of the vault cannot be read, so whether they are about this person is not known. The first is \(shown)."
            )
            let them = isOne ? "it" : "them"
            sentences.append("Restore \(them) and forget the person again, or delete \(them).")
        }
        return sentences.isEmpty ? nil : sentences.joined(separator: " ")
    }

    /// The number of removed records of each kind.
    var members: [(String, JSONText)] {
        Kind.allCases.map { ($0.rawValue, .integer(Int64(records[$0] ?? 0))) }
    }
}
#endif
