#if CommandLine
import ArgumentParser
import Beacons
import Foundation
import Handshake
import Nearby
import OAuth

struct NearbyForget: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget", abstract: "Remove a person and all encounters from this machine.",
        discussion: "Removes the name, the photo and everything else, also from a running `watch`.")

    @Argument(help: ArgumentHelp("The person's number.", valueName: "number"), transform: PersonArgument.parse)
    var person: UserNumber?

    @Flag(help: "Everyone.")
    var everyone = false

    @Option(help: "The account that was asked for names and photos.")
    var account = "recurse-center"

    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard (person == nil) == everyone else { throw ValidationError("Give one person's number or --everyone.") }
    }

    func run() async throws {
        let settings = try Settings.load()
        let vault = try await common.openVault(settings)
        let log = EncounterLog(in: vault, community: NearbyCommand.community)
        try await Acquaintances(nil, home: settings.home, account: account).forget(person)
        let count = try await NearbyFailure.reported {
            if let person { return try await log.forget(person) ? 1 : 0 }
            return try await log.forgetEveryone()
        }
        // A damaged record cannot be assigned to a person and stays, so this is an error.
        if everyone,
            let error = try await NearbyFailure.reported({ try await log.contents(at: Now.seconds) }).damaged.first
        {
            throw CommandError(
                status: .vault, code: error.code,
                message: "Removed \(count) people, but damaged records remain: \(quoted("\(error)"))")
        }
        if common.json {
            Output.result(JSONText.object([("forgotten", .integer(Int64(count)))]).text)
        } else {
            Output.note(
                count == 0
                    ? "There were no encounters to remove."
                    : "Removed \(count == 1 ? "1 person" : "\(count) people") and all encounters.")
        }
    }
}
#endif
