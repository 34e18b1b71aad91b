#if CommandLine
import ArgumentParser
import Beacons
import Foundation
import Handshake
import Nearby
import OAuth

struct NearbyShare: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "share",
        abstract: "Print keys that let a friend recognise your rolling beacon on the next days.",
        discussion: """
            A person who has the keys recognises you on these days and can imitate your beacon: give them to friends only, over a \
            private channel. They expire by themselves; --revoke ends all keys that you gave out before. A file does not show who \
            made it: tell your friend your fingerprint, which `befriend` shows too. With a person who is here, use `pair`.
            """)

    @Option(help: "Your own number; otherwise the Recurse Center is asked.", transform: PersonArgument.parse)
    var me: UserNumber?

    @Option(help: ArgumentHelp("For how many days from today, 1 to 31.", valueName: "number"))
    var days = 7

    @Flag(help: "Revoke all keys that you gave out before; friends need new ones.")
    var revoke = false

    @OptionGroup var options: NearbyOptions

    func validate() throws {
        guard (1...RollingKeys.maximumDays).contains(days) else {
            throw ValidationError("--days takes 1 to 31, not \(days).")
        }
    }

    func run() async throws {
        let vault = try await NearbyVault.open(options.common)
        let own = try await options.ownNumber(me, in: vault)
        let keys = RollingKeys(in: vault, community: NearbyCommand.community)
        let shared = try await NearbyFailure.reported {
            if revoke { try await keys.forgetSeed() }
            return try await keys.share(own, days: days, from: Now.timestamp)
        }
        Output.result(String(decoding: try JSONEncoder().encode(shared), as: UTF8.self))
        if let fingerprint = shared.fingerprint {
            Output.note("Your fingerprint: \(fingerprint). `befriend` must show your friend the same one.")
        }
    }
}

struct NearbyBefriend: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "befriend", abstract: "Add the keys that a friend printed with `share`.",
        discussion: """
            The first keys of a number pin the identity that signed them: accept them only from that person. Keys that were changed, \
            have expired, or are signed by another identity later are refused. So are keys of your own number and of a member of your \
            circles, because a file does not show who made it: use `pair` with a member. Compare the fingerprint with that which `share` \
            printed for your friend, by voice or in person; where they differ, use `unfriend`.
            """)

    @Argument(help: "The file, or - for standard input.")
    var file: String

    @OptionGroup var common: CommonOptions

    func run() async throws {
        // Far more than 31 days need.
        let content = Array(try await GivenFile.read(file, limit: 1 << 16))
        guard !content.isEmpty else {
            throw CommandError.usage("“\(quoted(file, limit: 200))” is empty. Make one with: handshake nearby share")
        }
        guard let shared = try? JSONDecoder().decode(RollingKeys.Shared.self, fromUntrusted: content) else {
            throw CommandError.usage(
                "“\(quoted(file, limit: 200))” does not contain keys. Your friend prints them with: handshake nearby share"
            )
        }
        let vault = try await NearbyVault.open(common)
        try await NearbyFailure.reported {
            try await RollingKeys(in: vault, community: NearbyCommand.community).addFriend(shared, at: Now.timestamp)
        }
        if common.json {
            Output.result(
                JSONText.object([
                    ("person", .integer(Int64(shared.person.value))), ("days", .integer(Int64(shared.count))),
                    ("fingerprint", .optional(shared.fingerprint)),
                ]).text)
        } else {
            Output.note("Number \(shared.person) is recognised on \(shared.count) days, by keys from a file.")
            if let fingerprint = shared.fingerprint {
                Output.note(
                    "Compare this fingerprint with your friend's: \(fingerprint). If they differ, someone else made the file. Remove it with: handshake nearby unfriend \(shared.person)"
                )
            }
        }
    }
}

struct NearbyUnfriend: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unfriend", abstract: "Remove a friend's keys, and end the keys that your friends have of you.",
        discussion: "Your other friends need new keys: pair or `share` again. Circles are not affected.")

    @Argument(help: ArgumentHelp("The friend's number.", valueName: "number"), transform: PersonArgument.parse)
    var person: UserNumber

    @OptionGroup var common: CommonOptions

    func run() async throws {
        let vault = try await NearbyVault.open(common)
        let existed = try await NearbyFailure.reported {
            try await StoredPeople(in: vault, community: NearbyCommand.community).unfriend(person)
        }
        if common.json {
            Output.result(JSONText.object([("forgotten", .bool(existed))]).text)
        } else {
            Output.note(
                existed
                    ? "The keys of number \(person) are removed, and that person no longer recognises you as a friend. Your other friends need new keys: handshake nearby pair"
                    : "There were no keys of number \(person).")
        }
    }
}
#endif
